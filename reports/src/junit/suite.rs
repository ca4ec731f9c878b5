use std::{
    io::{self, Write},
    time::Duration,
};

use chrono::DateTime;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::case::{case_name, properties, test_case};
use crate::{
    model::{Cell, RunReport},
    tally::shortfall,
};

/// Why a report could not be written as `JUnit`.
#[derive(Debug, thiserror::Error)]
pub enum JunitError {
    /// The report can't be turned into XML.
    #[error("the JUnit report can't be written: {0}")]
    Xml(#[from] quick_junit::SerializeError),
    /// The writer failed.
    #[error("the JUnit report can't be written: {0}")]
    Io(#[from] io::Error),
}

/// Writes the report: a suite for each scenario, a case for each cell.
///
/// A broken promise is a `failure`. An error and a missing witness are `error`s: `JUnit` has no third word, and neither may
/// look green. A run that didn't reach its end has a suite `onejob` with one erroneous case that says what is missing.
pub fn render(report: &RunReport, out: &mut dyn Write) -> Result<(), JunitError> {
    let mut junit = Report::new("onejob");
    junit.time = Some(Duration::from_micros(report.duration_us));
    for (scenario, cells) in by_scenario(report) {
        junit.add_test_suite(suite(report, scenario, &cells));
    }
    if let Some(text) = shortfall(report) {
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
        status.set_message(text.as_str()).set_type("incomplete");
        let mut case = TestCase::new("the run reached its end", status);
        case.set_classname("onejob");
        let mut incomplete = TestSuite::new("onejob");
        incomplete.add_test_case(case);
        junit.add_test_suite(incomplete);
    }
    // Two characters that XML forbids get past the writer.
    let xml = junit.to_string()?.replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}");
    Ok(out.write_all(without_skipped(&xml).as_bytes())?)
}

/// The writer counts what was skipped in the root element as well, for which the published schema has no attribute.
fn without_skipped(xml: &str) -> String {
    let root = xml.find("<testsuites").unwrap_or(0);
    let end = xml[root..].find('>').map_or(xml.len(), |end| root + end);
    let (head, rest) = xml.split_at(end);
    let Some((before, after)) = head.split_once(" skipped=\"") else { return xml.to_owned() };
    let after = after.split_once('"').map_or("", |(_, after)| after);
    format!("{before}{after}{rest}")
}

/// The cells of each scenario, scenarios in the order of their first cell.
fn by_scenario(report: &RunReport) -> Vec<(&str, Vec<&Cell>)> {
    let mut scenarios: Vec<(&str, Vec<&Cell>)> = Vec::new();
    for cell in &report.cells {
        match scenarios.iter_mut().find(|(name, _)| *name == cell.scenario) {
            Some((_, cells)) => cells.push(cell),
            None => scenarios.push((&cell.scenario, vec![cell])),
        }
    }
    scenarios
}

fn suite(report: &RunReport, scenario: &str, cells: &[&Cell]) -> TestSuite {
    let mut suite = TestSuite::new(scenario);
    suite.timestamp = DateTime::parse_from_rfc3339(&report.started_at).ok();
    suite.time = Some(Duration::from_micros(cells.iter().map(|cell| cell.duration_us).sum()));
    let shard = report.shard.map(|shard| format!("{}/{}", shard.index, shard.of));
    let of_run = [
        ("title", cells.first().map(|cell| cell.title.clone())),
        ("target", Some(report.target.clone())),
        ("profile", Some(report.profile.name.clone())),
        ("widened", joined(&report.profile.widens, "; ")),
        ("defects", joined(&report.defects, " ")),
        ("database", report.database.clone()),
        ("seed", Some(report.seed.to_string())),
        ("run", Some(report.run_id.clone())),
        ("shard", shard),
        ("onejob", Some(report.tool_version.clone())),
    ];
    for (name, value) in of_run {
        if let Some(value) = value {
            suite.add_property((name, value.as_str()));
        }
    }
    for cell in cells {
        for (name, value) in properties(cell) {
            suite.add_property((format!("{}: {name}", case_name(cell)).as_str(), value.as_str()));
        }
    }
    suite.add_test_cases(cells.iter().map(|cell| test_case(cell)));
    suite
}

pub(super) fn joined(words: &[String], between: &str) -> Option<String> {
    (!words.is_empty()).then(|| words.join(between))
}
