use crate::model::{Lane, Mark, Outcome, Verdict};

/// The word for a verdict. Skipped reads `not verified`, because nothing was.
#[must_use]
pub fn verdict_word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "pass",
        Verdict::Skipped => "not verified",
        Verdict::Inconclusive => "inconclusive",
        Verdict::Error => "error",
        Verdict::Fail => "FAIL",
    }
}

/// The word for a promise's outcome.
#[must_use]
pub fn outcome_word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Held => "held",
        Outcome::Broke => "broke",
        Outcome::Undecided => "undecided",
    }
}

/// The word for a lane.
#[must_use]
pub fn lane_word(lane: Lane) -> &'static str {
    match lane {
        Lane::Client => "client",
        Lane::Harness => "harness",
        Lane::Fault => "fault",
        Lane::Service => "service",
        Lane::Attempt => "attempt",
        Lane::Provider => "provider",
        Lane::Database => "database",
    }
}

/// The word for a mark, so that no report depends on colour; none for what is plain.
#[must_use]
pub fn mark_word(mark: Mark) -> Option<&'static str> {
    match mark {
        Mark::Plain => None,
        Mark::Won => Some("WON"),
        Mark::Discarded => Some("DISCARDED"),
        Mark::Refused => Some("REFUSED"),
        Mark::Unknown => Some("UNKNOWN"),
        Mark::Effect => Some("EFFECT"),
        Mark::Broke => Some("BROKE"),
    }
}

/// The symbol for a mark; all are one column wide.
#[must_use]
pub fn mark_symbol(mark: Mark) -> char {
    match mark {
        Mark::Plain => '•',
        Mark::Won => '★',
        Mark::Discarded => '✗',
        Mark::Refused => '⊘',
        Mark::Unknown => '?',
        Mark::Effect => '◆',
        Mark::Broke => '!',
    }
}
