use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::domain::EntityTag;
use crate::store::{AttemptRecord, EventRecord, JobRecord, ReportRecord};

/// RFC 3339 with six digits, so that texts sort as times do.
fn time(micros: i64) -> Value {
    Timestamp::from_microsecond(micros).map_or(Value::Null, |at| Value::String(format!("{at:.6}")))
}

fn attempt(attempt: &AttemptRecord) -> Value {
    json!({
        "number": attempt.number,
        "provider": attempt.provider,
        "state": attempt.state,
        "job_version": attempt.job_version,
        "worker": attempt.worker,
        "effect_started_at": attempt.effect_started_at.map(time),
        "provider_reference": attempt.provider_reference,
        "detail": attempt.detail,
        "started_at": time(attempt.started_at),
        "ended_at": attempt.ended_at.map(time),
    })
}

/// One attempt of a job.
pub(super) fn attempt_of(job: &JobRecord, number: i32) -> Value {
    job.attempt(number).map_or(Value::Null, attempt)
}

/// A job as clients see it.
pub(super) fn job(job: &JobRecord) -> Value {
    json!({
        "id": job.id,
        "idempotency_key": job.key,
        "kind": job.kind,
        "mode": job.mode,
        "input": JobRecord::json(&job.input),
        "state": job.state,
        "version": job.version,
        "completed_by": job.completed_by,
        "result": job.result.as_deref().map(JobRecord::json),
        "failure": job.failure.as_deref().map(JobRecord::json),
        "cancel": job.cancel,
        "attention": job.attention,
        "providers": job.providers,
        "attempts": job.attempts.iter().map(attempt).collect::<Vec<_>>(),
        "run_at": time(job.run_at),
        "created_at": time(job.created_at),
        "updated_at": time(job.updated_at),
    })
}

/// One line of the log.
pub(super) fn event(event: &EventRecord) -> Value {
    json!({
        "seq": event.seq,
        "at": time(event.at),
        "kind": event.kind,
        "attempt": event.attempt,
        "detail": event.detail,
    })
}

/// A result that was not used.
pub(super) fn report(report: &ReportRecord) -> Value {
    json!({
        "attempt": report.attempt,
        "at": time(report.at),
        "source": report.source,
        "outcome": report.outcome,
        "result": report.result.as_deref().map(JobRecord::json),
        "read_version": report.read_version,
        "job_version": report.job_version,
    })
}

/// An answer with a JSON body.
pub(super) fn json_response(status: StatusCode, body: &Value) -> Response {
    (status, [(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))], body.to_string())
        .into_response()
}

/// An answer about a job: its version is the entity tag.
pub(super) fn job_response(status: StatusCode, record: &JobRecord, body: &Value) -> Response {
    let mut response = json_response(status, body);
    let headers = response.headers_mut();
    let put = |headers: &mut axum::http::HeaderMap, name: HeaderName, text: String| {
        // A number in quotes and a path of a UUID are always valid.
        if let Ok(value) = HeaderValue::from_str(&text) {
            headers.insert(name, value);
        }
    };
    put(headers, header::ETAG, EntityTag(record.version).to_string());
    put(headers, header::LOCATION, format!("/v1/jobs/{}", record.id));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_six_digits_even_when_they_are_round() {
        assert_eq!(time(0), "1970-01-01T00:00:00.000000Z");
        assert_eq!(time(1_790_000_000_123_456), "2026-09-21T14:13:20.123456Z");
    }
}
