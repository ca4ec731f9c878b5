use std::{fmt::Write as _, time::Duration};

use quick_junit::{FlakyOrRerun, NonSuccessKind, TestCase, TestCaseStatus, TestRerun};

use super::suite::joined;
use crate::{
    headline::{broken, details, first_broken, headline, sentence_of},
    model::{Cell, Verdict},
    text::{outcome_word, verdict_word},
    timeline::plain_text,
};

pub(super) fn test_case(cell: &Cell) -> TestCase {
    let mut case = TestCase::new(case_name(cell), status(cell));
    case.set_classname(cell.scenario.as_str());
    case.set_time(Duration::from_micros(cell.duration_us));
    let told = told(cell);
    if !told.is_empty() {
        case.set_system_out(told);
    }
    case
}

/// The name of a case within its suite.
pub(super) fn case_name(cell: &Cell) -> String {
    let point = cell.point();
    if point.is_empty() { cell.scenario.clone() } else { point }
}

fn status(cell: &Cell) -> TestCaseStatus {
    let mut status = match cell.verdict {
        Verdict::Pass => TestCaseStatus::success(),
        Verdict::Skipped => TestCaseStatus::skipped(),
        Verdict::Fail => TestCaseStatus::non_success(NonSuccessKind::Failure),
        Verdict::Error | Verdict::Inconclusive => TestCaseStatus::non_success(NonSuccessKind::Error),
    };
    if cell.verdict != Verdict::Pass {
        status.set_message(headline(cell));
    }
    match cell.verdict {
        Verdict::Pass => {}
        Verdict::Skipped => {
            status.set_type("not-verified");
        }
        Verdict::Fail => {
            status.set_type(first_broken(cell).map_or("promise", |promise| promise.name.as_str()));
            status.set_description(broken_text(cell));
        }
        Verdict::Error => {
            status.set_type(cell.error.as_ref().map_or("error", |error| error.code.as_str()));
            let help = cell.error.as_ref().map_or("", |error| error.help.as_str());
            let mut said: Vec<&str> = cell.error.iter().flat_map(details).collect();
            said.push(help);
            let said = said.join("\n");
            status.set_description(format!("{said}\nagain: {}", cell.replay));
        }
        Verdict::Inconclusive => {
            status.set_type("inconclusive");
            status.set_description(format!(
                "The situation was not produced, so nothing is proven.\nagain: {}",
                cell.replay
            ));
        }
    }
    add_reruns(cell, &mut status);
    status
}

/// The repeats that the case's own element doesn't tell of.
fn add_reruns(cell: &Cell, status: &mut TestCaseStatus) {
    let kind = if cell.verdict == Verdict::Pass { FlakyOrRerun::Flaky } else { FlakyOrRerun::Rerun };
    // One of the repeats is the case itself.
    let mut own = cell.verdict != Verdict::Pass;
    for (index, verdict) in cell.repeats.iter().enumerate() {
        if own && *verdict == cell.verdict {
            own = false;
            continue;
        }
        let failure = match verdict {
            Verdict::Pass | Verdict::Skipped => continue,
            Verdict::Fail => NonSuccessKind::Failure,
            Verdict::Error | Verdict::Inconclusive => NonSuccessKind::Error,
        };
        let mut rerun = TestRerun::new(failure);
        rerun.set_type(verdict_word(*verdict).to_lowercase());
        rerun.set_message(format!(
            "repeat {} of {}: {}",
            index + 1,
            cell.repeats.len(),
            verdict_word(*verdict).to_lowercase()
        ));
        status.add_rerun(rerun);
    }
    if cell.verdict != Verdict::Skipped {
        status.set_rerun_kind(kind);
    }
}

fn broken_text(cell: &Cell) -> String {
    let mut text = String::new();
    for promise in broken(cell) {
        let line = promise.line.unwrap_or(cell.source.line);
        // A String takes whatever is written to it.
        _ = writeln!(text, "{}: {}\n  at {}:{line}", promise.name, sentence_of(promise), cell.source.file);
    }
    if !cell.why.is_empty() {
        _ = writeln!(text, "why: {}", cell.why);
    }
    _ = write!(text, "again: {}", cell.replay);
    text
}

/// What else is known of a cell. Written among the suite's properties: the published schema knows none of a case.
pub(super) fn properties(cell: &Cell) -> Vec<(String, String)> {
    let mut properties: Vec<(String, String)> = Vec::new();
    let mut add = |name: &str, value: Option<String>| {
        properties.extend(value.map(|value| (name.to_owned(), value)));
    };
    add("verdict", Some(verdict_word(cell.verdict).to_lowercase()));
    add("source", Some(format!("{}:{}", cell.source.file, cell.source.line)));
    add("gate", cell.gate.clone());
    add("rounds", Some(cell.rounds.to_string()));
    add("flaky", cell.flaky.then(|| "true".to_owned()));
    add("tags", joined(&cell.tags, " "));
    add("covers", joined(&cell.covers, " "));
    add("replay", Some(cell.replay.clone()));
    for (axis, value) in &cell.at {
        add(&format!("at.{axis}"), Some(value.clone()));
    }
    for promise in &cell.promises {
        add(&format!("promise.{}", promise.name), Some(outcome_word(promise.outcome).to_owned()));
    }
    for witness in &cell.witnesses {
        let seen = if witness.seen { "seen" } else { "not seen" };
        add(&format!("witness.{}", witness.name), Some(format!("{seen}: {}", witness.detail)));
    }
    properties
}

fn told(cell: &Cell) -> String {
    let mut text = plain_text(cell);
    for command in &cell.curl {
        text.push_str(command);
        text.push('\n');
    }
    text
}
