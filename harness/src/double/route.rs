//! What a request is: a call, a question about an outcome, or neither. The same for both versions of HTTP.

use std::sync::Arc;

use http::{Method, StatusCode, request::Parts};

use super::{
    answer::Answer,
    desk::{Desk, Heard, Taken},
    locator::Locator,
    probe,
};

/// How requests are told apart.
#[derive(Debug)]
pub(super) struct Router {
    pub(super) desk: Arc<Desk>,
    pub(super) providers: Vec<String>,
    pub(super) identity: Option<Locator>,
    pub(super) attempt: Option<Locator>,
}

/// What is to be done with a request.
#[derive(Debug)]
pub(super) enum Routed {
    Call(Box<Taken>),
    /// No call: answered at once, and nothing of it is a call's end.
    Aside(Answer),
}

impl Router {
    /// Takes a request that was received in full.
    pub(super) fn route(&self, head: &Parts, body: &[u8]) -> Routed {
        let path = head.uri.path();
        let name = path.trim_start_matches('/').split('/').next().unwrap_or_default();
        let Some(provider) = self.providers.iter().find(|known| *known == name) else {
            self.desk.stray(format!("{} {path}: no provider of that name", head.method));
            let message = format!("no provider `{name}` here; known: {}", self.providers.join(", "));
            return Routed::Aside(Answer::error(StatusCode::NOT_FOUND, "no_such_provider", &message));
        };
        if matches!(head.method, Method::GET | Method::HEAD) {
            return Routed::Aside(self.ask(head, provider));
        }
        let json: Option<serde_json::Value> = serde_json::from_slice(body).ok();
        let find = |place: &Option<Locator>| place.as_ref()?.find(&head.headers, json.as_ref());
        let call = Heard {
            provider: provider.clone(),
            identity: find(&self.identity),
            attempt: find(&self.attempt),
            traceparent: Locator::Header(http::HeaderName::from_static("traceparent"))
                .find(&head.headers, None),
            body: String::from_utf8_lossy(body).into_owned(),
        };
        Routed::Call(Box::new(self.desk.take(call)))
    }

    /// A request whose body was too big to be read.
    pub(super) fn too_big(&self, head: &Parts) -> Answer {
        self.desk.stray(format!(
            "{} {}: more than {} bytes",
            head.method,
            head.uri.path(),
            super::server::MOST_BYTES
        ));
        Answer::error(StatusCode::PAYLOAD_TOO_LARGE, "too_large", "the request's body is too large")
    }

    fn ask(&self, head: &Parts, provider: &str) -> Answer {
        let Some(reference) = client_reference(head.uri.query().unwrap_or_default()) else {
            self.desk.stray(format!("{} {}: neither a call nor a probe", head.method, head.uri));
            let message = "ask for an outcome with ?client_reference=ID";
            return Answer::error(StatusCode::BAD_REQUEST, "no_client_reference", message);
        };
        probe::answer(&self.desk, provider, &reference)
    }
}

fn client_reference(query: &str) -> Option<String> {
    let value = query.split('&').find_map(|pair| pair.strip_prefix("client_reference="))?;
    Some(decode(value))
}

/// Percent-decoding as forms use it; what isn't an escape stands for itself.
fn decode(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let escaped = (bytes[at] == b'%')
            .then(|| text.get(at + 1..at + 3))
            .flatten()
            .and_then(|hex| u8::from_str_radix(hex, 16).ok());
        out.push(escaped.unwrap_or(if bytes[at] == b'+' { b' ' } else { bytes[at] }));
        at += if escaped.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_is_read_from_anywhere_in_the_query_and_unescaped() {
        assert_eq!(client_reference("a=b&client_reference=j%2D1%20x+y").as_deref(), Some("j-1 x y"));
        assert_eq!(client_reference("client_reference=100%&x").as_deref(), Some("100%"));
        assert_eq!(client_reference("my_client_reference=1"), None);
        assert_eq!(client_reference(""), None);
    }
}
