use crate::scenario::{Check, Scenario, Step, Verb};

macro_rules! negations {
    ($( $variant:ident, $name:literal, $promise:literal, $lie:literal; )+) => {
        /// One promise, negated.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Negation { $( #[doc = $lie] $variant, )+ }

        impl Negation {
            /// All of them.
            pub const ALL: &'static [Self] = &[ $( Self::$variant, )+ ];

            /// The name on the command line.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $( Self::$variant => $name, )+ }
            }

            /// The promise that it negates.
            #[must_use]
            pub const fn promise(self) -> &'static str {
                match self { $( Self::$variant => $promise, )+ }
            }

            /// What is made of the answers, in a sentence.
            #[must_use]
            pub const fn lie(self) -> &'static str {
                match self { $( Self::$variant => $lie, )+ }
            }
        }
    };
}

negations! {
    AnotherJob, "another-job", "one intent has one job",
        "A repeated request is answered with the id of another job.";
    HiddenJob, "hidden-job", "whoever is told of a job can read it",
        "A job that was told of can't be read: 404.";
    WithheldJob, "withheld-job", "no intent is lost",
        "Every request for a job is told that another one has the key, for ever.";
    SecondEffect, "second-effect", "one intent has at most one effect",
        "Each call of the service reaches the provider twice.";
    ServerError, "server-error", "a duplicate is no reason for a server error",
        "A repeated request is answered with 500.";
    TerminalMovesBack, "terminal-moves-back", "a decided job never changes",
        "A job that was told to be over is told to be running again.";
    ResultChanges, "result-changes", "a decided job never changes",
        "The result of a job that is over is another one each time.";
    VersionMoves, "version-moves", "a decided job never changes",
        "The version of a job that is over goes on counting.";
    WinnerChanges, "winner-changes", "one attempt decides a job",
        "A job that is over is told to have been decided by another attempt each time.";
    WrongResult, "wrong-result", "the result is what the deciding attempt was answered",
        "A job's result is a text that no provider gave, always the same.";
    OlderState, "older-state", "nobody sees an earlier state than was told before",
        "A job that was told to be running or over is told to be waiting by the next answer.";
    UnknownIsFailed, "unknown-is-failed", "an unknown outcome is no failure",
        "A job of unknown outcome is told to have failed.";
    FailedIsSucceeded, "failed-is-succeeded", "a failure is told as one",
        "A job that failed is told to have succeeded.";
    SucceededIsCancelled, "succeeded-is-cancelled", "a cancelled job had no effect",
        "A job that succeeded is told to have been cancelled.";
    ConflictAccepted, "conflict-accepted", "a key with another payload is refused",
        "A request that was refused because of its key is answered with 200 and the key's first job.";
    RefusalAccepted, "refusal-accepted", "what can't be done to a job is refused",
        "A refused retry, cancel or decision is answered with 200.";
    UnmarkedReplay, "unmarked-replay", "a replay says that it is one",
        "The mark of a replay is taken off.";
    HiddenTruthLeaks, "hidden-truth-leaks", "what nobody can know is not told",
        "A job of unknown outcome is told to be running, but only where its effect has happened.";
    SilentLog, "silent-log", "the log tells what happened",
        "The log of every job is empty.";
    DroppedReport, "dropped-report", "a result that came too late is kept",
        "No late result is ever shown.";
}

impl Negation {
    /// Whether a scenario asks for what is negated, by the words of its file: those scenarios are tried first.
    #[must_use]
    pub fn concerns(self, scenario: &Scenario) -> bool {
        let asked = &scenario.invariants;
        let checks = |wanted: &dyn Fn(&Step, &Check) -> bool| {
            scenario.step.iter().any(|step| {
                [&step.expect, &step.expect_some, &step.expect_one]
                    .into_iter()
                    .flatten()
                    .any(|check| wanted(step, check))
            })
        };
        let same = |field: &str| checks(&|_, check| check.same.iter().any(|same| same == field));
        let told = |state: &str| {
            checks(&|_, check| check.state.iter().any(|word| word == state))
                || scenario.step.iter().any(|step| step.until.is_some_and(|until| until.word() == state))
        };
        let keys: Vec<_> = scenario.step.iter().filter_map(|step| step.with.key.as_ref()).collect();
        let repeats =
            scenario.step.iter().any(|step| step.act == Verb::Submit && step.times.unwrap_or(1) > 1)
                || keys.iter().enumerate().any(|(at, key)| keys[..at].contains(key));
        let refused = |check: &Check| {
            check.refused == Some(true) || check.status.iter().any(|status| matches!(status, 409 | 422))
        };
        match self {
            Self::AnotherJob => repeats && (same("job") || asked.jobs.is_some()),
            Self::HiddenJob => scenario.step.iter().any(|step| step.act == Verb::Read),
            Self::WithheldJob => asked.jobs.is_some(),
            Self::SecondEffect => asked.effects.is_some() || asked.calls.is_some(),
            Self::ServerError => repeats,
            Self::TerminalMovesBack | Self::OlderState => asked.decided_once || !asked.path.is_empty(),
            Self::ResultChanges => same("result"),
            Self::VersionMoves => same("version"),
            Self::WinnerChanges => asked.winners.is_some() || same("winner"),
            Self::WrongResult => asked.result_of_winner,
            Self::UnknownIsFailed => told("unknown"),
            Self::FailedIsSucceeded => told("failed"),
            Self::SucceededIsCancelled => told("succeeded"),
            Self::ConflictAccepted => checks(&|step, check| step.act == Verb::Submit && refused(check)),
            Self::RefusalAccepted => checks(&|step, check| step.act != Verb::Submit && refused(check)),
            Self::UnmarkedReplay => checks(&|_, check| check.replayed == Some(true)),
            Self::HiddenTruthLeaks => asked.alike.is_some(),
            Self::SilentLog => !asked.logged.is_empty(),
            Self::DroppedReport => !asked.kept.is_empty(),
        }
    }
}

/// There is no such negation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no negation `{0}`")]
pub struct UnknownNegation(String);

impl std::str::FromStr for Negation {
    type Err = UnknownNegation;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.iter().copied().find(|negation| negation.name() == name);
        found.ok_or_else(|| UnknownNegation(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::embedded;

    #[test]
    fn names_are_unique_and_read_back() {
        for negation in Negation::ALL {
            assert_eq!(negation.name().parse(), Ok(*negation));
        }
        assert!("nonsense".parse::<Negation>().is_err());
    }

    #[test]
    fn the_suite_has_a_scenario_that_asks_for_what_each_negates() {
        let files = embedded().expect("the suite");
        let cells: Vec<_> = files.iter().flat_map(|file| file.cells().expect("its cells")).collect();
        for negation in Negation::ALL {
            assert!(cells.iter().any(|cell| negation.concerns(&cell.scenario)), "{}", negation.name());
        }
    }
}
