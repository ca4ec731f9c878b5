use super::Negation;

/// What shows that a law is watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cover {
    /// These negations break it.
    By(&'static [Negation]),
    /// Nothing that is done to answers does, for this reason.
    Not(&'static str),
}

use Cover::{By, Not};
use Negation as N;

/// Every law of the catalogue, by the name that reports use, and what negates it.
pub const LAWS: &[(&str, Cover)] = &[
    ("one-effect", By(&[N::SecondEffect])),
    ("one-job", By(&[N::AnotherJob, N::HiddenJob])),
    ("no-lost-intent", By(&[N::WithheldJob])),
    ("no-server-error", By(&[N::ServerError])),
    ("final", By(&[N::TerminalMovesBack, N::ResultChanges, N::VersionMoves])),
    ("no-forbidden-call", By(&[N::SecondEffect])),
    (
        "expect",
        By(&[
            N::ConflictAccepted,
            N::RefusalAccepted,
            N::UnmarkedReplay,
            N::UnknownIsFailed,
            N::FailedIsSucceeded,
        ]),
    ),
    ("jobs", By(&[N::AnotherJob])),
    ("calls", By(&[N::SecondEffect])),
    ("effects", By(&[N::SecondEffect])),
    ("winners", By(&[N::WinnerChanges, N::ResultChanges])),
    (
        "payloads",
        Not(
            "what reaches the provider is no answer of the target: the double itself sees which payload a call carries",
        ),
    ),
    ("result-of-winner", By(&[N::WrongResult])),
    ("path", By(&[N::OlderState, N::TerminalMovesBack])),
    ("alike", By(&[N::HiddenTruthLeaks])),
    ("decided-once", By(&[N::TerminalMovesBack, N::OlderState, N::WinnerChanges])),
    ("cancelled-had-no-effect", By(&[N::SucceededIsCancelled])),
    (
        "identity",
        Not(
            "a call's identity is no answer of the target: taken off on the way, it would cut the target from its provider",
        ),
    ),
    ("trace", Not("a call's trace is no answer of the target: the double itself sees what a call carries")),
    ("may-lose", Not("it is no law, and excuses from one: `one-job` for what the database lost")),
    ("logged", By(&[N::SilentLog])),
    ("kept", By(&[N::DroppedReport])),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Invariants;

    #[test]
    fn every_law_that_a_scenario_can_ask_for_has_a_line() {
        let named = serde_json::to_value(Invariants::default()).expect("a catalogue");
        for field in named.as_object().expect("its fields").keys() {
            let name = field.replace('_', "-");
            assert!(LAWS.iter().any(|(law, _)| *law == name), "{name} has no line");
        }
    }

    #[test]
    fn every_negation_is_about_a_law() {
        for negation in Negation::ALL {
            let covers = |(_, cover): &&(&str, Cover)| matches!(cover, By(all) if all.contains(negation));
            assert!(LAWS.iter().any(|line| covers(&line)), "{}", negation.name());
        }
    }
}
