//! Wrong decisions, as the pure functions that replace the right ones.

use std::time::Duration;

use onejob_contracts::dialect::ErrorClass;
use onejob_contracts::gate::{JobFacts, Permit, Question, Refusal, Trigger, may_fail_over};
use sha2::{Digest as _, Sha256};

use crate::domain::{
    Answer, AttemptCancelRefusal, AttemptState, Cancel, CancelOutcome, Discarded, Fingerprint,
    IdempotencyKey, Intent, Job, JobState, KeyRefusal, Lapse, StartRefusal, Unanswered, Verdict,
    cancel_attempt, cancel_job, classify, fingerprint, lapse, start,
};
use crate::rules::{Conclusion, Found};
use crate::signature::{self, Signed, verify};
use crate::worker::traceparent;

/// Attempts whose outcome is unknown don't count as live.
pub(super) fn start_beside_unknown(job: &Job) -> Result<Job, StartRefusal> {
    start_beside(job, &[AttemptState::Unknown])
}

/// Attempts that are out don't keep others from starting.
pub(super) fn start_beside_live(job: &Job) -> Result<Job, StartRefusal> {
    start_beside(job, &[AttemptState::Starting, AttemptState::Running])
}

/// Whoever gives an attempt up is taken to want the next one.
pub(super) fn cancel_attempt_and_requeue(job: &Job, number: i32) -> Result<Job, AttemptCancelRefusal> {
    let mut next = cancel_attempt(job, number)?;
    next.attention = None;
    Ok(next)
}

fn start_beside(job: &Job, overlooked: &[AttemptState]) -> Result<Job, StartRefusal> {
    let mut blind = job.clone();
    for attempt in &mut blind.attempts {
        if overlooked.contains(&attempt.state) {
            attempt.state = AttemptState::Superseded;
        }
    }
    let mut next = start(&blind)?;
    for (attempt, before) in next.attempts.iter_mut().zip(&job.attempts) {
        attempt.state = before.state;
    }
    Ok(next)
}

/// An attempt that starts makes the earlier ones stale.
pub(super) fn start_and_bump(job: &Job) -> Result<Job, StartRefusal> {
    let mut next = start(job)?;
    next.version += 1;
    let version = next.version;
    if let Some(added) = next.attempts.last_mut() {
        added.job_version = version;
    }
    Ok(next)
}

/// Whoever comes writes.
#[expect(clippy::unnecessary_wraps, reason = "it stands in for a function that refuses")]
pub(super) fn succeed_anyhow(job: &Job, number: i32, _read: i64) -> Result<Job, Discarded> {
    let mut next = job.clone();
    next.state = JobState::Succeeded;
    next.completed_by = Some(number);
    next.version += 1;
    Ok(next)
}

/// Whoever comes writes while the job looks undecided.
pub(super) fn succeed_by_state(job: &Job, number: i32, read: i64) -> Result<Job, Discarded> {
    if job.state.is_terminal() {
        Err(Discarded { read, now: job.version })
    } else {
        succeed_anyhow(job, number, read)
    }
}

/// Back into the queue, whether or not something was sent.
pub(super) fn lapse_and_repeat(job: &Job, number: i32) -> Lapse {
    let mut innocent = job.clone();
    for attempt in &mut innocent.attempts {
        if attempt.number == number && attempt.state == AttemptState::Running {
            attempt.state = AttemptState::Starting;
            attempt.effect_started = false;
        }
    }
    lapse(&innocent, number)
}

/// Cancels what is decided, too.
pub(super) fn cancel_decided(job: &Job, accept_unknown_effect: bool) -> CancelOutcome {
    match cancel_job(job, accept_unknown_effect) {
        CancelOutcome::Terminal => {
            let mut next = job.clone();
            next.state = JobState::Cancelled;
            next.cancel = Cancel::Done;
            next.version += 1;
            CancelOutcome::Cancelled(next)
        }
        other => other,
    }
}

/// Cancels at once, whatever is under way.
pub(super) fn cancel_under_way(job: &Job, _accept_unknown_effect: bool) -> CancelOutcome {
    let mut innocent = job.clone();
    for attempt in &mut innocent.attempts {
        attempt.effect_started = false;
    }
    cancel_job(&innocent, true)
}

/// A deadline is a failure.
pub(super) fn deadline_is_failure(waited: Duration) -> Verdict {
    Verdict::Failed {
        code: "timed-out".to_owned(),
        message: format!("no answer within {} ms", waited.as_millis()),
        retry: true,
        retry_after: None,
        cause: Trigger::Unknown,
    }
}

/// A provider that is silent is one that has no time, and another one may have.
pub(super) fn deadline_is_overload(waited: Duration) -> Verdict {
    Verdict::Failed {
        code: "overloaded".to_owned(),
        message: format!("no answer within {} ms", waited.as_millis()),
        retry: true,
        retry_after: None,
        cause: Trigger::Failed(ErrorClass::Overloaded),
    }
}

/// A trace that no request began.
pub(super) fn own_trace(_of_request: Option<&str>) -> String {
    traceparent(None)
}

/// Whoever is next takes over.
#[expect(clippy::unnecessary_wraps, reason = "it stands in for a function that refuses")]
pub(super) fn move_anyhow(question: &Question<'_>) -> Result<Permit, Refusal> {
    Ok(Permit {
        to: question.to.to_owned(),
        file: "nothing".to_owned(),
        key_id: "nobody".to_owned(),
        expires: question.now,
        lower_bound: 0.0,
    })
}

/// An attestation for the pair is an attestation, whatever was attested.
pub(super) fn move_by_name(question: &Question<'_>) -> Result<Permit, Refusal> {
    let mut asked = *question;
    let named = question.attestations.good.iter().map(|one| &one.attested).find(|attested| {
        attested.contract == question.job.contract
            && attested.provider.name == question.to
            && attested.baseline.provider.name == question.from
    });
    let job = match named {
        Some(attested) => JobFacts {
            digests: attested.digests.clone(),
            dialect: attested.provider.dialect.clone(),
            endpoint: attested.provider.endpoint.clone(),
            model: attested.provider.model.clone(),
            parameters: attested.provider.parameters.clone(),
            primary: None,
            ..question.job.clone()
        },
        None => question.job.clone(),
    };
    asked.job = &job;
    may_fail_over(&asked)
}

fn as_failure(verdict: Verdict) -> Verdict {
    match verdict {
        Verdict::Unknown { reason: message } | Verdict::Duplicate { message } => Verdict::Failed {
            code: "failed".to_owned(),
            message,
            retry: true,
            retry_after: None,
            cause: Trigger::Unknown,
        },
        other => other,
    }
}

/// Any server error is a refusal.
pub(super) fn server_error_is_failure(answer: &Answer) -> Verdict {
    let verdict = classify(answer);
    if matches!(answer, Answer::Status { code: 500..=599, .. }) { as_failure(verdict) } else { verdict }
}

/// Whatever went wrong with the connection, nothing was sent.
pub(super) fn broken_is_refused(answer: &Answer) -> Verdict {
    match answer {
        Answer::None(Unanswered::Lost(reason)) => {
            classify(&Answer::None(Unanswered::NeverSent(reason.clone())))
        }
        other => classify(other),
    }
}

/// Whatever went wrong with the connection, something may have been sent.
pub(super) fn refused_is_unknown(answer: &Answer) -> Verdict {
    match answer {
        Answer::None(Unanswered::NeverSent(reason)) => {
            classify(&Answer::None(Unanswered::Lost(reason.clone())))
        }
        other => classify(other),
    }
}

/// A duplicate is a refusal for good.
pub(super) fn duplicate_is_failure(answer: &Answer) -> Verdict {
    match classify(answer) {
        Verdict::Duplicate { message } => Verdict::Failed {
            code: "duplicate".to_owned(),
            message,
            retry: false,
            retry_after: None,
            cause: Trigger::Unknown,
        },
        other => other,
    }
}

/// "Nothing found" is final at once.
pub(super) fn believe_nothing_found(found: &Found, _waited: Duration, _max_latency: Duration) -> Conclusion {
    match found {
        Found::Succeeded(result) => Conclusion::Succeeded(result.clone()),
        Found::Failed(message) => Conclusion::Failed(message.clone()),
        Found::Nothing => Conclusion::NotExecuted,
        Found::Pending | Found::NoAnswer(_) => Conclusion::StillUnknown,
    }
}

/// The bytes of the body, as they came.
pub(super) fn fingerprint_of_bytes(_intent: &Intent<'_>, raw: &[u8]) -> Fingerprint {
    Fingerprint(Sha256::digest(raw).into())
}

/// The body, whatever it was sent to.
pub(super) fn fingerprint_of_body(intent: &Intent<'_>, _raw: &[u8]) -> Fingerprint {
    fingerprint(&Intent { method: "", route: "", path: "", query: "", media_type: "", body: intent.body })
}

/// Anybody is the provider.
#[expect(clippy::unnecessary_wraps, reason = "it stands in for a function that refuses")]
pub(super) fn anybody(_callback: &Signed<'_>) -> Result<(), signature::Refusal> {
    Ok(())
}

/// Once signed, always fresh.
pub(super) fn however_old(callback: &Signed<'_>) -> Result<(), signature::Refusal> {
    let now = callback.timestamp.parse().map_err(|_| signature::Refusal::Timestamp)?;
    verify(&Signed { now, ..*callback })
}

/// Whoever sends no key gets one.
pub(super) fn key_made_up(lines: &[&[u8]]) -> Result<IdempotencyKey, KeyRefusal> {
    match lines {
        [] => Ok(IdempotencyKey::verbatim(uuid::Uuid::new_v4().to_string())),
        lines => IdempotencyKey::from_lines(lines.iter().copied()),
    }
}

/// The first line is the key, whatever follows.
pub(super) fn first_key(lines: &[&[u8]]) -> Result<IdempotencyKey, KeyRefusal> {
    IdempotencyKey::from_lines(lines.iter().copied().take(1))
}

/// What is left of a key that makes trouble is the key.
pub(super) fn key_mended(lines: &[&[u8]]) -> Result<IdempotencyKey, KeyRefusal> {
    let [line] = lines else { return IdempotencyKey::from_lines(lines.iter().copied()) };
    let fine = line.iter().copied().filter(|byte| byte.is_ascii_graphic() && *byte != b'"');
    Ok(IdempotencyKey::verbatim(fine.take(255).map(char::from).collect()))
}

/// Quotes are characters like any other.
pub(super) fn key_with_quotes(lines: &[&[u8]]) -> Result<IdempotencyKey, KeyRefusal> {
    let bare = IdempotencyKey::from_lines(lines.iter().copied())?;
    let line = lines.first().map(|line| line.trim_ascii()).unwrap_or_default();
    let quoted = line.starts_with(b"\"");
    Ok(if quoted { IdempotencyKey::verbatim(String::from_utf8_lossy(line).into_owned()) } else { bare })
}
