//! Tries negations against scenarios on a target of one's own.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
    time::Instant,
};

use tokio::{
    sync::{OnceCell, Semaphore, watch},
    task::JoinSet,
};

use onejob_reports::model::Verdict;

use super::{
    Culprit, KillMatrix, MATRIX_VERSION, Trial,
    honest::{broken, unclear},
    order::by_scenario,
};
use crate::{
    engine::{Grounds, PlannedCell, Played, play},
    negate::Negation,
};

/// What is told while it goes on: the lie's name, the scenario, and what came of it.
pub type Told<'t> = &'t mut (dyn FnMut(&str, &str, &Trial) + Send);

/// A scenario's cells, and what it says of the target without a lie: played once, when it is first asked for.
#[derive(Debug)]
struct Witness {
    cells: Vec<PlannedCell>,
    honest: OnceCell<Trial>,
}

/// What one trial came to, or that the scenario is of no use here.
enum Said {
    Of(Trial),
    Useless(String),
}

/// Tells each lie to scenario after scenario until one notices, those that ask for the promise first. A scenario that
/// does not pass without a lie is left out. `all` tells each lie to all of them; `parallel` is how
/// many plays go on at a time.
pub async fn negate(
    grounds: &Grounds,
    cells: Vec<PlannedCell>,
    negations: &[Negation],
    (all, parallel): (bool, usize),
    tell: Told<'_>,
    mut stop: watch::Receiver<bool>,
) -> (KillMatrix, bool) {
    let began = Instant::now();
    let mut matrix = KillMatrix {
        schema_version: MATRIX_VERSION,
        defects: negations.iter().copied().map(culprit).collect(),
        ..KillMatrix::default()
    };
    let (suite, order) = suite(cells, &mut matrix);
    let places = Arc::new(Semaphore::new(parallel.max(1)));
    let (said, mut heard) = tokio::sync::mpsc::unbounded_channel();
    let mut tasks = JoinSet::new();
    for negation in negations.iter().copied() {
        let (grounds, places, said) = (grounds.clone(), places.clone(), said.clone());
        let queue = queue(negation, &order, &suite);
        tasks.spawn(async move {
            for (id, witness) in queue {
                // The semaphore is never closed.
                let _place = places.acquire().await;
                let outcome = one(&grounds, negation, &witness).await;
                let noticed = matches!(&outcome, Said::Of(Trial::Killed { .. }));
                // Nobody listens any more only when the whole was stopped.
                let _ = said.send((negation, id, outcome));
                if noticed && !all {
                    return;
                }
            }
        });
    }
    drop(said);
    let mut stopped = false;
    loop {
        tokio::select! {
            biased;
            _ = stop.wait_for(|stop| *stop) => {
                stopped = true;
                break;
            }
            next = heard.recv() => match next {
                None => break,
                Some((negation, id, Said::Of(trial))) => {
                    tell(negation.name(), &id, &trial);
                    matrix.trials.entry(negation.name().to_owned()).or_default().insert(id, trial);
                }
                Some((_, id, Said::Useless(why))) => {
                    matrix.left_out.insert(id, why);
                }
            },
        }
    }
    tasks.shutdown().await;
    matrix.scenarios =
        order.into_iter().filter(|id| matrix.trials.values().any(|trials| trials.contains_key(id))).collect();
    matrix.complete = all && !stopped;
    matrix.interrupted = stopped;
    matrix.duration_us = u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX);
    (matrix, stopped)
}

fn culprit(negation: Negation) -> Culprit {
    Culprit {
        name: negation.name().to_owned(),
        promise: negation.promise().to_owned(),
        story: negation.lie().to_owned(),
    }
}

type Suite = BTreeMap<String, Arc<Witness>>;

fn suite(cells: Vec<PlannedCell>, matrix: &mut KillMatrix) -> (Suite, Vec<String>) {
    let (of, order) = by_scenario(cells, matrix);
    let suite = of
        .into_iter()
        .map(|(id, cells)| (id, Arc::new(Witness { cells, honest: OnceCell::new() })))
        .collect();
    (suite, order)
}

/// The scenarios in the order in which a lie is told to them: those first that ask for the promise, and of these the
/// ones with few cells.
fn queue(negation: Negation, order: &[String], suite: &Suite) -> VecDeque<(String, Arc<Witness>)> {
    let mut queue: Vec<(String, Arc<Witness>)> =
        order.iter().filter_map(|id| suite.get(id).map(|witness| (id.clone(), witness.clone()))).collect();
    queue.sort_by_key(|(_, witness)| {
        let concerned = witness.cells.iter().any(|cell| negation.concerns(&cell.loaded.scenario));
        (!concerned, witness.cells.len())
    });
    queue.into()
}

async fn one(grounds: &Grounds, negation: Negation, witness: &Witness) -> Said {
    let honest = witness.honest.get_or_init(|| trial(grounds, witness.cells.clone())).await;
    match honest {
        Trial::Survived | Trial::NotReached => {}
        Trial::Killed { sentence, .. } => return Said::Useless(format!("fails without a lie: {sentence}")),
        Trial::Unclear { why } => return Said::Useless(format!("no verdict without a lie: {why}")),
    }
    let lied = Grounds { negation: Some(negation), ..grounds.clone() };
    Said::Of(trial(&lied, witness.cells.clone()).await)
}

/// Plays a scenario's cells until one breaks a promise. What is judged over all cells together is judged at the end.
async fn trial(grounds: &Grounds, cells: Vec<PlannedCell>) -> Trial {
    let killed = |cell: &onejob_reports::model::Cell| {
        let (promise, sentence) = broken(cell)?;
        Some(Trial::Killed { cell: crate::engine::name_of(&cell.scenario, &cell.at), promise, sentence })
    };
    let mut played = Vec::new();
    for cell in cells {
        let done = play(grounds, cell).await;
        if let Some(killed) = killed(&done.alone(String::new())) {
            return killed;
        }
        played.push(done);
    }
    let mut why = None;
    for cell in Played::judge_together(&played, |_| String::new()) {
        if let Some(killed) = killed(&cell) {
            return killed;
        }
        if cell.verdict != Verdict::Pass {
            why = why.or_else(|| Some(unclear(&cell)));
        }
    }
    why.map_or(Trial::Survived, |why| Trial::Unclear { why })
}
