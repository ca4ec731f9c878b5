//! Tries defects against scenarios, several pairs at a time.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Instant,
};

use onejob_reports::model::{Cell, Outcome, Verdict};
use tokio::{sync::watch, task::JoinSet};

use super::{Culprit, KillMatrix, Trial, order::Agenda};
use crate::engine::{Grounds, PlannedCell, Played, play};

/// What is told while it goes on: the defect, the scenario, and what came of it. No defect: the honest service.
pub type Tell<'t> = &'t mut (dyn FnMut(Option<&str>, &str, &Trial) + Send);

/// How it is carried out.
#[derive(Debug, Clone, Copy)]
pub struct Effort {
    /// Every pair, and not only until each defect is dead and each scenario has killed.
    pub all: bool,
    /// Pairs at a time.
    pub parallel: usize,
}

/// Runs the suite against each defect. The honest service comes first: scenarios that don't pass on it are left out,
/// since their failing would say nothing of a defect.
pub async fn prove(
    grounds: &Grounds,
    cells: Vec<PlannedCell>,
    defects: Vec<Culprit>,
    effort: Effort,
    tell: Tell<'_>,
    mut stop: watch::Receiver<bool>,
) -> (KillMatrix, bool) {
    let began = Instant::now();
    let mut suite: BTreeMap<String, Vec<PlannedCell>> = BTreeMap::new();
    let mut order = Vec::new();
    let mut matrix = KillMatrix { defects, ..KillMatrix::default() };
    for cell in cells {
        let id = cell.loaded.scenario.id.clone();
        if let Some(reason) = &cell.lacks {
            matrix.left_out.insert(id, reason.clone());
            continue;
        }
        if !order.contains(&id) {
            order.push(id.clone());
        }
        suite.entry(id).or_default().push(cell);
    }
    let mut stopped = false;
    honest(grounds, &suite, &order, effort, &mut matrix, tell, &mut stop, &mut stopped).await;
    if !stopped {
        broken(grounds, &suite, effort, &mut matrix, tell, &mut stop, &mut stopped).await;
    }
    matrix.complete = effort.all && !stopped;
    matrix.duration_us = u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX);
    (matrix, stopped)
}

#[expect(clippy::too_many_arguments, reason = "one step of `prove`, which owns all of these")]
async fn honest(
    grounds: &Grounds,
    suite: &BTreeMap<String, Vec<PlannedCell>>,
    order: &[String],
    effort: Effort,
    matrix: &mut KillMatrix,
    tell: Tell<'_>,
    stop: &mut watch::Receiver<bool>,
    stopped: &mut bool,
) {
    let mut tasks = JoinSet::new();
    let mut waiting = order.iter();
    let mut passed = BTreeSet::new();
    loop {
        while tasks.len() < effort.parallel.max(1) {
            let Some(id) = waiting.next() else { break };
            let (grounds, id, cells) = (grounds.clone(), id.clone(), suite[id].clone());
            tasks.spawn(async move { (id, trial(&grounds, cells).await) });
        }
        tokio::select! {
            biased;
            _ = stop.wait_for(|stop| *stop) => {
                *stopped = true;
                break;
            }
            done = tasks.join_next() => match done {
                None => break,
                Some(Ok((id, trial))) => {
                    tell(None, &id, &trial);
                    match trial {
                        Trial::Survived => { passed.insert(id); }
                        Trial::Killed { sentence, .. } => {
                            matrix.left_out.insert(id, format!("fails on the honest service: {sentence}"));
                        }
                        Trial::Unclear { why } => {
                            matrix.left_out.insert(id, format!("no verdict on the honest service: {why}"));
                        }
                    }
                }
                Some(Err(error)) => tracing::error!(%error, "a trial's task broke"),
            },
        }
    }
    tasks.shutdown().await;
    matrix.scenarios = order.iter().filter(|id| passed.contains(*id)).cloned().collect();
}

async fn broken(
    grounds: &Grounds,
    suite: &BTreeMap<String, Vec<PlannedCell>>,
    effort: Effort,
    matrix: &mut KillMatrix,
    tell: Tell<'_>,
    stop: &mut watch::Receiver<bool>,
    stopped: &mut bool,
) {
    let names: Vec<String> = matrix.defects.iter().map(|defect| defect.name.clone()).collect();
    let kills = matrix
        .scenarios
        .iter()
        .filter_map(|id| suite[id].first().map(|cell| (id.clone(), cell.loaded.scenario.kills.clone())))
        .collect();
    let mut agenda = Agenda::new(&names, &matrix.scenarios, &kills, effort.all);
    let mut tasks = JoinSet::new();
    loop {
        while tasks.len() < effort.parallel.max(1) {
            let Some((defect, scenario)) = agenda.next() else { break };
            let grounds = Grounds { defects: vec![defect.clone()], ..grounds.clone() };
            let cells = suite[&scenario].clone();
            tasks.spawn(async move { (defect, scenario, trial(&grounds, cells).await) });
        }
        tokio::select! {
            biased;
            _ = stop.wait_for(|stop| *stop) => {
                *stopped = true;
                break;
            }
            done = tasks.join_next() => match done {
                None => break,
                Some(Ok((defect, scenario, trial))) => {
                    tell(Some(&defect), &scenario, &trial);
                    if matches!(trial, Trial::Killed { .. }) {
                        agenda.killed(&defect, &scenario);
                    }
                    matrix.trials.entry(defect).or_default().insert(scenario, trial);
                }
                Some(Err(error)) => tracing::error!(%error, "a trial's task broke"),
            },
        }
    }
    tasks.shutdown().await;
}

/// Plays a scenario's cells until one breaks a promise. What is judged over all cells together is judged at the end.
async fn trial(grounds: &Grounds, cells: Vec<PlannedCell>) -> Trial {
    let mut played = Vec::new();
    let mut unclear = None;
    for cell in cells {
        let done = play(grounds, cell).await;
        if let Some(killed) = killed(&done.report(&done.judge(&done.views()), String::new())) {
            return killed;
        }
        played.push(done);
    }
    for cell in Played::judge_together(&played, |_| String::new()) {
        if let Some(killed) = killed(&cell) {
            return killed;
        }
        if cell.verdict != Verdict::Pass {
            let error = cell.error.as_ref().map(|error| format!("{} {}", error.code, error.message));
            let witness =
                cell.witnesses.iter().find(|witness| !witness.seen).map(|witness| witness.detail.clone());
            unclear = unclear.or(error).or(witness).or(Some(format!("{:?}", cell.verdict)));
        }
    }
    unclear.map_or(Trial::Survived, |why| Trial::Unclear { why })
}

fn killed(cell: &Cell) -> Option<Trial> {
    let broke = cell.promises.iter().find(|promise| promise.outcome == Outcome::Broke)?;
    Some(Trial::Killed {
        cell: crate::engine::name_of(&cell.scenario, &cell.at),
        promise: broke.name.clone(),
        sentence: broke.sentence.clone(),
    })
}
