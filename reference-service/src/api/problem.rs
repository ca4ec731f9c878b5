use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value, json};

use crate::domain::{JsonRefusal, KeyRefusal};
use crate::store::StoreError;

macro_rules! problems {
    ($( $variant:ident, $status:literal, $name:literal, $title:literal; )+) => {
        /// What went wrong, as a stable type: `/problems/{name}`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum ProblemType { $( $variant, )+ }

        impl ProblemType {
            #[cfg(test)]
            pub(crate) const ALL: &'static [Self] = &[ $( Self::$variant, )+ ];

            pub(crate) const fn name(self) -> &'static str {
                match self { $( Self::$variant => $name, )+ }
            }

            const fn title(self) -> &'static str {
                match self { $( Self::$variant => $title, )+ }
            }

            const fn status(self) -> u16 {
                match self { $( Self::$variant => $status, )+ }
            }
        }
    };
}

problems! {
    KeyMissing, 400, "idempotency-key-missing", "The idempotency key is missing";
    KeyRepeated, 400, "idempotency-key-repeated", "The idempotency key was sent more than once";
    KeyEmpty, 400, "idempotency-key-empty", "The idempotency key is empty";
    KeyMalformed, 400, "idempotency-key-malformed", "The idempotency key is malformed";
    KeyTooLong, 400, "idempotency-key-too-long", "The idempotency key is too long";
    KeyConflict, 409, "idempotency-key-conflict", "The idempotency key belongs to another request";
    KeyExpired, 410, "idempotency-key-expired", "The job of this idempotency key was purged";
    RequestInFlight, 409, "request-in-flight", "The same request is being processed";
    InvalidJson, 400, "invalid-json", "The body is not JSON";
    TooDeep, 400, "json-too-deep", "The body is nested too deeply";
    DuplicateMember, 400, "duplicate-member", "A member appears twice";
    LoneSurrogate, 400, "lone-surrogate", "A string is not Unicode text";
    NumberLosesPrecision, 400, "number-loses-precision", "A number does not survive a double";
    InvalidBody, 400, "invalid-body", "The body does not fit";
    InvalidQuery, 400, "invalid-query", "The query does not fit";
    UnsupportedMediaType, 415, "unsupported-media-type", "The media type is not supported";
    BodyTooLarge, 413, "body-too-large", "The body is too large";
    BodyTimeout, 408, "body-timeout", "The body did not arrive in time";
    Unauthenticated, 401, "unauthenticated", "No valid token was sent";
    Forbidden, 403, "operator-only", "Only an operator may decide this";
    JobNotFound, 404, "job-not-found", "There is no such job";
    AttemptNotFound, 404, "attempt-not-found", "There is no such attempt";
    RouteNotFound, 404, "route-not-found", "There is no such route";
    MethodNotAllowed, 405, "method-not-allowed", "The route does not know this method";
    IfMatchRequired, 428, "if-match-required", "The request needs a precondition";
    VersionStale, 412, "version-stale", "The job has changed";
    AttemptLive, 409, "attempt-live", "An attempt is being carried out";
    AttemptUnknown, 409, "attempt-unknown", "The outcome of an attempt is unknown";
    AttemptNotUnknown, 409, "attempt-not-unknown", "The outcome of the attempt is not unknown";
    AttemptOver, 409, "attempt-over", "The attempt is over";
    JobUnknown, 409, "job-unknown", "The outcome of the job is unknown";
    JobTerminal, 409, "job-terminal", "The job is decided";
    CallbackRefused, 401, "callback-refused", "The callback is not authentic";
    CallbackUnknown, 404, "callback-unknown", "There is no such attempt of this provider";
    Overloaded, 503, "overloaded", "Too many requests are being processed";
    DatabaseBusy, 503, "database-busy", "The job is locked by somebody else";
    DatabaseUnavailable, 503, "database-unavailable", "The database can't be reached";
    Internal, 500, "internal", "Something went wrong";
}

/// An answer that says what went wrong (RFC 9457).
///
/// Boxed, because it travels in the error half of many small results.
#[derive(Debug)]
pub(crate) struct Problem(Box<Contents>);

#[derive(Debug)]
struct Contents {
    kind: ProblemType,
    status: u16,
    detail: String,
    members: Map<String, Value>,
    headers: Vec<(HeaderName, HeaderValue)>,
}

impl Problem {
    pub(crate) fn new(kind: ProblemType, detail: impl Into<String>) -> Self {
        let (members, headers) = (Map::new(), Vec::new());
        Self(Box::new(Contents { kind, status: kind.status(), detail: detail.into(), members, headers }))
    }

    /// Answers with another status than usual; the type stays.
    pub(crate) fn status(mut self, status: u16) -> Self {
        self.0.status = status;
        self
    }

    /// Adds a member to the document.
    pub(crate) fn with(mut self, name: &str, value: Value) -> Self {
        self.0.members.insert(name.to_owned(), value);
        self
    }

    /// Adds a header.
    pub(crate) fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.0.headers.push((name, value));
        self
    }

    pub(crate) fn retry_after_a_second(self) -> Self {
        self.header(header::RETRY_AFTER, HeaderValue::from_static("1"))
    }

    pub(crate) fn job_not_found() -> Self {
        Self::new(ProblemType::JobNotFound, "you own no job with this id")
    }

    /// The document as JSON, for a place within another document.
    pub(crate) fn document(&self) -> Value {
        let mut document = json!({
            "type": format!("/problems/{}", self.0.kind.name()),
            "title": self.0.kind.title(),
            "status": self.0.status,
            "detail": self.0.detail,
        });
        if let Value::Object(members) = &mut document {
            members.extend(self.0.members.clone());
        }
        document
    }

    pub(crate) fn code(&self) -> u16 {
        self.0.status
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.0.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = (status, self.document().to_string()).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        headers.extend(self.0.headers);
        response
    }
}

impl From<KeyRefusal> for Problem {
    fn from(refusal: KeyRefusal) -> Self {
        let kind = match refusal {
            KeyRefusal::Missing => ProblemType::KeyMissing,
            KeyRefusal::Repeated => ProblemType::KeyRepeated,
            KeyRefusal::Empty => ProblemType::KeyEmpty,
            KeyRefusal::Malformed => ProblemType::KeyMalformed,
            KeyRefusal::TooLong(_) => ProblemType::KeyTooLong,
        };
        Self::new(kind, refusal.to_string())
    }
}

impl From<JsonRefusal> for Problem {
    fn from(refusal: JsonRefusal) -> Self {
        let kind = match refusal {
            JsonRefusal::Syntax { .. } => ProblemType::InvalidJson,
            JsonRefusal::TooDeep { .. } => ProblemType::TooDeep,
            JsonRefusal::DuplicateMember { .. } => ProblemType::DuplicateMember,
            JsonRefusal::LoneSurrogate { .. } => ProblemType::LoneSurrogate,
            JsonRefusal::NumberLosesPrecision { .. } => ProblemType::NumberLosesPrecision,
        };
        Self::new(kind, refusal.to_string())
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Locked => Self::new(
                ProblemType::DatabaseBusy,
                "somebody else holds the lock on this job; nothing was changed, try again",
            )
            .retry_after_a_second(),
            StoreError::Again | StoreError::Silent | StoreError::Unreachable(_) => {
                tracing::warn!(%error, "a request could not be served");
                Self::new(
                    ProblemType::DatabaseUnavailable,
                    "the database can't be reached; retry with the same key",
                )
                .retry_after_a_second()
            }
            StoreError::Corrupt(_) | StoreError::Refused(_) | StoreError::Changed(_) => {
                // What the database said may quote stored data, so the client is told only that it happened.
                tracing::error!(%error, "a request failed");
                Self::new(
                    ProblemType::Internal,
                    "the service could not finish the request; it has been logged",
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_problem_has_a_type_of_its_own() {
        let names: BTreeSet<&str> = ProblemType::ALL.iter().map(|kind| kind.name()).collect();
        assert_eq!(names.len(), ProblemType::ALL.len());
        for kind in ProblemType::ALL {
            assert!((400..600).contains(&kind.status()), "{kind:?}");
            let document = Problem::new(*kind, "why").with("job", json!(1)).document();
            assert_eq!(document["type"], format!("/problems/{}", kind.name()));
            assert_eq!(document["status"], kind.status());
            assert_eq!(document["job"], 1);
        }
    }
}
