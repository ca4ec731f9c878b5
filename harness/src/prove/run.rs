//! Tries defects against scenarios, several pairs at a time.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::{sync::watch, task::JoinSet};

use super::{
    Culprit, KillMatrix, MATRIX_VERSION, Trial,
    honest::{Book, Standing},
    order::{Agenda, by_scenario},
    trial::{Zeal, trial},
};
use crate::engine::{Grounds, PlannedCell};

/// What is told while it goes on.
#[derive(Debug)]
pub enum News<'n> {
    /// The honest service was held against a cell: its name, and what is wrong, if anything is.
    Honest(&'n str, Option<&'n str>),
    /// A defect was tried on a scenario.
    Tried(&'n str, &'n str, &'n Trial),
}

/// How far it is: what was played, of how much, and about how long the rest takes.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// Plays that are done.
    pub done: usize,
    /// Plays in all, as far as that is known.
    pub of: usize,
    /// About how long the rest takes.
    pub left: Option<Duration>,
}

/// Gets the news.
pub type Tell<'t> = &'t mut (dyn FnMut(&News<'_>, Pace) + Send);

/// How it is carried out.
#[derive(Debug, Clone)]
pub struct Effort {
    /// Every pair, and not only until each defect is dead and each scenario has killed.
    pub all: bool,
    /// Also pairs that are out of reach.
    pub unreached: bool,
    /// Plays at a time.
    pub parallel: usize,
    /// A folder for the services' notes.
    pub notes: PathBuf,
}

/// Counts plays, and reckons how long the rest takes.
struct Progress {
    began: Instant,
    done: usize,
    of: usize,
}

impl Progress {
    fn new(of: usize) -> Self {
        Self { began: Instant::now(), done: 0, of }
    }

    fn step(&mut self) -> Pace {
        self.done += 1;
        let left = self.of.saturating_sub(self.done);
        let each = self.began.elapsed().checked_div(u32::try_from(self.done).unwrap_or(u32::MAX));
        let rest = each.map(|each| each * u32::try_from(left).unwrap_or(u32::MAX));
        // The first few say nothing about the rest.
        Pace { done: self.done, of: self.of, left: rest.filter(|_| self.done >= 8) }
    }
}

/// Runs the suite against each defect. Nothing counts as a kill that the honest service doesn't pass.
pub async fn prove(
    grounds: &Grounds,
    cells: Vec<PlannedCell>,
    defects: Vec<Culprit>,
    effort: &Effort,
    tell: Tell<'_>,
    mut stop: watch::Receiver<bool>,
) -> KillMatrix {
    let began = Instant::now();
    let mut matrix = KillMatrix { schema_version: MATRIX_VERSION, defects, ..KillMatrix::default() };
    let (suite, order) = by_scenario(cells, &mut matrix);
    let book = Arc::new(Book::new(grounds, suite, effort.notes.clone()));
    let work = async {
        if effort.all {
            baseline(&book, effort, tell).await;
            leave_out_what_fails(&book, &mut matrix);
        }
        matrix.scenarios = order.into_iter().filter(|id| !matrix.left_out.contains_key(id)).collect();
        pairs(&book, effort, &mut matrix, tell).await;
        leave_out_what_fails(&book, &mut matrix);
    };
    let interrupted = tokio::select! {
        biased;
        _ = stop.wait_for(|stop| *stop) => true,
        () = work => false,
    };
    matrix.interrupted = interrupted;
    matrix.complete = effort.all && !interrupted;
    matrix.duration_us = u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX);
    matrix
}

/// Holds the honest service against every cell.
async fn baseline(book: &Arc<Book>, effort: &Effort, tell: Tell<'_>) {
    let cells: Vec<PlannedCell> = book.suite.values().flatten().cloned().collect();
    let mut progress = Progress::new(cells.len());
    let mut waiting = cells.into_iter();
    let mut tasks = JoinSet::new();
    loop {
        while tasks.len() < effort.parallel.max(1) {
            let Some(cell) = waiting.next() else { break };
            let book = book.clone();
            tasks.spawn(async move {
                let standing = book.of(&cell).await;
                (cell.name(), standing)
            });
        }
        match tasks.join_next().await {
            None => break,
            Some(Ok((name, standing))) => {
                let wrong = match &standing {
                    Standing::Passes { .. } => None,
                    Standing::Fails(why) | Standing::Unclear(why) => Some(why.as_str()),
                };
                tell(&News::Honest(&name, wrong), progress.step());
            }
            Some(Err(error)) => tracing::error!(%error, "a play's task broke"),
        }
    }
}

/// Scenarios that the honest service doesn't pass say nothing of defects.
fn leave_out_what_fails(book: &Book, matrix: &mut KillMatrix) {
    for (id, cells) in &book.suite {
        for cell in cells {
            let why = match book.known(cell) {
                Some(Standing::Fails(why)) => format!("fails on the honest service: {why}"),
                Some(Standing::Unclear(why)) => format!("no verdict on the honest service: {why}"),
                Some(Standing::Passes { .. }) | None => continue,
            };
            matrix.left_out.insert(id.clone(), why);
        }
    }
    let left_out: BTreeSet<&String> = matrix.left_out.keys().collect();
    matrix.scenarios.retain(|id| !left_out.contains(id));
    for trials in matrix.trials.values_mut() {
        trials.retain(|id, _| !left_out.contains(id));
    }
}

async fn pairs(book: &Arc<Book>, effort: &Effort, matrix: &mut KillMatrix, tell: Tell<'_>) {
    let names: Vec<String> = matrix.defects.iter().map(|defect| defect.name.clone()).collect();
    let kills: BTreeMap<String, Vec<String>> = matrix
        .scenarios
        .iter()
        .filter_map(|id| book.suite[id].first().map(|cell| (id.clone(), cell.loaded.scenario.kills.clone())))
        .collect();
    let zeal = |defect: &String, scenario: &String| {
        let expected = kills.get(scenario).is_some_and(|kills| kills.contains(defect));
        match (expected, effort.unreached) {
            (true, _) => Zeal::Expected,
            (false, true) => Zeal::Unreached,
            (false, false) => Zeal::Reached,
        }
    };
    let mut agenda = Agenda::new(&names, &matrix.scenarios, &kills, effort.all);
    // Killing a service at every point of a job's life takes its time: it is tried on the defects that it is about.
    let swept =
        |scenario: &String| book.suite[scenario].iter().any(|cell| cell.loaded.scenario.sweep.is_some());
    agenda.drop_pairs(|defect, scenario| swept(scenario) && zeal(defect, scenario) != Zeal::Expected);
    if effort.all {
        // All that is out of reach is known by now: what is left is what takes time.
        for (defect, scenario) in agenda.drop_pairs(|defect, scenario| {
            zeal(defect, scenario) == Zeal::Reached && !reached(book, defect, scenario)
        }) {
            matrix.trials.entry(defect).or_default().insert(scenario, Trial::NotReached);
        }
    }
    let mut progress = Progress::new(agenda.about());
    let mut tasks = JoinSet::new();
    loop {
        while tasks.len() < effort.parallel.max(1) {
            let Some((defect, scenario)) = agenda.next() else { break };
            let (book, zeal) = (book.clone(), zeal(&defect, &scenario));
            tasks.spawn(async move {
                let mut outcome = Box::pin(trial(&book, &defect, &scenario, zeal)).await;
                if zeal == Zeal::Expected && matches!(outcome, Trial::Unclear { .. }) {
                    // A busy machine leaves questions open that a second look answers.
                    outcome = Box::pin(trial(&book, &defect, &scenario, zeal)).await;
                }
                (defect, scenario, outcome)
            });
        }
        match tasks.join_next().await {
            None => break,
            Some(Ok((defect, scenario, trial))) => {
                agenda.ended(&defect, &scenario, matches!(trial, Trial::Killed { .. }));
                tell(&News::Tried(&defect, &scenario, &trial), progress.step());
                matrix.trials.entry(defect).or_default().insert(scenario, trial);
            }
            Some(Err(error)) => tracing::error!(%error, "a trial's task broke"),
        }
    }
}

fn reached(book: &Book, defect: &str, scenario: &str) -> bool {
    book.suite[scenario].iter().any(
        |cell| matches!(book.known(cell), Some(Standing::Passes { reached, .. }) if reached.contains(defect)),
    )
}
