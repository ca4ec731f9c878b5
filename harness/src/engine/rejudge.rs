use std::collections::BTreeMap;

use onejob_reports::model::{Cell, RunReport, Sweeps, Verdict};

use super::{PlannedCell, cell::Played, name_of, run};
use crate::{
    fail::{Code, Fault},
    history::History,
    scenario::Loaded,
};

/// A history that a run left.
#[derive(Debug)]
pub struct Stored {
    /// The cell's name: `double-click clicks=8`.
    pub cell: String,
    /// Which repeat, from 1.
    pub repeat: u32,
    /// What happened.
    pub history: History,
}

/// A stored run, judged by the laws of today.
#[derive(Debug)]
pub struct Rejudged {
    /// The report as it is now.
    pub report: RunReport,
    /// Cells whose verdict stands unjudged, by name, each with the reason.
    pub kept: Vec<(String, String)>,
}

/// Judges a run's histories again. What only the run itself could know (times, what broke in the harness, what was
/// skipped and why) is taken from its report; cells without a history or a scenario keep their verdict.
#[must_use]
pub fn rejudge(mut report: RunReport, histories: Vec<Stored>, scenarios: Vec<Loaded>) -> Rejudged {
    let scenarios: BTreeMap<String, Loaded> =
        scenarios.into_iter().map(|loaded| (loaded.name(), loaded)).collect();
    let mut by_cell: BTreeMap<String, Vec<Stored>> = BTreeMap::new();
    for stored in histories {
        by_cell.entry(stored.cell.clone()).or_default().push(stored);
    }
    let mut kept = Vec::new();
    // Cells that must look alike are compared within their repeat, as the run did.
    let mut together: BTreeMap<(String, u32), Vec<Played>> = BTreeMap::new();
    for cell in &report.cells {
        let name = cell.name();
        let Some(stored) = by_cell.remove(&name) else {
            if cell.skipped.is_none() {
                kept.push((name, "it has no history".to_owned()));
            }
            continue;
        };
        let Some(loaded) = scenarios.get(&name) else {
            kept.push((name, "there is no such scenario any more".to_owned()));
            continue;
        };
        for stored in stored {
            let group = (cell.scenario.clone(), stored.repeat);
            together.entry(group).or_default().push(as_played(stored, loaded, cell));
        }
    }
    let mut judged: BTreeMap<String, Cell> = BTreeMap::new();
    for (_, played) in together {
        for cell in Played::judge_together(&played, |_| String::new()) {
            match judged.get_mut(&cell.name()) {
                Some(known) => run::merge(known, cell),
                None => {
                    judged.insert(cell.name(), Cell { repeats: vec![cell.verdict], ..cell });
                }
            }
        }
    }
    for cell in &mut report.cells {
        if let Some(now) = judged.remove(&name_of(&cell.scenario, &cell.at)) {
            *cell = with_what_only_the_run_knew(now, cell);
        }
    }
    report.sweeps = Sweeps::of(&report.cells);
    env!("CARGO_PKG_VERSION").clone_into(&mut report.tool_version);
    Rejudged { report, kept }
}

fn as_played(stored: Stored, loaded: &Loaded, was: &Cell) -> Played {
    // Any fault makes the judge look at whole rounds only; what it was is told by the stored report.
    let fault = was.error.as_ref().map(|error| {
        Fault::new(error.code.parse().unwrap_or(Code::Bug), error.message.clone(), error.help.clone())
    });
    Played {
        planned: PlannedCell { loaded: loaded.clone(), lacks: None },
        history: stored.history,
        fault,
        duration_us: 0,
        setup_us: 0,
    }
}

fn with_what_only_the_run_knew(now: Cell, was: &Cell) -> Cell {
    let worst = was.repeats.iter().max().copied().unwrap_or(was.verdict);
    // The run was told to let a cell pass that passed on a repeat.
    let forgiven = was.flaky && was.verdict == Verdict::Pass && worst > Verdict::Pass;
    let mut cell = Cell {
        duration_us: was.duration_us,
        setup_us: was.setup_us,
        replay: was.replay.clone(),
        error: was.error.clone(),
        repeats: if was.repeats.is_empty() { Vec::new() } else { now.repeats.clone() },
        ..now
    };
    if forgiven && cell.flaky && cell.verdict != Verdict::Fail && cell.repeats.contains(&Verdict::Pass) {
        cell.verdict = Verdict::Pass;
    }
    cell
}
