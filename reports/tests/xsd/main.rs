//! Every `JUnit` report is valid against `schemas/junit.xsd`, as xmllint judges it.
//!
//! Needs `xmllint` (Debian: `libxml2-utils`).

use std::process::Command;

use onejob_reports::{junit, model::RunReport};

#[path = "../it/fixtures.rs"]
#[expect(dead_code, reason = "shared with the other tests")]
mod fixtures;

fn validate(report: &RunReport) -> Result<(), String> {
    let schema = concat!(env!("CARGO_MANIFEST_DIR"), "/schemas/junit.xsd");
    let file = tempfile::NamedTempFile::new().unwrap();
    junit::render(report, &mut file.as_file()).unwrap();
    let output = Command::new("xmllint")
        .args(["--noout", "--nonet", "--schema", schema])
        .arg(file.path())
        .output()
        .unwrap_or_else(|error| {
            panic!("xmllint can't be started ({error}); `apt-get install libxml2-utils` brings it")
        });
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}

#[test]
fn every_report_is_valid() {
    use fixtures::{CellBuilder, all_green, interrupted, one_of_each, report, suite};
    use onejob_reports::model::Verdict::{Error, Fail, Inconclusive, Pass};
    let repeated = CellBuilder::passing("x")
        .failing()
        .with(|cell| cell.repeats = vec![Error, Fail, Pass, Inconclusive, Fail]);
    let flaky = CellBuilder::passing("y").with(|cell| cell.repeats = vec![Error, Fail, Inconclusive, Pass]);
    let hostile = CellBuilder::passing("a\u{0}\u{1b}<&\">").failing().with(|cell| {
        cell.promises[0].sentence = "]]> \u{ffff} \u{b}".into();
        cell.timeline[0].what = "\u{0}".into();
    });
    let mut undated = all_green();
    undated.started_at = "yesterday".into();
    let odd = report(vec![repeated.build(), flaky.build(), hostile.build()]);
    for report in [one_of_each(), all_green(), interrupted(), suite(100), report(vec![]), odd, undated] {
        validate(&report).unwrap();
    }
}

#[test]
fn what_the_schema_does_not_know_is_found() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "<testsuites name=\"x\" tests=\"-1\"/>").unwrap();
    let schema = concat!(env!("CARGO_MANIFEST_DIR"), "/schemas/junit.xsd");
    let output =
        Command::new("xmllint").args(["--noout", "--nonet", "--schema", schema]).arg(file.path()).output();
    assert!(!output.expect("xmllint is there").status.success());
}
