//! Reports are valid against the published schemas: Jenkins' XSD for `JUnit`, as xmllint judges it, and OASIS' JSON Schema for
//! SARIF 2.1.0; and against `schemas/`, which knows only what onejob writes and so finds what the published ones let pass.
//!
//! Needs `xmllint` (Debian: `libxml2-utils`), and `ONEJOB_SCHEMAS`: `fetch-schemas.sh` beside this file gets what is published.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use onejob_reports::{
    junit,
    model::{
        RunReport,
        Verdict::{Error, Fail, Inconclusive, Pass},
    },
    sarif,
};

#[path = "../it/fixtures.rs"]
mod fixtures;

use fixtures::{CellBuilder, all_green, interrupted, one_of_each, report, shards, suite};

fn published(name: &str) -> PathBuf {
    let folder = std::env::var_os("ONEJOB_SCHEMAS").expect(
        "set ONEJOB_SCHEMAS to what `reports/tests/schemas/fetch-schemas.sh FOLDER` prints when it has got them",
    );
    PathBuf::from(folder).join(name)
}

fn own(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("schemas").join(name)
}

/// Every shape that a report can have.
fn reports() -> Vec<RunReport> {
    let repeated = CellBuilder::passing("x")
        .failing()
        .with(|cell| cell.repeats = vec![Error, Fail, Pass, Inconclusive, Fail]);
    let flaky = CellBuilder::passing("y").with(|cell| cell.repeats = vec![Error, Fail, Inconclusive, Pass]);
    let hostile = CellBuilder::passing("a\u{0}\u{1b}<&\">").failing().with(|cell| {
        cell.promises[0].sentence = "]]> \u{ffff} \u{b}".into();
        cell.timeline[0].what = "\u{0}".into();
        cell.source.file = "ordner mit/\u{fc}mlaut\\x.toml".into();
        cell.source.line = 0;
    });
    let long = CellBuilder::passing("long").taking(3_723_004_005);
    let mut undated = all_green();
    undated.started_at = "yesterday".into();
    let odd = report(vec![repeated.build(), flaky.build(), hostile.build(), long.build()]);
    let mut all = vec![one_of_each(), all_green(), interrupted(), suite(100), report(vec![]), odd, undated];
    all.extend(shards());
    all
}

fn xmllint(schema: &Path, document: &[u8]) -> Result<(), String> {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), document).unwrap();
    let output = Command::new("xmllint")
        .args(["--noout", "--nonet", "--schema"])
        .arg(schema)
        .arg(file.path())
        .output();
    let output = output.unwrap_or_else(|error| {
        panic!("xmllint can't be started ({error}); `apt-get install libxml2-utils` brings it")
    });
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}

fn junit(report: &RunReport) -> Vec<u8> {
    let mut document = Vec::new();
    junit::render(report, &mut document).unwrap();
    document
}

#[test]
fn every_junit_report_is_valid_as_jenkins_defines_it() {
    for report in reports() {
        xmllint(&published("junit-10.xsd"), &junit(&report)).unwrap();
    }
}

#[test]
fn every_junit_report_has_only_what_onejob_means_to_write() {
    for report in reports() {
        xmllint(&own("junit.xsd"), &junit(&report)).unwrap();
    }
}

#[test]
fn what_the_junit_schemas_do_not_know_is_found() {
    for schema in [published("junit-10.xsd"), own("junit.xsd")] {
        xmllint(&schema, b"<testsuites><surprise/></testsuites>").unwrap_err();
    }
}

fn sarif_schema() -> jsonschema::Validator {
    let path = published("sarif-2.1.0.json");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    // As published, the pattern of languages has a bracket too many, which browsers let pass; onejob writes no `language`.
    let mended = text.replace("-[a-zA-Z]{2}]?$", "-[a-zA-Z]{2}$");
    jsonschema::validator_for(&serde_json::from_str(&mended).unwrap()).unwrap()
}

#[test]
fn every_sarif_log_is_valid_as_oasis_defines_it() {
    let schema = sarif_schema();
    for report in reports() {
        let log = sarif::log(&report);
        let errors: Vec<String> =
            schema.iter_errors(&log).map(|error| format!("{} {error}", error.instance_path())).collect();
        assert!(errors.is_empty(), "{errors:#?}");
    }
}

#[test]
fn what_the_sarif_schema_does_not_know_is_found() {
    let mut log = sarif::log(&one_of_each());
    log["runs"][0]["results"][0]["level"] = "grave".into();
    assert!(!sarif_schema().is_valid(&log));
}
