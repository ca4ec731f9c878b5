use std::{
    collections::BTreeMap,
    io::{self, Write},
};

use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};
use serde_json::{Value, json};

use super::result::{notification, results};
use crate::{
    exit::ExitCode,
    headline::broken,
    model::{RunReport, Verdict},
    tally::shortfall,
};

/// Writes the report as SARIF 2.1.0.
pub fn render(report: &RunReport, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, &log(report))?;
    out.write_all(b"\n")
}

/// The report as a SARIF log.
///
/// A broken promise is a result, its rule the promise, its place the line in the scenario file, its code flow the timeline. What
/// is not about the target (errors, missing witnesses, an interrupted run) is a notification of the invocation and no
/// result: code scanning would show it as an alert against the target.
#[must_use]
pub fn log(report: &RunReport) -> Value {
    let rules = rules(report);
    let places: BTreeMap<&str, usize> =
        rules.keys().enumerate().map(|(index, name)| (*name, index)).collect();
    let results: Vec<Value> = report.cells.iter().flat_map(|cell| results(cell, &places)).collect();
    let mut notifications: Vec<Value> = report.cells.iter().filter_map(notification).collect();
    notifications.extend(shortfall(report).map(|text| {
        json!({ "level": "error", "descriptor": { "id": "incomplete-run" }, "message": { "text": text } })
    }));
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "onejob",
                "version": report.tool_version,
                "rules": rules.values().collect::<Vec<_>>(),
            } },
            "invocations": [invocation(report, &notifications)],
            "automationDetails": { "id": format!("onejob/{}/{}", report.target, report.run_id) },
            "columnKind": "unicodeCodePoints",
            "results": results,
            "properties": {
                "target": report.target,
                "profile": report.profile.name,
                "defects": report.defects,
                "seed": report.seed,
            },
        }],
    })
}

/// One rule for each promise that broke somewhere, by name.
fn rules(report: &RunReport) -> BTreeMap<&str, Value> {
    let mut rules = BTreeMap::new();
    for cell in report.cells.iter().filter(|cell| cell.verdict == Verdict::Fail) {
        for promise in broken(cell) {
            rules.entry(promise.name.as_str()).or_insert_with(|| {
                json!({
                    "id": promise.name,
                    "name": pascal(&promise.name),
                    "shortDescription": { "text": format!("The promise `{}` has to hold", promise.name) },
                    "fullDescription": { "text": if cell.why.is_empty() { &cell.title } else { &cell.why } },
                    "defaultConfiguration": { "level": "error" },
                    "properties": { "tags": cell.tags },
                })
            });
        }
    }
    rules
}

fn invocation(report: &RunReport, notifications: &[Value]) -> Value {
    let exit = ExitCode::of_run(report, false);
    let errors = report.cells.iter().any(|cell| cell.verdict == Verdict::Error);
    let mut invocation = json!({
        "executionSuccessful": !errors && shortfall(report).is_none(),
        "exitCode": exit as u8,
        "toolExecutionNotifications": notifications,
    });
    let Ok(start) = DateTime::parse_from_rfc3339(&report.started_at) else { return invocation };
    let start = start.with_timezone(&Utc);
    let took = i64::try_from(report.duration_us).map_or(TimeDelta::zero(), TimeDelta::microseconds);
    let stamp = |time: DateTime<Utc>| time.to_rfc3339_opts(SecondsFormat::Millis, true);
    invocation["startTimeUtc"] = stamp(start).into();
    if let Some(end) = start.checked_add_signed(took) {
        invocation["endTimeUtc"] = stamp(end).into();
    }
    invocation
}

/// `at-most-one-effect` as `AtMostOneEffect`, which is how SARIF wants the names of rules.
fn pascal(name: &str) -> String {
    name.split(|c: char| !c.is_alphanumeric())
        .map(|word| {
            let mut letters = word.chars();
            letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
        })
        .collect()
}
