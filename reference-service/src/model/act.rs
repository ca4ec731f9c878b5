use super::Deed;

/// Something that happens. Numbers are those of attempts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Act {
    /// The client asks, and is answered.
    Submit,
    /// The client asks, and the answer is lost.
    SubmitUnanswered,
    /// A worker finds the job in the queue.
    PickUp,
    /// A worker takes an attempt that somebody asked for.
    Claim(i32),
    /// The worker commits the write-ahead mark.
    Mark(i32),
    /// The call leaves.
    Send(i32),
    /// The provider can't be connected to.
    CannotConnect(i32),
    /// The call is lost on its way.
    LoseCall(i32),
    /// The call arrives.
    Arrive(i32, Deed),
    /// Work that was accepted gets done.
    Finish(i32),
    /// The answer reaches the worker.
    Answer(i32),
    /// The answer vanishes without a trace.
    LoseAnswer(i32),
    /// The connection breaks, and the worker sees that.
    BreakAnswer(i32),
    /// The first brings its result home while the second wants to write its own: the database makes the second run
    /// again.
    Collide(i32, i32),
    /// The deadline of the attempt passes.
    Deadline(i32),
    /// The lease runs out.
    Lapse(i32),
    /// The reconciler asks the provider.
    Probe(i32),
    /// The provider delivers a callback.
    Callback(i32),
    /// Somebody delivers a callback with a signature of their own.
    Forge(i32),
    /// Somebody delivers a callback that was recorded long ago.
    Replay(i32),
    /// A worker dies, and a new one takes its place.
    Crash(usize),
    /// A worker stands still.
    Sleep(usize),
    /// It goes on as if nothing had been.
    Wake(usize),
    /// Somebody cancels the job; true: whatever the effect.
    Cancel(bool),
    /// Somebody gives an attempt up.
    GiveUp(i32),
    /// Somebody asks for another attempt.
    Start,
}

impl Act {
    /// Whether it is something that goes wrong, or that somebody outside wants. What is left happens by itself, and
    /// must lead somewhere.
    pub(crate) fn is_disturbance(self) -> bool {
        match self {
            Self::SubmitUnanswered
            | Self::CannotConnect(_)
            | Self::LoseCall(_)
            | Self::LoseAnswer(_)
            | Self::BreakAnswer(_)
            | Self::Collide(..)
            | Self::Forge(_)
            | Self::Replay(_)
            | Self::Crash(_)
            | Self::Sleep(_)
            | Self::Cancel(_)
            | Self::GiveUp(_)
            | Self::Start => true,
            Self::Submit
            | Self::PickUp
            | Self::Claim(_)
            | Self::Mark(_)
            | Self::Send(_)
            | Self::Arrive(..)
            | Self::Finish(_)
            | Self::Answer(_)
            | Self::Deadline(_)
            | Self::Lapse(_)
            | Self::Probe(_)
            | Self::Callback(_)
            | Self::Wake(_) => false,
        }
    }

    /// Whether it uses up one of the faults that a model allows.
    pub(crate) fn is_fault(self) -> bool {
        self.is_disturbance()
            && !matches!(
                self,
                Self::Forge(_) | Self::Replay(_) | Self::Cancel(_) | Self::GiveUp(_) | Self::Start
            )
    }
}
