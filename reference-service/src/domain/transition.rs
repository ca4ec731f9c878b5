//! The state machine: each function takes a job as it is and gives the job as it is afterwards, or says why not.
//!
//! ```text
//!   queued ──start──▶ running ──deadline, lapse──▶ unknown
//!     ▲                  │                            │
//!     └──failed, retry───┤                            ├── own late report, callback, probe, operator
//!     └──lapse, early────┤                            │
//!                        ▼                            ▼
//!              succeeded | failed | cancelled  (terminal, for ever)
//! ```

use super::{AttemptState, Attention, Cancel, Job, JobState, Mode};
use crate::domain::Attempt;

/// Why a new attempt is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StartRefusal {
    /// An earlier attempt is `starting` or `running`.
    Live(i32),
    /// The outcome of an earlier attempt is unknown.
    Unknown(i32),
    /// The job is decided.
    Terminal,
    /// Only a deliberate act may start the next attempt, and this was not one.
    Awaiting,
}

/// Starts an attempt because somebody asked for one.
pub fn start(job: &Job) -> Result<Job, StartRefusal> {
    if job.state.is_terminal() {
        return Err(StartRefusal::Terminal);
    }
    if job.mode == Mode::Exclusive
        && let Some(live) = job.live().next()
    {
        return Err(match live.state {
            AttemptState::Unknown => StartRefusal::Unknown(live.number),
            _ => StartRefusal::Live(live.number),
        });
    }
    let mut next = job.clone();
    next.attempts.push(Attempt {
        number: job.next_number(),
        state: AttemptState::Starting,
        job_version: job.version,
        effect_started: false,
    });
    next.attention = None;
    next.settle_state();
    Ok(next)
}

/// Starts an attempt because a worker found the job in the queue.
pub fn pick_up(job: &Job) -> Result<Job, StartRefusal> {
    match (job.state, job.attention) {
        (JobState::Queued, Some(Attention::AwaitingAttempt)) => Err(StartRefusal::Awaiting),
        (JobState::Queued, _) => start(job),
        (state, _) if state.is_terminal() => Err(StartRefusal::Terminal),
        _ => match job.live().next() {
            Some(live) if live.state == AttemptState::Unknown => Err(StartRefusal::Unknown(live.number)),
            live => Err(StartRefusal::Live(live.map_or(0, |attempt| attempt.number))),
        },
    }
}

/// The attempt was decided over, so what it brings counts for nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Discarded {
    /// The version that the attempt had read.
    pub read: i64,
    /// The version of the job now.
    pub now: i64,
}

fn fence(job: &Job, number: i32, read: i64) -> Result<(), Discarded> {
    let live = job.attempt(number).is_some_and(|attempt| attempt.state.is_live());
    if live && job.version == read && job.completed_by.is_none() && !job.state.is_terminal() {
        Ok(())
    } else {
        Err(Discarded { read, now: job.version })
    }
}

/// Commits the write-ahead mark: from here on the provider may have been called.
pub fn mark_effect(job: &Job, number: i32) -> Result<Job, Discarded> {
    let read = job.attempt(number).map_or(0, |attempt| attempt.job_version);
    fence(job, number, read)?;
    let mut next = job.clone();
    match next.attempt_mut(number) {
        Some(attempt) if attempt.state == AttemptState::Starting => {
            attempt.state = AttemptState::Running;
            attempt.effect_started = true;
            Ok(next)
        }
        _ => Err(Discarded { read, now: job.version }),
    }
}

/// The compare-and-swap: writes the result if nobody decided since `read`.
pub fn succeed(job: &Job, number: i32, read: i64) -> Result<Job, Discarded> {
    fence(job, number, read)?;
    let mut next = job.clone();
    next.state = JobState::Succeeded;
    next.completed_by = Some(number);
    next.version += 1;
    next.attention = None;
    if next.cancel == Cancel::Requested {
        next.cancel = Cancel::TooLate;
    }
    if let Some(attempt) = next.attempt_mut(number) {
        attempt.state = AttemptState::Succeeded;
    }
    next.supersede_others(Some(number));
    Ok(next)
}

/// The attempt definitely had no effect. `again` is whether policy wants another one.
pub fn fail(job: &Job, number: i32, read: i64, again: bool) -> Result<Job, Discarded> {
    fence(job, number, read)?;
    let mut next = job.clone();
    if let Some(attempt) = next.attempt_mut(number) {
        attempt.state = AttemptState::Failed;
    }
    if next.live().next().is_some() {
        next.settle_state();
    } else if next.cancel == Cancel::Requested {
        cancel_now(&mut next);
    } else if again {
        next.settle_state();
    } else {
        next.state = JobState::Failed;
        next.version += 1;
        next.attention = None;
    }
    Ok(next)
}

/// The deadline passed without an answer: the effect may have happened.
pub fn lose_track(job: &Job, number: i32, read: i64) -> Result<Job, Discarded> {
    fence(job, number, read)?;
    let mut next = job.clone();
    match next.attempt_mut(number) {
        Some(attempt) if attempt.state == AttemptState::Running => attempt.state = AttemptState::Unknown,
        _ => return Err(Discarded { read, now: job.version }),
    }
    next.settle_state();
    Ok(next)
}

/// What a lapsed lease means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lapse {
    /// Nothing was sent: back to the queue.
    Requeued(Job),
    /// The provider may have been called.
    Unknown(Job),
    /// The attempt was no longer held by anyone.
    Nothing,
}

/// The lease of an attempt ran out: its worker died, stands still, or lost the database.
#[must_use]
pub fn lapse(job: &Job, number: i32) -> Lapse {
    let Some(attempt) = job.attempt(number) else { return Lapse::Nothing };
    if job.state.is_terminal() {
        return Lapse::Nothing;
    }
    match attempt.state {
        AttemptState::Starting if !attempt.effect_started => {
            let mut next = job.clone();
            if let Some(attempt) = next.attempt_mut(number) {
                attempt.state = AttemptState::Superseded;
            }
            next.bump();
            next.settle_state();
            Lapse::Requeued(next)
        }
        AttemptState::Running => lose_track(job, number, job.version).map_or(Lapse::Nothing, Lapse::Unknown),
        _ => Lapse::Nothing,
    }
}

fn cancel_now(next: &mut Job) {
    for attempt in &mut next.attempts {
        if attempt.state.is_live() {
            attempt.state = AttemptState::Cancelled;
        }
    }
    next.state = JobState::Cancelled;
    next.cancel = Cancel::Done;
    next.attention = None;
    next.version += 1;
}

/// What a wish to cancel leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CancelOutcome {
    /// The job is cancelled.
    Cancelled(Job),
    /// The effect may already be under way: noted, and the first terminal write decides.
    Requested(Job),
    /// It was cancelled before.
    Already,
    /// The outcome is unknown, and the caller did not accept that the effect may have happened.
    Unknown,
    /// The job is decided otherwise.
    Terminal,
}

/// Cancels a job, as far as its state allows.
#[must_use]
pub fn cancel_job(job: &Job, accept_unknown_effect: bool) -> CancelOutcome {
    let mut next = job.clone();
    match job.state {
        JobState::Cancelled => CancelOutcome::Already,
        JobState::Succeeded | JobState::Failed => CancelOutcome::Terminal,
        JobState::Unknown if !accept_unknown_effect => CancelOutcome::Unknown,
        JobState::Running if job.live().any(|attempt| attempt.effect_started) => {
            next.cancel = Cancel::Requested;
            CancelOutcome::Requested(next)
        }
        JobState::Queued | JobState::Running | JobState::Unknown => {
            cancel_now(&mut next);
            CancelOutcome::Cancelled(next)
        }
    }
}

/// Why an attempt can't be cancelled from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AttemptCancelRefusal {
    /// The job has no attempt of that number.
    NoSuchAttempt,
    /// The job is decided.
    Terminal,
    /// The attempt is over.
    Over(AttemptState),
    /// The provider is being called right now; only when its outcome is unknown may somebody give it up.
    UnderWay,
}

/// Gives an attempt up from outside. Whatever it brings home later is stale.
pub fn cancel_attempt(job: &Job, number: i32) -> Result<Job, AttemptCancelRefusal> {
    let attempt = job.attempt(number).ok_or(AttemptCancelRefusal::NoSuchAttempt)?;
    if job.state.is_terminal() {
        return Err(AttemptCancelRefusal::Terminal);
    }
    match (attempt.state, job.mode) {
        (AttemptState::Starting | AttemptState::Unknown, _) | (AttemptState::Running, Mode::Race) => {}
        (AttemptState::Running, Mode::Exclusive) => return Err(AttemptCancelRefusal::UnderWay),
        (state, _) => return Err(AttemptCancelRefusal::Over(state)),
    }
    let mut next = job.clone();
    if let Some(attempt) = next.attempt_mut(number) {
        attempt.state = AttemptState::Cancelled;
    }
    next.bump();
    end_from_outside(&mut next);
    Ok(next)
}

fn end_from_outside(next: &mut Job) {
    next.settle_state();
    if next.state == JobState::Queued {
        if next.cancel == Cancel::Requested {
            next.state = JobState::Cancelled;
            next.cancel = Cancel::Done;
        } else {
            next.attention = Some(Attention::AwaitingAttempt);
        }
    }
}

/// What somebody found out about an attempt whose outcome was unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Evidence {
    /// The effect happened.
    Succeeded,
    /// The provider took the request up and definitely failed.
    Failed,
    /// The provider never executed it; `again` is whether policy has attempts left.
    NotExecuted {
        /// Whether policy has attempts left.
        again: bool,
    },
}

/// Why evidence is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ResolveRefusal {
    /// The job has no attempt of that number.
    NoSuchAttempt,
    /// The job is decided.
    Terminal,
    /// The outcome of the attempt is not unknown.
    NotUnknown(AttemptState),
}

/// Ends an unknown attempt by evidence.
pub fn resolve(job: &Job, number: i32, evidence: Evidence) -> Result<Job, ResolveRefusal> {
    let attempt = job.attempt(number).ok_or(ResolveRefusal::NoSuchAttempt)?;
    if job.state.is_terminal() {
        return Err(ResolveRefusal::Terminal);
    }
    if attempt.state != AttemptState::Unknown {
        return Err(ResolveRefusal::NotUnknown(attempt.state));
    }
    let mut next = job.clone();
    match evidence {
        Evidence::Succeeded => {
            return succeed(job, number, attempt.job_version).map_err(|_| ResolveRefusal::Terminal);
        }
        Evidence::Failed => {
            if let Some(attempt) = next.attempt_mut(number) {
                attempt.state = AttemptState::Failed;
            }
            next.bump();
            next.settle_state();
            if next.state == JobState::Queued {
                next.state = JobState::Failed;
                next.attention = None;
                if next.cancel == Cancel::Requested {
                    next.cancel = Cancel::TooLate;
                }
            }
        }
        Evidence::NotExecuted { again } => {
            if let Some(attempt) = next.attempt_mut(number) {
                attempt.state = AttemptState::Failed;
            }
            next.bump();
            if again && next.cancel != Cancel::Requested {
                next.settle_state();
            } else {
                end_from_outside(&mut next);
            }
        }
    }
    Ok(next)
}

#[cfg(test)]
#[path = "transition_tests.rs"]
mod tests;
