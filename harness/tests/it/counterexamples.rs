//! What the model of the protocol found: scenarios that the honest service passes, and each defect of the rules fails.

use std::path::{Path, PathBuf};

use crate::support::{database, onejob};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../reference-service/counterexamples")
}

#[test]
fn the_honest_service_passes_every_counterexample() {
    let folder = folder();
    let run = ["run", "--scenarios", folder.to_str().expect("UTF-8"), "--database-url", &database()];
    onejob(run).run().exits(0);
}

#[test]
fn each_defect_of_the_rules_fails_its_counterexample() {
    let entries = std::fs::read_dir(folder()).expect("the counterexamples are there");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("a file").path()).collect();
    files.sort();
    assert!(files.len() >= 15, "only {} counterexamples", files.len());
    let survivors: Vec<String> = files
        .iter()
        .filter_map(|file| {
            let defect = file.file_stem().expect("a name").to_str().expect("UTF-8");
            let file = file.to_str().expect("UTF-8");
            let run = ["run", "--scenarios", file, "--defect", defect, "--database-url", &database()];
            let outcome = onejob(run).run();
            (outcome.code != Some(1))
                .then(|| format!("{defect} ends with {:?}:\n{}", outcome.code, outcome.stdout))
        })
        .collect();
    assert!(survivors.is_empty(), "{}", survivors.join("\n"));
}
