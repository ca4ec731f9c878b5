//! What a plan is made of. A move names what is done and to which job; [`super::draft`] turns it into steps, with the
//! expectations that are sure at that point, or leaves it out where it makes no sense.

use serde::Serialize;

/// One thing that somebody does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) enum Move {
    /// A new intent.
    Submit(Submit),
    /// The same intent once more.
    Again { job: usize, times: u32, together: bool, by: Entry },
    /// The same intent, its payload spelled another way.
    Respelled { job: usize },
    /// The same key for something else.
    Conflict { job: usize, how: Other },
    /// Somebody else with the same key, or a key that is nearly the same.
    Twin { job: usize, how: Twin },
    /// A payload that two readers would understand differently.
    Ambiguous { how: Ambiguity },
    /// A look at a job.
    Read { job: usize, by: Looker },
    /// A look by key.
    Lookup { job: usize },
    /// Wait until the outcome is unknown.
    Settle { job: usize },
    /// Wait until somebody's attention is asked for.
    Overdue { job: usize },
    /// Wait until the job is decided.
    Finish { job: usize },
    /// Ask for a further attempt.
    Retry { job: usize, fallback: bool, then: Manner },
    /// Call a job off.
    Cancel { job: usize, accept: bool, match_: Precondition },
    /// Give up an attempt of unknown outcome.
    GiveUp { job: usize },
    /// Tell the outcome of an attempt.
    Resolve { job: usize, outcome: Outcome },
    /// Let a held call go: of the attempt that is out, or of one that was given up.
    Release { job: usize, stale: bool },
    /// Let all held calls go.
    ReleaseAll { job: usize, reverse: bool, at_once: bool },
    /// Deliver the provider's callback.
    Deliver { job: usize, times: u32, together: bool, signed: Signed },
    /// Break something.
    Break { what: Trouble },
}

/// A new intent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Submit {
    /// How many requests; more than one at the same moment.
    pub(super) times: u32,
    /// The way in.
    pub(super) by: Entry,
    /// Several attempts may be out.
    pub(super) race: bool,
    /// An invalid request with the same key comes first.
    pub(super) invalid_first: bool,
    /// What becomes of the attempts that the service starts on its own, in their order.
    pub(super) then: Vec<Manner>,
}

/// A way in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(super) enum Entry {
    Plain,
    Batch,
    /// To be started in a minute, which no plan waits for.
    Scheduled,
}

/// What the same key is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(super) enum Other {
    Payload,
    Query,
}

/// Who or what is nearly the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(super) enum Twin {
    Owner,
    LetterCase,
}

/// How a payload is ambiguous.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(super) enum Ambiguity {
    BigNumber,
    MemberTwice,
}

/// Who looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(super) enum Looker {
    Owner,
    SecondReplica,
    Stranger,
}

/// What becomes of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(super) enum Manner {
    Succeed,
    Slow,
    Fail,
    FailForNow,
    Hold,
    HoldFail,
    Swallow,
    Stall,
    Reset,
    Truncate,
    Garbage,
    EffectThenError,
    ServerError,
    Accept,
    Duplicate,
}

/// The version that a cancel is tied to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(super) enum Precondition {
    Current,
    Missing,
}

/// What an operator says of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(super) enum Outcome {
    Succeeded,
    Failed,
    NotExecuted,
}

/// How a callback is signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(super) enum Signed {
    Properly,
    NotAtAll,
    Forged,
    LongAgo,
}

/// What breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(super) enum Trouble {
    /// The service is killed and started again.
    Crash,
    /// The service is asked to end and started again.
    Restart,
    /// The service stands still, and goes on.
    Pause,
    /// The service's connections to its database end.
    Database,
    /// The next answer to a client is lost after it was made.
    Answer,
    /// The connection to the provider is cut in the middle.
    Provider,
}

/// What a manner means for the attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Nature {
    /// It will succeed by itself.
    Done,
    /// It will fail for good by itself.
    Over,
    /// It fails, and policy starts the next.
    Next,
    /// Nobody will tell how it ended.
    Stuck,
    /// It ends when the plan says so.
    Held,
    /// A callback will tell.
    Promised,
}

impl Manner {
    #[must_use]
    pub(super) const fn nature(self) -> Nature {
        match self {
            Self::Succeed | Self::Slow => Nature::Done,
            Self::Fail => Nature::Over,
            Self::FailForNow => Nature::Next,
            Self::Hold | Self::HoldFail => Nature::Held,
            Self::Accept => Nature::Promised,
            Self::Swallow
            | Self::Stall
            | Self::Reset
            | Self::Truncate
            | Self::Garbage
            | Self::EffectThenError
            | Self::ServerError
            | Self::Duplicate => Nature::Stuck,
        }
    }
}
