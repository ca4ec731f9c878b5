//! What the maker of a plan may be sure of, whatever the machine's speed. Expectations come from here alone, so that a
//! plan never blames a service for something that the law allows.

use super::moves::{Entry, Manner, Nature};

/// What is sure about a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sure {
    /// It waits for a time that this plan doesn't live to see.
    Scheduled,
    /// Its attempt is out or on its way, and nothing can have decided it.
    Undecided,
    /// The outcome of its attempt is unknown, and was seen to be.
    Unknown,
    /// Its attempt was given up; the next one is a deliberate act.
    Parked,
    /// It will come to this state by itself.
    Coming(&'static str),
    /// It is decided, and was seen to be.
    Decided(&'static str),
    /// Nothing.
    Nothing,
}

/// An attempt's call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Call {
    /// Name of its rule.
    pub(super) name: String,
    /// What becomes of it.
    pub(super) manner: Manner,
    /// Number of the attempt.
    pub(super) attempt: u32,
}

/// What is believed of a job.
#[derive(Debug, Clone)]
pub(super) struct Job {
    /// The step that made it.
    pub(super) step: String,
    /// Name of its key.
    pub(super) key: String,
    /// Name of its payload.
    pub(super) payload: String,
    /// How it came in.
    pub(super) by: Entry,
    /// Several attempts may be out.
    pub(super) race: bool,
    /// What is sure.
    pub(super) sure: Sure,
    /// Calls that are out and may decide it.
    pub(super) out: Vec<Call>,
    /// Held calls of attempts that were given up, which must decide nothing.
    pub(super) stale: Vec<Call>,
    /// Attempts so far.
    pub(super) attempts: u32,
    /// Somebody wished to cancel it.
    pub(super) cancel_noted: bool,
    /// How often somebody took it upon himself that nothing had happened, or let several attempts race.
    pub(super) licences: u32,
}

impl Job {
    /// The newest call that is out.
    #[must_use]
    pub(super) fn newest(&self) -> Option<&Call> {
        self.out.last()
    }

    /// Whether its one attempt will be told to be unknown, or is.
    #[must_use]
    pub(super) fn becomes_unknown(&self) -> bool {
        let stays = |call: &Call| !matches!(call.manner.nature(), Nature::Done | Nature::Over | Nature::Next);
        !self.race && self.sure == Sure::Undecided && !self.out.is_empty() && self.out.iter().all(stays)
    }

    /// Calls that wait to be released.
    pub(super) fn held(&self) -> impl Iterator<Item = &Call> {
        self.out.iter().chain(&self.stale).filter(|call| call.manner.nature() == Nature::Held)
    }

    /// What an attempt's call makes of what is sure.
    pub(super) fn goes_out(&mut self, calls: Vec<Call>) {
        let Some(last) = calls.last() else { return };
        let nature = last.manner.nature();
        self.attempts = last.attempt;
        self.sure = match nature {
            // An earlier attempt's effect may be what it is a duplicate of, and then the provider vouches for it.
            Nature::Stuck if last.manner == Manner::Duplicate && last.attempt > 1 => Sure::Nothing,
            Nature::Done => Sure::Coming("succeeded"),
            Nature::Over => Sure::Coming("failed"),
            Nature::Next => Sure::Nothing,
            Nature::Stuck | Nature::Held | Nature::Promised => Sure::Undecided,
        };
        // With several out, another one may decide; what is sure is sure only if all of them wait.
        let waits =
            |call: &Call| matches!(call.manner.nature(), Nature::Stuck | Nature::Held | Nature::Promised);
        // Whether an attempt that failed is followed by another while one is still out is nothing that a race promises.
        let follows = calls.len() > 1 && !self.out.is_empty();
        self.out.extend(calls.into_iter().last());
        if self.race && (follows || nature != Nature::Done && !self.out.iter().all(waits)) {
            self.sure = Sure::Nothing;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(manner: Manner, attempt: u32) -> Call {
        Call { name: format!("call-{attempt}"), manner, attempt }
    }

    fn racing(out: Vec<Call>) -> Job {
        Job {
            step: "submit".to_owned(),
            key: "K1".to_owned(),
            payload: "P1".to_owned(),
            by: Entry::Plain,
            race: true,
            sure: Sure::Undecided,
            attempts: 1,
            out,
            stale: Vec::new(),
            cancel_noted: false,
            licences: 0,
        }
    }

    #[test]
    fn a_race_is_decided_by_an_attempt_that_succeeds_whatever_else_is_out() {
        let mut job = racing(vec![call(Manner::Hold, 1)]);
        job.goes_out(vec![call(Manner::Succeed, 2)]);
        assert_eq!(job.sure, Sure::Coming("succeeded"));
    }

    #[test]
    fn nothing_promises_that_a_failed_attempt_of_a_race_is_followed_while_another_is_out() {
        let mut job = racing(vec![call(Manner::Hold, 1)]);
        job.goes_out(vec![call(Manner::FailForNow, 2), call(Manner::Succeed, 3)]);
        assert_eq!(job.sure, Sure::Nothing);
        let mut alone = Job { race: false, ..racing(Vec::new()) };
        alone.goes_out(vec![call(Manner::FailForNow, 1), call(Manner::Succeed, 2)]);
        assert_eq!(
            alone.sure,
            Sure::Coming("succeeded"),
            "where nobody else is out, the next one is promised"
        );
    }
}
