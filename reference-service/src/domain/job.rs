use super::{AttemptState, Attention, Cancel, JobState, Mode};

/// What the rules need to know of an attempt.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Attempt {
    /// 1 for the first attempt of the job.
    pub number: i32,
    /// Where the attempt is.
    pub state: AttemptState,
    /// The version of the job that the attempt read when it started: its fence.
    pub job_version: i64,
    /// Whether the write-ahead mark is committed, so that the provider may have been called.
    pub effect_started: bool,
}

/// What the rules need to know of a job.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Job {
    /// Where the job is.
    pub state: JobState,
    /// Starts at 1 and grows with every decision that makes earlier attempts stale.
    pub version: i64,
    /// The attempt that wrote the result.
    pub completed_by: Option<i32>,
    /// How many attempts may be out.
    pub mode: Mode,
    /// What became of the wish to cancel.
    pub cancel: Cancel,
    /// Why a person should look.
    pub attention: Option<Attention>,
    /// In the order of their numbers.
    pub attempts: Vec<Attempt>,
}

impl Job {
    /// A job that was just created.
    #[must_use]
    pub fn new(mode: Mode) -> Self {
        Self {
            state: JobState::Queued,
            version: 1,
            completed_by: None,
            mode,
            cancel: Cancel::None,
            attention: None,
            attempts: Vec::new(),
        }
    }

    /// The attempt of that number.
    #[must_use]
    pub fn attempt(&self, number: i32) -> Option<&Attempt> {
        self.attempts.iter().find(|attempt| attempt.number == number)
    }

    /// Attempts that may still come home.
    pub fn live(&self) -> impl Iterator<Item = &Attempt> {
        self.attempts.iter().filter(|attempt| attempt.state.is_live())
    }

    /// The number that the next attempt gets.
    #[must_use]
    pub fn next_number(&self) -> i32 {
        self.attempts.iter().map(|attempt| attempt.number).max().unwrap_or(0) + 1
    }

    pub(super) fn attempt_mut(&mut self, number: i32) -> Option<&mut Attempt> {
        self.attempts.iter_mut().find(|attempt| attempt.number == number)
    }

    /// Moves every other live attempt out of the way of `winner`.
    pub(super) fn supersede_others(&mut self, winner: Option<i32>) {
        for attempt in &mut self.attempts {
            if Some(attempt.number) != winner && attempt.state.is_live() {
                attempt.state = AttemptState::Superseded;
            }
        }
    }

    /// Bumps the version, which makes an attempt that was ended stale, and takes the attempts that are still
    /// wanted along: in a race, ending one of them must not fence off the others.
    pub(super) fn bump(&mut self) {
        self.version += 1;
        let version = self.version;
        for attempt in &mut self.attempts {
            if attempt.state.is_live() {
                attempt.job_version = version;
            }
        }
    }

    /// The state of an undecided job follows from its attempts.
    pub(super) fn settle_state(&mut self) {
        let running =
            self.attempts.iter().any(|a| matches!(a.state, AttemptState::Starting | AttemptState::Running));
        let unknown = self.attempts.iter().any(|a| a.state == AttemptState::Unknown);
        self.state = match (running, unknown) {
            (true, _) => JobState::Running,
            (false, true) => JobState::Unknown,
            (false, false) => JobState::Queued,
        };
        if self.state != JobState::Unknown && self.attention == Some(Attention::UnknownOverdue) {
            self.attention = None;
        }
    }
}
