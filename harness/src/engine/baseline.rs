//! Before any race: one plain submit, to its end. A target that can't do that makes every verdict meaningless.

use onejob_reports::model::{Cell, CellError, Outcome, Verdict};

use super::{cell, plan::PlannedCell, ready, world::Grounds};
use crate::{
    fail::{Code, Fault},
    history::{History, Kind},
    scenario::{Capability, Loaded, load_str},
    target,
};

/// The plainest use of a job API. Only the target's own words decide; no witness beyond the answer.
const PLAIN: &str = r#"
id    = "baseline"
title = "One plain submit becomes one job, which ends well"
why   = "A target that can't do one plain job can't be raced: every verdict on it would be about the adapter."

[[step]]
id     = "submit"
do     = "submit"
with   = { key = "K", payload = "P" }
expect = { status = [200, 201, 202] }

[[step]]
id    = "end"
do    = "read"
job   = "submit"
until = "succeeded"

[witness]
answered = ["submit"]
"#;

/// Why no race was tried.
#[derive(Debug)]
pub struct NoBaseline {
    /// What is wrong, and what to do.
    pub fault: Fault,
    /// What was played, as far as it got, for the report.
    pub cell: Box<Cell>,
}

impl From<NoBaseline> for Fault {
    fn from(no: NoBaseline) -> Self {
        no.fault
    }
}

/// Plays it.
pub async fn baseline(grounds: &Grounds) -> Result<(), NoBaseline> {
    let loaded = plain(grounds).map_err(|fault| NoBaseline { cell: Box::new(blank(&fault)), fault })?;
    if grounds.target.target.command.is_none() && grounds.hosted.is_none() {
        let reached = ready::reached(&grounds.target.target).await;
        reached.map_err(|fault| NoBaseline { cell: Box::new(blank(&fault)), fault })?;
    }
    let played = cell::play(grounds, PlannedCell { loaded, lacks: None }).await;
    let mut report = played.alone(String::new());
    let verdict = match played.fault {
        Some(fault) => Err(fault),
        None => judge(grounds, &report, &played.history),
    };
    verdict.map_err(|fault| {
        report.verdict = Verdict::Error;
        report.error = Some(CellError::from(&fault));
        NoBaseline { fault, cell: Box::new(report) }
    })
}

/// The baseline's cell when nothing of it could be played: what broke before stands in it.
#[must_use]
pub fn blank(fault: &Fault) -> Cell {
    let mut cells = load_str("embedded:baseline", PLAIN).and_then(|file| file.cells()).unwrap_or_default();
    // The text above is a scenario, and a test says so.
    let loaded = cells.remove(0);
    let mut cell = cell::skipped(&PlannedCell { loaded, lacks: None }, "", String::new());
    cell.skipped = None;
    cell.verdict = Verdict::Error;
    cell.error = Some(CellError::from(fault));
    cell
}

fn plain(grounds: &Grounds) -> Result<Loaded, Fault> {
    let mut cells = load_str("embedded:baseline", PLAIN)?.cells()?;
    let mut loaded = cells.remove(0);
    if !grounds.target.capabilities().contains(&Capability::Read) {
        loaded.scenario.step.truncate(1);
    }
    Ok(loaded)
}

fn judge(grounds: &Grounds, report: &Cell, history: &History) -> Result<(), Fault> {
    known_states(grounds, history)?;
    // Promises are for the scenarios to judge: here only the adapter is on trial.
    let broke = report.promises.iter().find(|p| p.outcome == Outcome::Broke && p.name.starts_with("expect:"));
    if report.verdict == Verdict::Pass || broke.is_none() && report.verdict == Verdict::Fail {
        return Ok(());
    }
    let missing = report.witnesses.iter().find(|witness| !witness.seen);
    let why = broke.map(|promise| promise.sentence.clone()).or(missing.map(|witness| witness.detail.clone()));
    let lines = report.timeline.iter();
    let seen: Vec<String> = lines
        .map(|moment| format!("\n    {:>7} µs  {:<8} {}", moment.at_us, moment.who, moment.what))
        .collect();
    let seen = seen.concat();
    Err(Fault::new(
        Code::Baseline,
        format!("one plain submit does not work, so no race was tried: {}{seen}", why.unwrap_or_default()),
        "compare the target file's `request`, `json` and `reads` with the exchange above",
    ))
}

/// A state that the target file has no word for would make every later verdict guesswork.
fn known_states(grounds: &Grounds, history: &History) -> Result<(), Fault> {
    let target = &grounds.target.target;
    let mut known = Ok(());
    // A baseline is short: its history is in memory, and there is nothing that could not be read.
    let _ = history.each(|event| match &event.kind {
        Kind::Answered { answer, .. } if answer.status < 300 && known.is_ok() => {
            known = target::known_state(&target.submit, &target.states, answer);
        }
        _ => {}
    });
    Ok(known?)
}
