use std::time::Duration;

use jiff::Timestamp;
use onejob_contracts::gate::{Permit, Question, Refusal, may_fail_over};

use crate::domain::{
    Answer, AttemptCancelRefusal, CancelOutcome, Discarded, Fingerprint, IdempotencyKey, IfMatch, Intent,
    Job, Json, JsonRefusal, KeyRefusal, Lapse, StartRefusal, Verdict, cancel_attempt, cancel_job, classify,
    fingerprint, lapse, parse, pick_up, start, succeed,
};
use crate::reach::Reach;
use crate::signature::{self, Signed};
use crate::store::{Claim, Refused, Statements, insert_then_look, leave_alone};
use crate::worker::traceparent;

/// What a provider says about a client reference.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Found {
    /// The work was done.
    Succeeded(serde_json::Value),
    /// The work was taken up and definitely failed.
    Failed(String),
    /// The work is under way.
    Pending,
    /// No trace of it.
    Nothing,
    /// No usable answer.
    NoAnswer(String),
}

/// What follows from what a provider says.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Conclusion {
    Succeeded(serde_json::Value),
    Failed(String),
    NotExecuted,
    StillUnknown,
}

/// What comes first: noting that the effect may start, or starting it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    BeforeTheCall,
    AfterTheCall,
}

/// Whether an attempt may start, and the job with it.
pub(crate) type StartRule = fn(&Job) -> Result<Job, StartRefusal>;

/// The places where the service decides. Each holds the honest decision; a [`Defect`](crate::Defect) replaces one and
/// leaves the code that asks alone.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a decision of its own")]
pub(crate) struct Rules {
    /// Notes what other rules would have made a difference to.
    pub(crate) reach: Reach,
    /// The statements.
    pub(crate) sql: Statements,
    /// Statements to run once at start, before anything is served.
    pub(crate) preparation: Vec<&'static str>,
    /// How a key is claimed.
    pub(crate) claim: Claim,
    /// Whether a claim goes on when its client hangs up.
    pub(crate) outlives_client: bool,
    /// Whose requests are those without valid credentials; nobody's where there is none.
    pub(crate) anonymous: Option<&'static str>,
    /// How the lines of the key's header are read.
    pub(crate) read_key: fn(&[&[u8]]) -> Result<IdempotencyKey, KeyRefusal>,
    /// Whose keys live together.
    pub(crate) scope: fn(&str) -> String,
    /// How a key is spelled when it is compared.
    pub(crate) key: fn(&str) -> String,
    /// The same for a job that is to run later.
    pub(crate) scheduled_key: fn(&str) -> String,
    /// The same for an item of a batch.
    pub(crate) batch_key: fn(&str) -> String,
    /// How a body is read.
    pub(crate) read: fn(&[u8]) -> Result<Json, JsonRefusal>,
    /// What makes two requests one intent.
    pub(crate) fingerprint: fn(&Intent<'_>, &[u8]) -> Fingerprint,
    /// Whether a stored fingerprint is that of the request.
    pub(crate) same_intent: fn(&[u8], &Fingerprint) -> bool,
    /// What becomes of the key of a request whose body is refused.
    pub(crate) refused: Refused,
    /// Whether somebody may start an attempt.
    pub(crate) start: StartRule,
    /// Whether a worker may.
    pub(crate) pick_up: StartRule,
    /// Whether a result still counts.
    pub(crate) succeed: fn(&Job, i32, i64) -> Result<Job, Discarded>,
    /// What a lapsed lease means.
    pub(crate) lapse: fn(&Job, i32) -> Lapse,
    /// Whether a precondition allows for a version.
    pub(crate) allows: fn(&IfMatch, i64) -> bool,
    /// What giving an attempt up leads to.
    pub(crate) cancel_attempt: fn(&Job, i32) -> Result<Job, AttemptCancelRefusal>,
    /// What a wish to cancel leads to.
    pub(crate) cancel_job: fn(&Job, bool) -> CancelOutcome,
    /// Statements to run on a cancelled job; `$1` is its id.
    pub(crate) after_cancel: &'static [&'static str],
    /// What an answer says.
    pub(crate) classify: fn(&Answer) -> Verdict,
    /// What a passed deadline says.
    pub(crate) at_deadline: fn(Duration) -> Verdict,
    /// What a provider's knowledge says; the last two are how long ago the call was and the longest that a trace of
    /// it may take to appear.
    pub(crate) conclude: fn(&Found, Duration, Duration) -> Conclusion,
    /// What the provider knows the work by.
    pub(crate) reference: fn(&str, i32) -> String,
    /// The trace that a call carries, of the request's.
    pub(crate) trace: fn(Option<&str>) -> String,
    /// When the write-ahead mark is committed.
    pub(crate) mark: Mark,
    /// What is sent between the write of a job that is taken up and that of its attempt.
    pub(crate) between_job_and_attempt: Option<&'static str>,
    /// Whether a worker renews its leases.
    pub(crate) heartbeats: bool,
    /// Whether a process that is asked to end gives what is under way the time to finish.
    pub(crate) drains: bool,
    /// How often a call whose connection broke is sent again by itself.
    pub(crate) resends: u32,
    /// Whether an attempt whose result could not be written at once is carried out again.
    pub(crate) repeat_effect_on_conflict: bool,
    /// Whether a job may move to another provider on its own.
    pub(crate) may_move: fn(&Question<'_>) -> Result<Permit, Refusal>,
    /// Whether that is asked again before the job is sent there.
    pub(crate) asks_again: bool,
    /// By which time that is decided; the argument is when the attestations were read.
    pub(crate) time_of_question: fn(Timestamp) -> Timestamp,
    /// Whether the result of an attempt is given all the time that its row takes, and is tried again where it was not taken.
    pub(crate) waits_for_rows: bool,
    /// Whether a commit is on the database's disk before anybody is told of it.
    pub(crate) waits_for_commits: bool,
    /// Whether a pooler in transaction mode is taken into account where the configuration says that there is one.
    pub(crate) heeds_pooler: bool,
    /// Whether a callback is authentic.
    pub(crate) authentic: fn(&Signed<'_>) -> Result<(), signature::Refusal>,
}

impl Rules {
    /// The rules of a correct service.
    pub(crate) fn honest() -> Self {
        Self {
            reach: Reach::default(),
            sql: Statements::honest(),
            preparation: Vec::new(),
            claim: insert_then_look,
            outlives_client: true,
            anonymous: None,
            read_key: |lines| IdempotencyKey::from_lines(lines.iter().copied()),
            scope: str::to_owned,
            key: str::to_owned,
            scheduled_key: str::to_owned,
            batch_key: str::to_owned,
            read: parse,
            fingerprint: |intent, _| fingerprint(intent),
            same_intent: |stored, asked| stored == asked.0,
            refused: leave_alone,
            start,
            pick_up,
            succeed,
            lapse,
            allows: IfMatch::allows,
            cancel_attempt,
            cancel_job,
            after_cancel: &[],
            classify,
            at_deadline: |waited| Verdict::Unknown {
                reason: format!("no answer within {} ms", waited.as_millis()),
            },
            conclude,
            reference: |job, _| job.to_owned(),
            trace: traceparent,
            mark: Mark::BeforeTheCall,
            between_job_and_attempt: None,
            heartbeats: true,
            drains: true,
            resends: 0,
            repeat_effect_on_conflict: false,
            may_move: may_fail_over,
            asks_again: true,
            time_of_question: |_| Timestamp::now(),
            waits_for_rows: true,
            waits_for_commits: true,
            heeds_pooler: true,
            authentic: signature::verify,
        }
    }
}

/// "Nothing found" counts only once the call can no longer turn up.
fn conclude(found: &Found, waited: Duration, max_latency: Duration) -> Conclusion {
    match found {
        Found::Succeeded(result) => Conclusion::Succeeded(result.clone()),
        Found::Failed(message) => Conclusion::Failed(message.clone()),
        Found::Nothing if waited > max_latency => Conclusion::NotExecuted,
        Found::Nothing | Found::Pending | Found::NoAnswer(_) => Conclusion::StillUnknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probe_decides_only_by_evidence() {
        let (early, late, limit) = (Duration::from_secs(1), Duration::from_secs(3), Duration::from_secs(2));
        let done = serde_json::json!("done");
        for (found, waited, conclusion) in [
            (Found::Succeeded(done.clone()), early, Conclusion::Succeeded(done)),
            (Found::Failed("no".to_owned()), early, Conclusion::Failed("no".to_owned())),
            (Found::Pending, late, Conclusion::StillUnknown),
            (Found::Nothing, early, Conclusion::StillUnknown),
            (Found::Nothing, limit, Conclusion::StillUnknown),
            (Found::Nothing, late, Conclusion::NotExecuted),
            (Found::NoAnswer("refused".to_owned()), late, Conclusion::StillUnknown),
        ] {
            assert_eq!(conclude(&found, waited, limit), conclusion, "{found:?} after {waited:?}");
        }
    }
}
