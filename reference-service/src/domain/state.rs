use super::wire_enum::wire_enum;

wire_enum! {
    /// Where a job is. The last three never change again.
    pub enum JobState {
        /// Waiting for a worker, for its time, or for somebody to start an attempt.
        Queued => "queued",
        /// An attempt is being carried out.
        Running => "running",
        /// Nobody knows whether the effect happened. Blocks every new attempt of an exclusive job.
        Unknown => "unknown",
        /// Decided: one attempt wrote the result.
        Succeeded => "succeeded",
        /// Decided: definitely not done, and nobody will try again.
        Failed => "failed",
        /// Decided: called off.
        Cancelled => "cancelled",
    }
}

impl JobState {
    /// Whether the job is decided for ever.
    #[must_use]
    pub const fn is_terminal(self) -> bool {
        matches!(self, Self::Succeeded | Self::Failed | Self::Cancelled)
    }
}

wire_enum! {
    /// Where one attempt is.
    pub enum AttemptState {
        /// Recorded, and the provider not called yet.
        Starting => "starting",
        /// The effect may have started: the write-ahead mark is committed.
        Running => "running",
        /// Came home with the result that the job carries.
        Succeeded => "succeeded",
        /// Definitely had no effect.
        Failed => "failed",
        /// The effect may have happened.
        Unknown => "unknown",
        /// Called off from outside.
        Cancelled => "cancelled",
        /// Another attempt decided the job, or a fresh acquisition replaced this one.
        Superseded => "superseded",
    }
}

impl AttemptState {
    /// Whether the attempt may still come home: exactly these block a new attempt of an exclusive job.
    #[must_use]
    pub const fn is_live(self) -> bool {
        matches!(self, Self::Starting | Self::Running | Self::Unknown)
    }
}

wire_enum! {
    /// How many attempts a job may have out at once.
    pub enum Mode {
        /// One live attempt. The default: the work has side effects.
        Exclusive => "exclusive",
        /// Several live attempts, the first home wins. For work without side effects.
        Race => "race",
    }
}

wire_enum! {
    /// What became of the wish to cancel a job.
    pub enum Cancel {
        /// Nobody asked.
        None => "none",
        /// Asked after the effect had started: the first terminal write decides.
        Requested => "requested",
        /// Asked, but the job was decided otherwise.
        TooLate => "too_late",
        /// The job was cancelled.
        Done => "done",
    }
}

wire_enum! {
    /// Why a person should look at a job. Raising it never changes what the job is.
    pub enum Attention {
        /// The last attempt was ended from outside; the next one is a deliberate act.
        AwaitingAttempt => "awaiting-attempt",
        /// The outcome has been unknown for longer than the service expects.
        UnknownOverdue => "unknown-overdue",
    }
}
