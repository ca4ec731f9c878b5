//! Plays the planned cells, several at a time, and tells about each as soon as it is judged.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
    time::Instant,
};

use onejob_reports::model::{Cell, Progress, RunReport, SCHEMA_VERSION, Sweeps, Verdict};
use tokio::{
    sync::{Mutex, Semaphore, mpsc, watch},
    task::JoinSet,
};

use super::{
    cell::{self, Played},
    plan::PlannedCell,
    report::shell_word,
    world::Grounds,
};
use crate::{history::History, target::TargetFile};

/// So many cells at a time may have a Postgres server of their own: its start keeps a processor busy, and a pair more.
const OWN_SERVERS: usize = 2;

/// How a run is carried out.
#[derive(Debug, Clone)]
pub struct Options {
    /// Cells at a time.
    pub parallel: usize,
    /// How often each cell is played.
    pub repeat: u32,
    /// What the command line adds to replay a cell: `--target x.toml --defect y`.
    pub replay: String,
    /// The report as far as it is known before the run.
    pub frame: RunReport,
}

/// Keeps histories. Called once for each played cell, in the order in which they end.
pub type Keep<'k> = &'k (dyn Fn(&str, u32, &History) + Sync);

/// Plays all cells, until the end or until `stop` says so.
pub async fn run(
    grounds: &Grounds,
    planned: Vec<PlannedCell>,
    options: &Options,
    tell: &mpsc::UnboundedSender<Progress>,
    keep: Keep<'_>,
    mut stop: watch::Receiver<bool>,
) -> RunReport {
    let began = Instant::now();
    let mut report = options.frame.clone();
    report.planned = planned.len();
    let order: HashMap<String, usize> =
        planned.iter().enumerate().map(|(index, cell)| (cell.name(), index)).collect();
    let mut board = Board::new(&planned, options, tell);
    let mut tasks = start(grounds, &planned, options, &mut board, tell);
    loop {
        tokio::select! {
            biased;
            _ = stop.wait_for(|stop| *stop) => {
                report.interrupted = true;
                break;
            }
            done = tasks.join_next() => match done {
                None => break,
                Some(Ok((repeat, played))) => {
                    keep(&played.planned.name(), repeat, &played.history);
                    board.take(repeat, played);
                }
                // A panic in a cell is a bug; the others' verdicts still count, and this one is missing.
                Some(Err(error)) => tracing::error!(%error, "a cell's task broke"),
            },
        }
    }
    // Children of cells that are dropped here die with them; the leash has what escapes.
    tasks.shutdown().await;
    report.not_run = board.not_run(&order);
    report.cells = board.cells;
    report.cells.sort_by_key(|cell| order.get(&super::plan::name_of(&cell.scenario, &cell.at)).copied());
    report.sweeps = Sweeps::of(&report.cells);
    report.duration_us = u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX);
    // Nobody listens only where the listener broke; the report goes back to the caller all the same.
    let _ = tell.send(Progress::RunFinished { report: Box::new(report.clone()) });
    report
}

fn start(
    grounds: &Grounds,
    planned: &[PlannedCell],
    options: &Options,
    board: &mut Board<'_>,
    tell: &mpsc::UnboundedSender<Progress>,
) -> JoinSet<(u32, Played)> {
    let mut tasks = JoinSet::new();
    let places = Arc::new(Semaphore::new(options.parallel.max(1)));
    let servers = Arc::new(Semaphore::new(OWN_SERVERS));
    let mut shared: BTreeMap<String, Arc<Mutex<()>>> = BTreeMap::new();
    // A cell waits for its turn as a name and a few handles: there may be tens of thousands, with their repeats.
    let planned: Vec<Arc<PlannedCell>> = planned.iter().cloned().map(Arc::new).collect();
    let grounds = Arc::new(grounds.clone());
    for repeat in 1..=options.repeat.max(1) {
        for cell in &planned {
            if let Some(reason) = &cell.lacks {
                if repeat == 1 {
                    board.skip(cell, reason);
                }
                continue;
            }
            let exclusive = cell
                .loaded
                .scenario
                .exclusive
                .as_ref()
                .map(|name| shared.entry(name.clone()).or_default().clone());
            let servers = cell.loaded.scenario.setup.server.map(|_| servers.clone());
            let (places, grounds, tell, cell) = (places.clone(), grounds.clone(), tell.clone(), cell.clone());
            tasks.spawn(async move {
                let _alone = match &exclusive {
                    Some(lock) => Some(lock.lock().await),
                    None => None,
                };
                let _server = match &servers {
                    Some(servers) => Some(servers.acquire().await),
                    None => None,
                };
                // The semaphore is never closed.
                let _place = places.acquire().await;
                let started = Progress::CellStarted {
                    scenario: cell.loaded.scenario.id.clone(),
                    at: cell.loaded.at.clone(),
                };
                let _ = tell.send(started);
                let cell = PlannedCell::clone(&cell);
                (repeat, Box::pin(cell::play(&grounds, cell)).await)
            });
        }
    }
    tasks
}

/// Collects played cells until a scenario can be judged, and tells of what is judged.
struct Board<'a> {
    options: &'a Options,
    tell: &'a mpsc::UnboundedSender<Progress>,
    /// Cells of scenarios that are judged together, until all of a repeat were played.
    waiting: BTreeMap<(String, u32), Vec<Played>>,
    /// How many cells of a scenario are to come in each repeat.
    expected: BTreeMap<String, usize>,
    /// Verdicts of repeats by the cell's name.
    cells: Vec<Cell>,
}

impl<'a> Board<'a> {
    fn new(planned: &[PlannedCell], options: &'a Options, tell: &'a mpsc::UnboundedSender<Progress>) -> Self {
        let mut expected = BTreeMap::new();
        for cell in planned.iter().filter(|cell| cell.lacks.is_none()) {
            *expected.entry(cell.loaded.scenario.id.clone()).or_insert(0) += 1;
        }
        Self { options, tell, waiting: BTreeMap::new(), expected, cells: Vec::new() }
    }

    /// Names of cells that were planned and have no verdict, in the order of the plan.
    fn not_run(&self, order: &HashMap<String, usize>) -> Vec<String> {
        let have: Vec<String> = self.cells.iter().map(|c| super::plan::name_of(&c.scenario, &c.at)).collect();
        let mut missing: Vec<_> = order.iter().filter(|(name, _)| !have.contains(name)).collect();
        missing.sort_by_key(|(_, place)| **place);
        missing.into_iter().map(|(name, _)| name.clone()).collect()
    }

    fn replay(&self, cell: &PlannedCell) -> String {
        let source = &cell.loaded.source;
        let file = if source.starts_with("embedded:") {
            String::new()
        } else {
            format!(" --scenarios {}", shell_word(source))
        };
        format!("onejob run '{}'{file}{}", cell.name(), self.options.replay)
    }

    fn skip(&mut self, planned: &PlannedCell, reason: &str) {
        let cell = cell::skipped(planned, reason, self.replay(planned));
        self.finish(cell);
    }

    fn take(&mut self, repeat: u32, played: Played) {
        let scenario = &played.planned.loaded.scenario;
        if scenario.invariants.alike.is_none() {
            self.finish_together(&[played]);
            return;
        }
        let expected = self.expected.get(&scenario.id).copied().unwrap_or(1);
        let group = (scenario.id.clone(), repeat);
        let waiting = self.waiting.entry(group.clone()).or_default();
        waiting.push(played);
        if waiting.len() >= expected {
            let together = self.waiting.remove(&group).unwrap_or_default();
            self.finish_together(&together);
        }
    }

    fn finish_together(&mut self, together: &[Played]) {
        for cell in Played::judge_together(together, |cell| self.replay(cell)) {
            self.finish(cell);
        }
    }

    fn finish(&mut self, cell: Cell) {
        let known = self.cells.iter_mut().find(|c| c.scenario == cell.scenario && c.at == cell.at);
        let cell = if let Some(known) = known {
            merge(known, cell);
            known.clone()
        } else {
            let mut cell = cell;
            if self.options.repeat > 1 {
                cell.repeats = vec![cell.verdict];
            }
            self.cells.push(cell.clone());
            cell
        };
        if self.options.repeat <= 1
            || cell.repeats.len() >= self.options.repeat as usize
            || cell.skipped.is_some()
        {
            let _ = self.tell.send(Progress::CellFinished { cell: Box::new(cell) });
        }
    }
}

/// Adds a repeat to a cell. The worst verdict stands, with what showed it.
pub(super) fn merge(known: &mut Cell, new: Cell) {
    let mut repeats = std::mem::take(&mut known.repeats);
    repeats.push(new.verdict);
    let duration_us = known.duration_us + new.duration_us;
    let setup_us = known.setup_us + new.setup_us;
    let rounds = known.rounds + new.rounds;
    if new.verdict > known.verdict {
        *known = new;
    }
    known.flaky = repeats.iter().any(|verdict| *verdict != repeats[0]);
    known.repeats = repeats;
    known.duration_us = duration_us;
    known.setup_us = setup_us;
    known.rounds = rounds;
}

/// The report of a run that has not begun.
#[must_use]
pub fn frame(target: &TargetFile, defects: &[String], seed: u64) -> RunReport {
    RunReport {
        schema_version: SCHEMA_VERSION,
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        run_id: uuid::Uuid::now_v7().to_string(),
        started_at: jiff::Timestamp::now().to_string(),
        duration_us: 0,
        target: target.target.name.clone(),
        profile: onejob_reports::model::Profile {
            name: target.target.profile.clone(),
            widens: target.widens(),
        },
        defects: defects.to_vec(),
        database: None,
        seed,
        interrupted: false,
        shard: None,
        planned: 0,
        not_run: Vec::new(),
        incomplete: None,
        sweeps: None,
        cells: Vec::new(),
    }
}

/// Under `--flaky`, what passed in at least one repeat and never broke a promise counts as passed. One counterexample
/// is a proof, so a broken promise is never flaky.
pub fn forgive(report: &mut RunReport) {
    for cell in &mut report.cells {
        if cell.flaky && cell.verdict != Verdict::Fail && cell.repeats.contains(&Verdict::Pass) {
            cell.verdict = Verdict::Pass;
        }
    }
}
