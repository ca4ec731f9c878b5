//! Makes a failing plan smaller for as long as it fails. Races are not certain, so every candidate is tried several times.

use std::{collections::BTreeSet, time::Duration};

use tokio::{sync::watch, task::JoinSet, time::Instant};

use super::{
    hunt::Failure,
    moves::{Entry, Looker, Manner, Move, Nature},
    plan::Plan,
    theatre::{Broken, Theatre},
};
use crate::scenario::{Invariants, Scenario};

/// A failure made small.
#[derive(Debug, Clone)]
pub struct Shrunk {
    /// What is left of it.
    pub scenario: Scenario,
    /// The promise that it breaks.
    pub broken: Broken,
    /// How many trials failed of those at the end.
    pub failed: u32,
    /// How many there were.
    pub trials: u32,
    /// Candidates that were tried on the way.
    pub tried: u32,
    /// Steps before.
    pub steps_before: usize,
}

/// Trials of a candidate.
const TRIALS: u32 = 3;
/// Trials of the failure itself before and after shrinking.
const MEASURED: u32 = 8;
/// Shrinking ends here, however much smaller it might still get.
const LONGEST: Duration = Duration::from_mins(1);
/// What a file's rounds leave to bad luck: the replay misses the failure in one of so many runs.
const MISSES: f64 = 500.0;
/// More rounds make a replay tedious.
const MOST_ROUNDS: f64 = 40.0;

/// Shrinks a failure. Ends early, with what there is, when `stop` says so.
pub async fn shrink(
    theatre: &Theatre,
    failure: &Failure,
    parallel: usize,
    tell: &mut (dyn FnMut(usize, u32) + Send),
    stop: watch::Receiver<bool>,
) -> Shrunk {
    let steps_before = failure.plan.scenario(theatre.ability()).step.len();
    let mut press =
        Press { theatre, parallel, stop, until: Instant::now() + LONGEST, tried: 0, seen: BTreeSet::new() };
    let best = press.smaller(failure.clone(), tell).await;
    // What fails only now and then mostly lacks a step that waits; with it, less of the rest is needed.
    let best = match press.steadier(&best).await {
        Some(steady) => press.smaller(steady, tell).await,
        None => best,
    };
    let mut scenario = best.plan.scenario(theatre.ability());
    narrow(&mut scenario, &best.broken.promise);
    let rough = best.plan.is_rough();
    let (failed, broken) = counted(theatre, &scenario, rough, None, MEASURED, parallel).await;
    scenario.rounds = rounds(failed, MEASURED);
    Shrunk {
        scenario,
        broken: broken.unwrap_or(best.broken),
        failed,
        trials: MEASURED,
        tried: press.tried,
        steps_before,
    }
}

/// What presses a failure together.
struct Press<'a> {
    theatre: &'a Theatre,
    parallel: usize,
    stop: watch::Receiver<bool>,
    until: Instant,
    tried: u32,
    seen: BTreeSet<String>,
}

impl Press<'_> {
    async fn trials(&self, plan: &Plan, promise: Option<&str>, count: u32) -> (u32, Option<Broken>) {
        let scenario = plan.scenario(self.theatre.ability());
        counted(self.theatre, &scenario, plan.is_rough(), promise, count, self.parallel).await
    }

    fn is_over(&mut self) -> bool {
        *self.stop.borrow_and_update() || Instant::now() >= self.until
    }

    /// The smallest plan that still fails.
    async fn smaller(&mut self, mut best: Failure, tell: &mut (dyn FnMut(usize, u32) + Send)) -> Failure {
        let ability = self.theatre.ability();
        let steps = |plan: &Plan| plan.scenario(ability).step.len();
        let (first, _) = self.trials(&best.plan, None, MEASURED / 2).await;
        // What fails each time must go on to; what fails now and then must at least do so again.
        let needed = if first >= MEASURED / 2 { TRIALS } else { 1 };
        'smaller: loop {
            for candidate in candidates(&best.plan) {
                if self.is_over() {
                    break 'smaller;
                }
                if candidate.jobs() == 0 {
                    continue;
                }
                let scenario = candidate.scenario(ability);
                let text = super::write::plain(&scenario);
                if scenario.step.len() > steps(&best.plan) || !self.seen.insert(text) {
                    continue;
                }
                self.tried += 1;
                let promise = best.broken.promise.clone();
                let (failed, broken) = self.trials(&candidate, Some(&promise), TRIALS).await;
                if let Some(broken) = broken.filter(|_| failed >= needed) {
                    best = Failure { plan: candidate, broken };
                    tell(steps(&best.plan), self.tried);
                    continue 'smaller;
                }
            }
            break;
        }
        best
    }

    /// The same plan with one more wait in it, where it fails more surely so.
    async fn steadier(&mut self, best: &Failure) -> Option<Failure> {
        let (now, _) = self.trials(&best.plan, Some(&best.broken.promise), MEASURED).await;
        if now + 1 >= MEASURED {
            return None;
        }
        let before = best.plan.scenario(self.theatre.ability()).step.len();
        for at in 1..=best.plan.moves.len() {
            for wait in [Move::Finish { job: 0 }, Move::Settle { job: 0 }] {
                if self.is_over() {
                    return None;
                }
                let mut plan = best.plan.clone();
                plan.moves.insert(at, wait);
                if plan.scenario(self.theatre.ability()).step.len() == before {
                    continue;
                }
                self.tried += 1;
                let (failed, broken) = self.trials(&plan, Some(&best.broken.promise), MEASURED).await;
                if let Some(broken) = broken.filter(|_| failed + 1 >= MEASURED && failed > now) {
                    return Some(Failure { plan, broken });
                }
            }
        }
        None
    }
}

/// Rounds in which a failure of this frequency all but surely shows.
fn rounds(failed: u32, of: u32) -> u32 {
    if failed == 0 {
        return 1;
    }
    // Half a trial less than seen: a few trials promise more than they keep.
    let chance = (f64::from(failed) - 0.5) / f64::from(of);
    let needed = (MISSES.ln() / -(1.0 - chance).ln()).ceil().clamp(1.0, MOST_ROUNDS);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 1 and 40")]
    let needed = needed as u32;
    needed
}

/// Takes out what is demanded besides the promise that broke.
fn narrow(scenario: &mut Scenario, promise: &str) {
    let all = std::mem::take(&mut scenario.invariants);
    let kept = |name: &str| promise == name;
    scenario.invariants = Invariants {
        // A wider bound replaces a law that holds otherwise, so it stays.
        effects: all.effects,
        winners: all.winners.filter(|_| kept("winners")),
        result_of_winner: all.result_of_winner && kept("result-of-winner"),
        decided_once: all.decided_once && kept("decided-once"),
        cancelled_had_no_effect: all.cancelled_had_no_effect && kept("cancelled-had-no-effect"),
        identity: all.identity && kept("identity"),
        ..Invariants::default()
    };
    let expected = promise.strip_prefix("expect:");
    for step in &mut scenario.step {
        if step.id.as_deref() != expected {
            step.expect = None;
        }
    }
    let demands = scenario.step.iter().any(|step| step.expect.is_some() || step.until.is_some());
    if scenario.invariants == Invariants::default() && !demands {
        // The law that broke needs no naming, and a scenario that demands nothing is none.
        scenario.invariants.jobs =
            Some(crate::scenario::Bounds { max: Some(1), ..crate::scenario::Bounds::default() });
    }
}

/// How many of some trials broke the promise, and what the last of them said.
async fn counted(
    theatre: &Theatre,
    scenario: &Scenario,
    rough: bool,
    promise: Option<&str>,
    count: u32,
    parallel: usize,
) -> (u32, Option<Broken>) {
    let kind = |name: &str| name.split(':').next().unwrap_or_default().to_owned();
    let mut failed = 0;
    let mut last = None;
    for broken in several(theatre, scenario, rough, count, parallel).await.into_iter().flatten() {
        if promise.is_none_or(|promise| kind(promise) == kind(&broken.promise)) {
            failed += 1;
            last = Some(broken);
        }
    }
    (failed, last)
}

/// What broke in each of several trials.
async fn several(
    theatre: &Theatre,
    scenario: &Scenario,
    rough: bool,
    count: u32,
    parallel: usize,
) -> Vec<Option<Broken>> {
    let mut tasks = JoinSet::new();
    let mut outcomes = Vec::new();
    for _ in 0..count {
        if tasks.len() >= parallel.max(1) {
            outcomes.extend(tasks.join_next().await);
        }
        let (theatre, scenario) = (theatre.clone(), scenario.clone());
        tasks.spawn(async move { theatre.stage(&scenario, rough).await });
    }
    outcomes.extend(tasks.join_all().await.into_iter().map(Ok));
    // A trial that could not be played shows nothing.
    outcomes.into_iter().map(|tried| tried.ok()?.ok()?.broken).collect()
}

/// Plans that are a little smaller, the boldest first.
fn candidates(plan: &Plan) -> Vec<Plan> {
    let count = plan.moves.len();
    let mut all = Vec::new();
    let mut length = count / 2;
    while length > 0 {
        for from in 0..=count - length {
            let mut moves = plan.moves.clone();
            moves.drain(from..from + length);
            all.push(Plan { moves, ..plan.clone() });
        }
        length /= 2;
    }
    if plan.two {
        all.push(Plan { two: false, ..plan.clone() });
    }
    for (at, what) in plan.moves.iter().enumerate() {
        all.extend(simpler(what).into_iter().map(|simple| {
            let mut moves = plan.moves.clone();
            moves[at] = simple;
            Plan { moves, ..plan.clone() }
        }));
    }
    all
}

/// The same move with less in it.
fn simpler(what: &Move) -> Vec<Move> {
    match what {
        Move::Submit(submit) => {
            let mut all = Vec::new();
            let mut push = |changed: super::moves::Submit| {
                if changed != *submit {
                    all.push(Move::Submit(changed));
                }
            };
            push(super::moves::Submit { times: 1, ..submit.clone() });
            push(super::moves::Submit { times: submit.times.min(2), ..submit.clone() });
            push(super::moves::Submit { invalid_first: false, ..submit.clone() });
            push(super::moves::Submit { race: false, ..submit.clone() });
            push(super::moves::Submit { by: Entry::Plain, ..submit.clone() });
            push(super::moves::Submit { then: vec![Manner::Succeed], ..submit.clone() });
            push(super::moves::Submit { then: submit.then[..1].to_vec(), ..submit.clone() });
            if let Some(first) = submit.then.first().filter(|first| first.nature() == Nature::Stuck) {
                for manner in [Manner::Swallow, Manner::EffectThenError].iter().filter(|m| *m != first) {
                    push(super::moves::Submit { then: vec![*manner], ..submit.clone() });
                }
            }
            all
        }
        Move::Again { job, times, together, by } if *times > 1 => vec![
            Move::Again { job: *job, times: 1, together: false, by: *by },
            Move::Again { job: *job, times: *times - 1, together: *together, by: *by },
        ],
        Move::Read { job, by: Looker::SecondReplica } => vec![Move::Read { job: *job, by: Looker::Owner }],
        Move::Retry { job, fallback, then } => {
            let mut all = Vec::new();
            if *fallback {
                all.push(Move::Retry { job: *job, fallback: false, then: *then });
            }
            if *then != Manner::Succeed {
                all.push(Move::Retry { job: *job, fallback: *fallback, then: Manner::Succeed });
            }
            all
        }
        Move::Deliver { job, times, together, signed } if *times > 1 => vec![
            Move::Deliver { job: *job, times: 1, together: false, signed: *signed },
            Move::Deliver { job: *job, times: *times - 1, together: *together, signed: *signed },
        ],
        Move::ReleaseAll { job, reverse, at_once: true } => {
            vec![Move::ReleaseAll { job: *job, reverse: *reverse, at_once: false }]
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::Ability;

    #[test]
    fn what_fails_each_time_needs_few_rounds_and_what_fails_rarely_many() {
        assert!(rounds(8, 8) <= 3);
        assert!(rounds(4, 8) > rounds(7, 8));
        assert_eq!(rounds(0, 8), 1);
        assert!(rounds(1, 8) <= 40);
    }

    #[test]
    fn candidates_are_smaller_or_simpler_and_never_the_plan_itself() {
        let ability = Ability::of(&crate::target::reference().expect("the built-in target"), true);
        for index in 0..100 {
            let plan = Plan::of(5, index, &ability);
            for candidate in candidates(&plan) {
                assert_ne!(candidate, plan);
                assert!(candidate.moves.len() <= plan.moves.len());
            }
        }
    }
}
