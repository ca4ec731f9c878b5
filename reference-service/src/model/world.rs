use crate::domain::{AttemptState, Attention, Job, JobState, Mode};

use super::{Promise, Reply};

/// Attempts that a job may make in the model.
pub(crate) const MOST_ATTEMPTS: usize = 3;

/// Workers; they are alike, so the first free one takes what is to be done.
pub(crate) const WORKERS: usize = 2;

/// What is possible in a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Setup {
    /// For tables.
    pub(crate) name: &'static str,
    /// Of the one job.
    pub(crate) mode: Mode,
    /// Whether the provider recognises a reference that it has seen, and does nothing a second time.
    pub(crate) recognises: bool,
    /// Whether the provider also takes work up and reports later.
    pub(crate) accepts: bool,
    /// Crashes, standstills, lost messages, conflicts: as many in all.
    pub(crate) faults: u8,
    /// Wishes to cancel the job.
    pub(crate) cancels: u8,
    /// Deliberate acts: giving an attempt up, asking for another one.
    pub(crate) deliberate: u8,
}

/// Everything there is: what the database holds, what workers are at, and what is true outside.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct World {
    /// The row, once it is committed.
    pub(crate) job: Option<Job>,
    /// Whether the client was told of the job; until then it asks again.
    pub(crate) told: bool,
    /// What the database doesn't know of each attempt, in the order of their numbers.
    pub(crate) tries: Vec<Try>,
    /// Workers that stand still.
    pub(crate) asleep: [bool; WORKERS],
    /// Effects in the outside world.
    pub(crate) effects: u8,
    /// The provider said that it has seen the work before.
    pub(crate) seen_before: bool,
    /// Somebody gave up an effect that may have happened, with open eyes.
    pub(crate) risk_accepted: bool,
    /// What the decision was when the job was first decided.
    pub(crate) decided: Option<(JobState, i64, Option<i32>)>,
    /// Faults that may still happen.
    pub(crate) faults: u8,
    /// Wishes to cancel that may still come.
    pub(crate) cancels: u8,
    /// Deliberate acts that may still come.
    pub(crate) deliberate: u8,
    /// The promise that broke on the way here; nothing is explored beyond.
    pub(crate) broke: Option<Promise>,
}

/// One attempt, outside the database.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Try {
    /// The worker that still cares for it.
    pub(crate) worker: Option<usize>,
    /// How far that worker is.
    pub(crate) stage: Stage,
    /// The deadline has passed; an answer is still listened to.
    pub(crate) gave_up: bool,
    /// Where the call is.
    pub(crate) wire: Wire,
    /// The answer on its way back.
    pub(crate) reply: Option<Reply>,
    /// Whether the effect happened.
    pub(crate) effect: bool,
    /// Callbacks that the provider has yet to deliver: it sends each event, and one of them again.
    pub(crate) callbacks: u8,
}

/// How far a worker is with an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Stage {
    /// Recorded because somebody asked; no worker has it.
    Asked,
    /// A worker has it.
    Held,
    /// The write-ahead mark is committed.
    Marked,
    /// The call has left.
    Sent,
    /// The worker is done with it.
    Over,
}

/// Where a call is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Wire {
    /// Not sent.
    None,
    /// On its way; may yet arrive.
    Transit,
    /// Taken up, and the provider is at it.
    Pending,
    /// Dealt with, or lost for good.
    Gone,
}

impl Try {
    /// A new attempt.
    pub(crate) fn new(worker: Option<usize>) -> Self {
        Self {
            worker,
            stage: if worker.is_some() { Stage::Held } else { Stage::Asked },
            gave_up: false,
            wire: Wire::None,
            reply: None,
            effect: false,
            callbacks: 0,
        }
    }

    /// Whether the effect happened or may yet happen.
    pub(crate) fn may_have_effect(&self) -> bool {
        self.effect || matches!(self.wire, Wire::Transit | Wire::Pending)
    }

    /// Whether a call may still turn up at the provider. "Not found" says nothing before that is over: this is what a
    /// provider's declared latency means, and the model takes it at its word.
    pub(crate) fn may_turn_up(&self) -> bool {
        self.wire == Wire::Transit
            || self.worker.is_some() && matches!(self.stage, Stage::Held | Stage::Marked)
    }
}

impl World {
    /// Before anything happened.
    pub(crate) fn first(setup: &Setup) -> Self {
        Self {
            job: None,
            told: false,
            tries: Vec::new(),
            asleep: [false; WORKERS],
            effects: 0,
            seen_before: false,
            risk_accepted: false,
            decided: None,
            faults: setup.faults,
            cancels: setup.cancels,
            deliberate: setup.deliberate,
            broke: None,
        }
    }

    /// The attempt of that number.
    pub(crate) fn of(&self, number: i32) -> &Try {
        &self.tries[usize::try_from(number - 1).expect("attempts are numbered from 1")]
    }

    /// The same, to change it.
    pub(crate) fn of_mut(&mut self, number: i32) -> &mut Try {
        &mut self.tries[usize::try_from(number - 1).expect("attempts are numbered from 1")]
    }

    /// Every number given so far.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = i32> + use<> {
        1..=i32::try_from(self.tries.len()).expect("a handful of attempts")
    }

    /// Where an attempt is by the database.
    pub(crate) fn state_of(&self, number: i32) -> Option<AttemptState> {
        self.job.as_ref()?.attempt(number).map(|attempt| attempt.state)
    }

    /// Whether it is in that state by the database.
    pub(crate) fn is_in(&self, number: i32, state: AttemptState) -> bool {
        self.state_of(number) == Some(state)
    }

    /// Whether the worker that cares for the attempt is there and moves.
    pub(crate) fn is_attended(&self, number: i32) -> bool {
        self.of(number).worker.is_some_and(|worker| !self.asleep[worker])
    }

    /// The worker that would take up something new.
    pub(crate) fn free_worker(&self) -> Option<usize> {
        (0..WORKERS).find(|worker| {
            let busy = |one: &Try| one.worker == Some(*worker) && one.stage != Stage::Over && !one.gave_up;
            !self.asleep[*worker] && !self.tries.iter().any(busy)
        })
    }

    /// Whether the job has come to where nothing has to happen any more by itself: decided, or it waits for a person
    /// and says so.
    pub(crate) fn is_settled(&self) -> bool {
        self.job
            .as_ref()
            .is_none_or(|job| job.state.is_terminal() || job.attention == Some(Attention::AwaitingAttempt))
    }

    /// Whether the job wants an attempt more than the model has room for.
    pub(crate) fn is_at_the_edge(&self) -> bool {
        self.tries.len() == MOST_ATTEMPTS
            && self.job.as_ref().is_some_and(|job| job.state == JobState::Queued)
    }

    /// The same world without what makes no difference: which of two like workers is which.
    pub(crate) fn same_for_all(mut self) -> Self {
        if self.tries.iter().find_map(|one| one.worker) == Some(1) {
            for worker in self.tries.iter_mut().filter_map(|one| one.worker.as_mut()) {
                *worker = 1 - *worker;
            }
            self.asleep.swap(0, 1);
        }
        self
    }

    /// Falls with every step that is no fault: without faults nothing goes on for ever.
    pub(crate) fn left_to_do(&self) -> usize {
        // More than all that one attempt can have left.
        const ATTEMPT: usize = 40;
        let of_try = |one: &Try| {
            let stage = match one.stage {
                Stage::Asked => 4,
                Stage::Held => 3,
                Stage::Marked => 2,
                Stage::Sent => 1,
                Stage::Over => 0,
            };
            let wire = match one.wire {
                Wire::None => 3,
                Wire::Transit => 2,
                Wire::Pending => 1,
                Wire::Gone => 0,
            };
            let on_its_way = matches!(one.wire, Wire::None | Wire::Transit);
            let answer = if on_its_way { 1 } else { usize::from(one.reply.is_some()) };
            let callbacks = if one.wire == Wire::Gone { usize::from(one.callbacks) } else { 2 };
            stage * 2 + wire * 2 + answer + callbacks + usize::from(!one.gave_up && one.stage != Stage::Over)
        };
        let of_state = |state: AttemptState| match state {
            AttemptState::Starting => 3,
            AttemptState::Running => 2,
            AttemptState::Unknown => 1,
            _ => 0,
        };
        let tries: usize = self.tries.iter().map(of_try).sum();
        let states: usize = self.job.iter().flat_map(|job| &job.attempts).map(|a| of_state(a.state)).sum();
        (MOST_ATTEMPTS - self.tries.len()) * ATTEMPT
            + tries
            + states
            + usize::from(!self.told)
            + self.asleep.iter().filter(|asleep| **asleep).count()
    }
}
