use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use super::{Negation, edit::Edit};
use crate::{
    gate::RawAnswer,
    history::Answer,
    scenario::Verb,
    target::{Operation, States},
};

/// A job's id in place of the true one.
const ANOTHER_JOB: &str = "00000000-0000-4000-8000-00006f6e656a";
/// A result that no provider gave.
const ANOTHER_RESULT: &str = "a result that nobody gave";

/// What was asked, as far as a lie depends on it.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'r> {
    /// The round.
    pub round: u32,
    /// The verb's word.
    pub verb: &'r str,
    /// Who asked.
    pub owner: &'r str,
    /// Name of the key.
    pub key: Option<&'r str>,
    /// The job that it was about.
    pub job: Option<&'r str>,
    /// Whether the job's effect has happened.
    pub effect: bool,
}

/// Answers for a target, and makes one kind of them wrong.
#[derive(Debug)]
pub struct Liar {
    negation: Negation,
    memory: Mutex<Memory>,
}

#[derive(Debug, Default)]
struct Memory {
    /// The first job that was told for a key, by round, owner and key.
    first: BTreeMap<(u32, String, String), String>,
    /// Jobs that were told to be over, and how many answers since.
    over: BTreeMap<String, u32>,
    /// Jobs that were told to be further than waiting.
    begun: BTreeMap<String, u32>,
}

impl Liar {
    /// One that negates this.
    #[must_use]
    pub fn new(negation: Negation) -> Self {
        Self { negation, memory: Mutex::default() }
    }

    /// What is negated.
    #[must_use]
    pub fn negation(&self) -> Negation {
        self.negation
    }

    /// Whether a job's log is hidden.
    #[must_use]
    pub fn hides_log(&self) -> bool {
        self.negation == Negation::SilentLog
    }

    /// Whether results that came too late are hidden.
    #[must_use]
    pub fn hides_reports(&self) -> bool {
        self.negation == Negation::DroppedReport
    }

    /// Makes an answer wrong, where it is one of those that the negation is about. `truth` is what it says.
    pub fn tell(
        &self,
        asked: Asked<'_>,
        operation: &Operation,
        words: &States,
        truth: &Answer,
        raw: &mut RawAnswer,
    ) {
        let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        let submits = asked.verb == Verb::Submit.word();
        let key = asked.key.map(|key| (asked.round, asked.owner.to_owned(), key.to_owned()));
        let first = key.as_ref().and_then(|key| memory.first.get(key)).cloned();
        if let (true, Some(key), Some(told)) = (submits && truth.status < 400, key, &truth.job) {
            memory.first.entry(key).or_insert_with(|| told.clone());
        }
        let job = truth.job.as_deref().or(asked.job).map(str::to_owned);
        let state = truth.state.as_deref();
        let told = |of: &mut BTreeMap<String, u32>, now: bool| {
            let job = job.clone()?;
            let before = of.get(&job).copied();
            if now || before.is_some() {
                *of.entry(job).or_default() += 1;
            }
            before
        };
        let over = told(&mut memory.over, truth.is_terminal());
        let begun = told(&mut memory.begun, state.is_some_and(|state| state != "accepted"));
        drop(memory);

        let mut edit = Edit::new(operation, words, raw);
        let repeated = submits && first.is_some();
        match self.negation {
            Negation::AnotherJob if repeated && truth.job.is_some() => {
                edit.set("job", ANOTHER_JOB);
            }
            Negation::HiddenJob if asked.verb == Verb::Read.word() => edit.problem(404),
            Negation::WithheldJob if submits && truth.status < 400 => edit.problem(409),
            Negation::ServerError if repeated => edit.problem(500),
            Negation::TerminalMovesBack if over.is_some() && state.is_some() => {
                edit.state("running");
            }
            Negation::ResultChanges if truth.is_terminal() => {
                if let Some(count) = over {
                    edit.set("result", &format!("{ANOTHER_RESULT} {count}"));
                }
            }
            Negation::VersionMoves if truth.is_terminal() => {
                if let Some(count) = over {
                    edit.set("version", &(1000 + count).to_string());
                }
            }
            Negation::WinnerChanges if truth.is_terminal() => {
                if let Some(count) = over {
                    edit.set("winner", &(1000 + count).to_string());
                }
            }
            Negation::WrongResult if truth.result.is_some() => {
                edit.set("result", ANOTHER_RESULT);
            }
            // Once, so that whoever waits for the job's end still sees it.
            Negation::OlderState if begun == Some(1) && state.is_some() => {
                edit.state("accepted");
            }
            Negation::UnknownIsFailed if state == Some("unknown") => {
                edit.state("failed");
            }
            Negation::FailedIsSucceeded if state == Some("failed") => {
                edit.state("succeeded");
            }
            Negation::SucceededIsCancelled if state == Some("succeeded") => {
                edit.state("cancelled");
            }
            Negation::ConflictAccepted if repeated && matches!(truth.status, 409 | 422) => {
                edit.accept(first.as_deref().unwrap_or(ANOTHER_JOB), "accepted");
            }
            Negation::RefusalAccepted if !submits && truth.refused => {
                edit.accept(job.as_deref().unwrap_or(ANOTHER_JOB), "running");
            }
            Negation::UnmarkedReplay if truth.replayed => edit.remove("replayed"),
            Negation::HiddenTruthLeaks if state == Some("unknown") && asked.effect => {
                edit.state("running");
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use serde_json::{Value, json};

    use super::*;
    use crate::target::{read_answer, reference};

    /// What a harness reads that asked this of a target which answered that, one answer after the other.
    fn read(negation: Negation, verb: &str, answers: &[(u16, Value)]) -> Vec<Answer> {
        let target = reference().expect("the reference's file").target;
        let operation =
            if verb == "submit" { target.submit.clone() } else { target.read.clone().expect("it reads") };
        let liar = Liar::new(negation);
        answers
            .iter()
            .map(|(status, body)| {
                let at = Instant::now();
                let headers = vec![("idempotent-replayed".to_owned(), "true".to_owned())];
                let body = body.to_string().into_bytes();
                let mut raw = RawAnswer { status: *status, headers, body, first_byte_at: at, done_at: at };
                let read = |raw: &RawAnswer| {
                    read_answer(&operation, &target.states, raw.status, &raw.headers, &raw.body)
                        .expect("it fits")
                };
                let truth = read(&raw);
                let asked =
                    Asked { round: 1, verb, owner: "alice", key: Some("K"), job: Some("a"), effect: true };
                liar.tell(asked, &operation, &target.states, &truth, &mut raw);
                read(&raw)
            })
            .collect()
    }

    fn job(state: &str) -> (u16, Value) {
        (200, json!({ "id": "a", "state": state, "version": 2, "completed_by": 1, "result": "x" }))
    }

    fn states(answers: &[Answer]) -> Vec<&str> {
        answers.iter().map(|answer| answer.state.as_deref().unwrap_or_default()).collect()
    }

    #[test]
    fn only_the_repetition_is_told_of_another_job() {
        let told = read(Negation::AnotherJob, "submit", &[job("queued"), job("queued")]);
        assert_eq!(told[0].job.as_deref(), Some("a"));
        assert_eq!(told[1].job.as_deref(), Some(ANOTHER_JOB));
        let told = read(Negation::ServerError, "submit", &[job("queued"), job("queued")]);
        assert_eq!((told[0].status, told[1].status), (200, 500));
    }

    #[test]
    fn a_conflict_becomes_the_first_job() {
        let refused = (409, json!({ "type": "/problems/idempotency-key-conflict" }));
        let told = read(Negation::ConflictAccepted, "submit", &[job("queued"), refused]);
        assert_eq!((told[1].status, told[1].job.as_deref()), (200, Some("a")));
    }

    #[test]
    fn a_job_that_was_over_goes_back_or_changes() {
        let answers = [job("running"), job("succeeded"), job("succeeded")];
        assert_eq!(
            states(&read(Negation::TerminalMovesBack, "read", &answers)),
            ["running", "succeeded", "running"]
        );
        let told = read(Negation::ResultChanges, "read", &answers);
        assert_eq!(told[1].result.as_deref(), Some("x"));
        assert_ne!(told[2].result.as_deref(), Some("x"));
        assert_ne!(read(Negation::VersionMoves, "read", &answers)[2].version.as_deref(), Some("2"));
        assert_ne!(read(Negation::WinnerChanges, "read", &answers)[2].winner.as_deref(), Some("1"));
    }

    #[test]
    fn states_are_told_in_the_words_of_the_target() {
        assert_eq!(states(&read(Negation::UnknownIsFailed, "read", &[job("unknown")])), ["failed"]);
        assert_eq!(states(&read(Negation::FailedIsSucceeded, "read", &[job("failed")])), ["succeeded"]);
        assert_eq!(states(&read(Negation::SucceededIsCancelled, "read", &[job("succeeded")])), ["cancelled"]);
        assert_eq!(states(&read(Negation::HiddenTruthLeaks, "read", &[job("unknown")])), ["running"]);
        let old = read(Negation::OlderState, "read", &[job("running"), job("running"), job("running")]);
        assert_eq!(states(&old), ["running", "accepted", "running"]);
    }

    #[test]
    fn the_rest_is_left_as_it_is() {
        assert!(!read(Negation::UnmarkedReplay, "submit", &[job("queued")])[0].replayed);
        assert!(read(Negation::SilentLog, "submit", &[job("queued")])[0].replayed);
        assert_eq!(read(Negation::HiddenJob, "read", &[job("queued")])[0].status, 404);
        assert_eq!(read(Negation::WithheldJob, "submit", &[job("queued")])[0].status, 409);
        assert_eq!(
            read(Negation::WrongResult, "read", &[job("succeeded")])[0].result.as_deref(),
            Some(ANOTHER_RESULT)
        );
    }
}
