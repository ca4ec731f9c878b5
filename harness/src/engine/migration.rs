//! The target's own migrations.

use std::{collections::BTreeMap, path::Path};

use super::launch::Placeholders;
use crate::{
    fail::{Code, Fault},
    target::TargetFile,
};

/// Runs them on a new database, where and as the service itself runs. A target without migrations needs none.
pub async fn migrate(target: &TargetFile, program: &Path, database_url: String) -> Result<(), Fault> {
    let Some(command) = &target.target.command else { return Ok(()) };
    let mut placeholders = Placeholders::of(target, program, &BTreeMap::new(), &[]);
    placeholders.set("database.url", database_url);
    for name in target.provider.iter().flat_map(|provider| &provider.names) {
        // Nobody is called while a database is prepared; the service's own settings may want an address.
        placeholders.set(format!("provider.{name}.url"), "http://127.0.0.1:9");
    }
    // What stands for something only within a cell is left out: the names themselves were checked with the file.
    let given = |(name, value): (&String, &String)| Some((name.clone(), placeholders.text(value).ok()?));
    let env: Vec<_> = command.env.iter().filter_map(given).collect();
    run(&placeholders.argv(&command.migrate)?, &env, command.folder.as_deref()).await
}

async fn run(argv: &[String], env: &[(String, String)], folder: Option<&str>) -> Result<(), Fault> {
    let [program, arguments @ ..] = argv else { return Ok(()) };
    let mut command = tokio::process::Command::new(program);
    command.args(arguments).envs(env.iter().map(|(name, value)| (name, value))).kill_on_drop(true);
    if let Some(folder) = folder {
        command.current_dir(folder);
    }
    let output = command.output().await.map_err(|error| {
        Fault::new(
            Code::TargetProgram,
            format!("`migrate` of [target.command] can't be started: `{program}`"),
            "it is a list of program and arguments; no shell is involved",
        )
        .because(error)
    })?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(Fault::new(
        Code::Migration,
        format!("the target's migrations failed ({}):\n{}", output.status, said.trim_end()),
        "run `migrate` of [target.command] by hand on an empty database",
    ))
}
