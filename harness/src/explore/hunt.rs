//! Plays plans, several at a time, until a promise breaks or time is up.

use std::time::Duration;

use tokio::{sync::watch, task::JoinSet, time::Instant};

use super::{
    coverage::Coverage,
    plan::Plan,
    theatre::{Broken, Theatre, Tried},
};
use crate::fail::Fault;

/// How long and how hard to look.
#[derive(Debug, Clone, Copy)]
pub struct Effort {
    /// Seed of all plans.
    pub seed: u64,
    /// The first plan.
    pub from: u64,
    /// No plan begins later.
    pub budget: Option<Duration>,
    /// The most plans.
    pub plans: Option<u64>,
    /// Plans at a time.
    pub parallel: usize,
}

/// A plan that broke a promise.
#[derive(Debug, Clone)]
pub struct Failure {
    /// The plan.
    pub plan: Plan,
    /// The promise.
    pub broken: Broken,
}

/// What a hunt came to.
#[derive(Debug, Default)]
pub struct Hunt {
    /// Plans that were played to their end.
    pub played: u64,
    /// Of those, plans in which something that was waited for never came.
    pub unclear: u64,
    /// What could not be played, and why.
    pub faults: Vec<(u64, Fault)>,
    /// What was reached.
    pub coverage: Coverage,
    /// The failure with the lowest number.
    pub failure: Option<Failure>,
    /// Whether somebody stopped it.
    pub stopped: bool,
}

/// Faults after which it is no use to go on.
const MOST_FAULTS: usize = 5;

/// Plays plans and adds what they come to. `tell` hears of it after each.
pub async fn hunt(
    theatre: &Theatre,
    effort: Effort,
    hunt: &mut Hunt,
    tell: &mut (dyn FnMut(&Hunt) + Send),
    mut stop: watch::Receiver<bool>,
) {
    let mut tasks: JoinSet<(Plan, Result<Tried, Fault>)> = JoinSet::new();
    let mut next = effort.from;
    let until = effort.budget.map(|budget| Instant::now() + budget);
    loop {
        let more = |next: u64, hunt: &Hunt| {
            hunt.failure.is_none()
                && hunt.faults.len() < MOST_FAULTS
                && effort.plans.is_none_or(|plans| next < plans)
                && until.is_none_or(|until| Instant::now() < until)
        };
        while tasks.len() < effort.parallel.max(1) && more(next, hunt) {
            let plan = Plan::of(effort.seed, next, theatre.ability());
            let theatre = theatre.clone();
            tasks.spawn(async move {
                let tried = theatre.play(&plan).await;
                (plan, tried)
            });
            next += 1;
        }
        tokio::select! {
            biased;
            _ = stop.wait_for(|stop| *stop) => {
                hunt.stopped = true;
                break;
            }
            done = tasks.join_next() => match done {
                None => break,
                Some(Ok((plan, tried))) => {
                    hunt.take(plan, tried);
                    tell(hunt);
                }
                // A panic in a plan is a bug; the others still count.
                Some(Err(error)) => tracing::error!(%error, "a plan's task broke"),
            },
        }
    }
    tasks.shutdown().await;
}

impl Hunt {
    fn take(&mut self, plan: Plan, tried: Result<Tried, Fault>) {
        match tried {
            Ok(tried) => {
                self.played += 1;
                self.coverage.take(&tried.view, &tried.events);
                if let Some(broken) = tried.broken {
                    let first = self.failure.as_ref().is_none_or(|known| plan.index < known.plan.index);
                    if first {
                        self.failure = Some(Failure { plan, broken });
                    }
                } else if !tried.view.missed.is_empty() {
                    self.unclear += 1;
                }
            }
            Err(fault) => self.faults.push((plan.index, fault)),
        }
    }
}
