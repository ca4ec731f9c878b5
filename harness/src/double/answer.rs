//! The plain wire format: what the double's answers look like. Pure.

use http::StatusCode;
use serde_json::json;

/// An answer, ready to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) headers: Vec<(http::HeaderName, http::HeaderValue)>,
    pub(super) body: String,
    /// What a caller that reads the answer takes as the result; nothing where the answer gives none.
    pub(super) text: Option<String>,
}

impl Answer {
    pub(super) fn json(status: StatusCode, body: &serde_json::Value) -> Self {
        Self::typed(status, "application/json", body.to_string())
    }

    fn typed(status: StatusCode, media: &'static str, body: String) -> Self {
        let headers = vec![(http::header::CONTENT_TYPE, http::HeaderValue::from_static(media))];
        Self { status, headers, body, text: None }
    }

    /// The work is done, and this is its result.
    pub(super) fn done(call: u64, text: &str) -> Self {
        let body = json!({ "result": text, "reference": reference(call) });
        Self { text: Some(text.to_owned()), ..Self::json(StatusCode::OK, &body) }
    }

    /// The work is taken on; its outcome comes by callback or is asked for.
    pub(super) fn accepted(call: u64) -> Self {
        Self::json(StatusCode::ACCEPTED, &json!({ "status": "accepted", "reference": reference(call) }))
    }

    pub(super) fn error(status: StatusCode, code: &str, message: &str) -> Self {
        Self::json(status, &json!({ "error": { "code": code, "message": message } }))
    }

    /// A status whose body says nothing about the work, as a proxy in between would send it.
    pub(super) fn bare(status: StatusCode) -> Self {
        // HTTP forbids a body here, and a body of no bytes must not be announced as one.
        let bodiless = status.is_informational() || matches!(status.as_u16(), 204 | 304);
        let body = if bodiless { String::new() } else { status.canonical_reason().unwrap_or("?").to_owned() };
        Self::typed(status, "text/plain", body)
    }

    /// A page where a result was asked for.
    pub(super) fn garbage() -> Self {
        let page =
            "<!doctype html><html><head><title>Welcome</title></head><body><h1>It works!</h1></body></html>";
        Self::typed(StatusCode::OK, "text/html; charset=utf-8", page.to_owned())
    }

    pub(super) fn with_headers(mut self, headers: Vec<(http::HeaderName, http::HeaderValue)>) -> Self {
        self.headers.retain(|(name, _)| headers.iter().all(|(own, _)| own != name));
        self.headers.extend(headers);
        self
    }
}

/// What the provider calls its own record of a call.
pub(super) fn reference(call: u64) -> String {
    format!("call-{call}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_success_carries_the_text_and_the_providers_reference() {
        let answer = Answer::done(7, "answer-A");
        let body: serde_json::Value = serde_json::from_str(&answer.body).unwrap();
        assert_eq!(body, json!({"result": "answer-A", "reference": "call-7"}));
        assert_eq!(answer.text.as_deref(), Some("answer-A"));
    }

    #[test]
    fn nothing_but_a_success_gives_a_result() {
        assert_eq!(Answer::garbage().text, None);
        assert_eq!(Answer::bare(StatusCode::BAD_GATEWAY).text, None);
        assert_eq!(Answer::accepted(1).text, None);
        assert_eq!(Answer::error(StatusCode::CONFLICT, "duplicate_request", "x").text, None);
    }

    #[test]
    fn a_status_that_allows_no_body_has_none() {
        assert_eq!(Answer::bare(StatusCode::NO_CONTENT).body, "");
        assert_eq!(Answer::bare(StatusCode::BAD_GATEWAY).body, "Bad Gateway");
    }

    #[test]
    fn a_rules_header_replaces_the_answers_own() {
        let own = vec![(http::header::CONTENT_TYPE, http::HeaderValue::from_static("text/csv"))];
        let answer = Answer::garbage().with_headers(own.clone());
        assert_eq!(answer.headers, own);
    }
}
