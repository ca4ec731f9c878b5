//! How the honest service stands with each cell: what a kill has to be held against.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use onejob_reports::model::{Cell, Outcome, Verdict};
use tokio::sync::{Mutex, OnceCell};

use crate::{
    engine::{Grounds, PlannedCell, Played, play},
    scenario::Span,
};

/// Honest cells are played this often before they are called inconclusive: a machine may be busy for a while.
const TRIES: usize = 3;
/// A cell that tells nothing new in its later rounds is not worth them.
const ROUNDS: u32 = 3;
/// The least that a round is waited for, whatever the honest service took. Above what the laws call stranded.
const LEAST_WAIT: Duration = Duration::from_secs(8);

/// How the honest service stands with a cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Standing {
    /// It passes; these defects could have made a difference, and it took so long.
    Passes { reached: BTreeSet<String>, took: Duration },
    /// It breaks a promise.
    Fails(String),
    /// No verdict.
    Unclear(String),
}

/// The suite, and what is known of it.
#[derive(Debug)]
pub(super) struct Book {
    /// Cells by scenario.
    pub(super) suite: BTreeMap<String, Vec<PlannedCell>>,
    grounds: Grounds,
    notes: PathBuf,
    standings: BTreeMap<String, OnceCell<Standing>>,
    /// Whether the cells of a scenario look alike, where it says that they must.
    alike: BTreeMap<String, OnceCell<bool>>,
    alone: BTreeMap<String, Mutex<()>>,
    next: AtomicUsize,
}

impl Book {
    pub(super) fn new(grounds: &Grounds, suite: BTreeMap<String, Vec<PlannedCell>>, notes: PathBuf) -> Self {
        let cells = suite.values().flatten();
        Self {
            standings: cells.clone().map(|cell| (cell.name(), OnceCell::new())).collect(),
            alone: cells
                .filter_map(|cell| cell.loaded.scenario.exclusive.clone())
                .map(|name| (name, Mutex::new(())))
                .collect(),
            alike: suite.keys().map(|id| (id.clone(), OnceCell::new())).collect(),
            grounds: Grounds { first_break: true, ..grounds.clone() },
            notes,
            suite,
            next: AtomicUsize::new(0),
        }
    }

    /// What is known of a cell already.
    pub(super) fn known(&self, cell: &PlannedCell) -> Option<&Standing> {
        self.standings.get(&cell.name()).and_then(OnceCell::get)
    }

    /// How the honest service stands with a cell; plays it where that is not known.
    pub(super) async fn of(&self, cell: &PlannedCell) -> Standing {
        let Some(standing) = self.standings.get(&cell.name()) else {
            return Standing::Unclear("the cell is not part of the suite".to_owned());
        };
        standing.get_or_init(|| self.find_out(cell)).await.clone()
    }

    async fn find_out(&self, cell: &PlannedCell) -> Standing {
        let mut why = String::new();
        for _ in 0..TRIES {
            let file = self.notes.join(self.next.fetch_add(1, Ordering::Relaxed).to_string());
            let grounds = Grounds { reach: Some(file.clone()), ..self.grounds.clone() };
            let played = self.play(&grounds, shortened(cell, ROUNDS, None)).await;
            let report = played.alone(String::new());
            if let Some((_, sentence)) = broken(&report) {
                return Standing::Fails(sentence);
            }
            if report.verdict == Verdict::Pass {
                let notes = tokio::fs::read_to_string(&file).await.unwrap_or_default();
                return Standing::Passes {
                    reached: onejob_reference::reached(&notes),
                    took: Duration::from_micros(played.duration_us),
                };
            }
            why = unclear(&report);
        }
        Standing::Unclear(why)
    }

    /// Whether a defect could make a difference to a cell. Plays the honest service where that is not known.
    pub(super) async fn reaches(&self, cell: &PlannedCell, defect: &str) -> bool {
        matches!(self.of(cell).await, Standing::Passes { reached, .. } if reached.contains(defect))
    }

    /// Whether the cells of a scenario, judged together, pass on the honest service.
    pub(super) async fn together(&self, scenario: &str) -> bool {
        let (Some(cells), Some(known)) = (self.suite.get(scenario), self.alike.get(scenario)) else {
            return false;
        };
        let find_out = async {
            let mut played = Vec::new();
            for cell in cells {
                played.push(self.play(&self.grounds, shortened(cell, ROUNDS, None)).await);
            }
            let judged = Played::judge_together(&played, |_| String::new());
            judged.iter().all(|cell| cell.verdict == Verdict::Pass)
        };
        *Box::pin(known.get_or_init(|| find_out)).await
    }

    /// Plays a cell with a defect. `thorough` plays all of its rounds.
    pub(super) async fn try_on(&self, cell: &PlannedCell, defect: &str, thorough: bool) -> Played {
        let grounds = Grounds { defects: vec![defect.to_owned()], ..self.grounds.clone() };
        let took = match self.known(cell) {
            Some(Standing::Passes { took, .. }) => Some(*took),
            _ => None,
        };
        let rounds = if thorough { u32::MAX } else { ROUNDS };
        self.play(&grounds, shortened(cell, rounds, took)).await
    }

    async fn play(&self, grounds: &Grounds, cell: PlannedCell) -> Played {
        let _alone = match cell.loaded.scenario.exclusive.as_ref().and_then(|name| self.alone.get(name)) {
            Some(lock) => Some(lock.lock().await),
            None => None,
        };
        play(grounds, cell).await
    }
}

/// The cell with fewer rounds, and with deadlines that a defect which makes it wait for ever doesn't hold everybody up
/// with. Where one passes, nothing is said to be broken for it.
fn shortened(cell: &PlannedCell, rounds: u32, took: Option<Duration>) -> PlannedCell {
    let mut cell = cell.clone();
    let scenario = &mut cell.loaded.scenario;
    scenario.rounds = scenario.rounds.min(rounds);
    if let Some(took) = took {
        scenario.within = Span(scenario.within.0.min(LEAST_WAIT + took * 3));
    }
    cell
}

/// The first promise that a cell broke, and the sentence.
pub(super) fn broken(cell: &Cell) -> Option<(String, String)> {
    let broke = cell.promises.iter().find(|promise| promise.outcome == Outcome::Broke)?;
    Some((broke.name.clone(), broke.sentence.clone()))
}

/// Why a cell has no verdict.
pub(super) fn unclear(cell: &Cell) -> String {
    let error = cell.error.as_ref().map(|error| format!("{} {}", error.code, error.message));
    let witness =
        || cell.witnesses.iter().find(|witness| !witness.seen).map(|witness| witness.detail.clone());
    let undecided = || {
        let open = cell.promises.iter().find(|promise| promise.outcome == Outcome::Undecided);
        open.map(|promise| promise.sentence.clone())
    };
    error.or_else(witness).or_else(undecided).unwrap_or_else(|| format!("{:?}", cell.verdict))
}
