//! One try at deciding a job, or one call that claims a key: when it was out, and what it came to.

/// What an attempt came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum End {
    /// It decided the job, or made the row of the key.
    Won,
    /// Somebody else had.
    Lost,
    /// It only learned that somebody was at it.
    Busy,
    /// It broke off without an answer: the database alone knows.
    Unknown,
}

/// One attempt. Times are nanoseconds since the block began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attempt {
    /// Whose, from 0.
    pub contender: u32,
    /// At which job.
    pub job: i64,
    /// When it was meant to begin: in an open loop that may be long before it did.
    pub due_ns: u64,
    /// When it began.
    pub began_ns: u64,
    /// When its answer was there.
    pub ended_ns: u64,
    /// What it came to.
    pub end: End,
    /// How often the database aborted it before.
    pub retries: u32,
}

impl Attempt {
    /// What a caller waited, from the moment it was meant to begin: time spent behind a slow predecessor counts.
    #[must_use]
    pub fn latency_us(&self) -> u64 {
        self.ended_ns.saturating_sub(self.due_ns) / 1_000
    }

    /// Whether both were out at some moment.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        self.began_ns < other.ended_ns && other.began_ns < self.ended_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_start_counts_as_waiting() {
        let attempt = Attempt {
            contender: 0,
            job: 1,
            due_ns: 1_000_000,
            began_ns: 9_000_000,
            ended_ns: 10_000_000,
            end: End::Won,
            retries: 0,
        };
        assert_eq!(attempt.latency_us(), 9_000);
    }
}
