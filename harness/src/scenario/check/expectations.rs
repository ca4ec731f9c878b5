//! Expectations on single answers.

use super::{
    super::{Check, FIELDS, Scenario, Until, document::nearest},
    finding::Findings,
    references::Names,
};
use crate::fail::Code;

pub(super) fn check(scenario: &Scenario, findings: &mut Findings) {
    let names = Names::of(scenario);
    for (index, step) in scenario.step.iter().enumerate() {
        let kinds =
            [("expect", &step.expect), ("expect_some", &step.expect_some), ("expect_one", &step.expect_one)];
        for (key, check) in kinds {
            if let Some(check) = check {
                one(&names, index, key, check, findings);
            }
        }
    }
}

fn one(names: &Names<'_>, index: usize, key: &'static str, check: &Check, findings: &mut Findings) {
    let path = |field: &'static str| vec!["step".into(), index.into(), key.into(), field.into()];
    if *check == Check::default() {
        let message = format!("`{key}` expects nothing");
        let help = "say what the answer must be, or take it out";
        findings.add(Code::ScenarioProvesNothing, &path(""), message, help);
    }
    if let Some(status) = check.status.iter().find(|status| !(100..=599).contains(*status)) {
        let message = format!("{status} is no HTTP status");
        findings.add(Code::ScenarioContradiction, &path("status"), message, "write one between 100 and 599");
    }
    for state in &check.state {
        if !Until::ALL.iter().any(|known| known.word() == state) {
            let words: Vec<_> = Until::ALL.iter().map(|known| known.word()).collect();
            let help = match nearest(state, words.iter().copied()) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("there are: {}", words.join(", ")),
            };
            findings.add(
                Code::ScenarioReference,
                &path("state"),
                format!("`{state}` is no state of a job"),
                help,
            );
        }
    }
    let lists =
        [("same", &check.same), ("differ", &check.differ), ("never", &check.never), ("has", &check.has)];
    let listed = lists.iter().flat_map(|(key, fields)| fields.iter().map(move |field| (*key, field)));
    for (key, field) in listed.chain(check.equals.keys().map(|field| ("equals", field))) {
        if !FIELDS.contains(&field.as_str()) {
            let help = match nearest(field, FIELDS) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("there are: {}", FIELDS.join(", ")),
            };
            findings.add(
                Code::ScenarioReference,
                &path(key),
                format!("`{field}` is no field of an answer"),
                help,
            );
        }
    }
    let contradiction = check.same.iter().find(|field| check.differ.contains(field));
    if let Some(field) = contradiction {
        let message = format!("`{field}` can't be the same and differ");
        findings.add(Code::ScenarioContradiction, &path("differ"), message, "take it out of one of them");
    }
    let contradiction = check.has.iter().find(|field| check.never.contains(field));
    if let Some(field) = contradiction {
        let message = format!("an answer can't have `{field}` and not have it");
        findings.add(Code::ScenarioContradiction, &path("never"), message, "take it out of one of them");
    }
    let compares = !check.same.is_empty() || !check.differ.is_empty();
    match (&check.than, compares) {
        (Some(than), true) => {
            // The step itself may be meant: its several answers are then compared with each other.
            names.want_step(than, index + 1, &path("as"), findings);
        }
        (Some(_), false) => {
            let message = "`as` names a step to compare with, and nothing is compared";
            findings.add(
                Code::ScenarioField,
                &path("as"),
                message,
                "add `same` or `differ`, or take `as` out",
            );
        }
        (None, true) => {
            let field = if check.same.is_empty() { "differ" } else { "same" };
            let message = format!("`{field}` doesn't say the same as what");
            findings.add(Code::ScenarioField, &path(field), message, "add `as = \"STEP\"`");
        }
        (None, false) => {}
    }
}
