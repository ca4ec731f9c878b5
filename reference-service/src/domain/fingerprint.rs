use sha2::{Digest as _, Sha256};

use super::{Json, canonical};

/// Stored with each fingerprint: a change of the rules below must not turn honest retries into conflicts.
pub const FINGERPRINT_VERSION: i16 = 1;

/// SHA-256 over everything that makes two requests one intent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fingerprint(pub [u8; 32]);

/// What a request asks for, before any default is filled in.
#[derive(Debug, Clone, Copy)]
pub struct Intent<'a> {
    /// `POST`
    pub method: &'a str,
    /// The route as the router knows it, for example `/v1/jobs`.
    pub route: &'a str,
    /// The path that was asked for.
    pub path: &'a str,
    /// The raw query string, without `?`.
    pub query: &'a str,
    /// The media type of the body; parameters don't count.
    pub media_type: &'a str,
    /// The body as received.
    pub body: &'a Json,
}

/// Takes the fingerprint of an intent. Order of query parameters, whitespace, member order and escape forms don't
/// matter; array order does.
#[must_use]
pub fn fingerprint(intent: &Intent<'_>) -> Fingerprint {
    let mut query: Vec<&str> = intent.query.split('&').filter(|pair| !pair.is_empty()).collect();
    query.sort_unstable();
    let media_type = intent.media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let parts = [
        "onejob fingerprint 1",
        intent.method,
        intent.route,
        intent.path,
        &query.join("&"),
        &media_type,
        &canonical(intent.body),
    ];
    let mut hash = Sha256::new();
    for part in parts {
        // A length before each part: no two lists of parts share one concatenation.
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part.as_bytes());
    }
    Fingerprint(hash.finalize().into())
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    fn with(change: impl FnOnce(&mut Intent<'_>)) -> Fingerprint {
        let body = parse(br#"{"kind":"mail"}"#).expect("valid JSON");
        let mut intent = Intent {
            method: "POST",
            route: "/v1/jobs",
            path: "/v1/jobs",
            query: "a=1&b=2",
            media_type: "application/json",
            body: &body,
        };
        change(&mut intent);
        fingerprint(&intent)
    }

    #[test]
    fn every_part_counts() {
        let prints = [
            with(|_| {}),
            with(|intent| intent.method = "PUT"),
            with(|intent| intent.route = "/v1/{x}"),
            with(|intent| intent.path = "/v1/jobs/"),
            with(|intent| intent.query = "a=1&b=3"),
            with(|intent| intent.query = ""),
            with(|intent| intent.media_type = "application/other+json"),
            with(|intent| intent.body = &Json::Null),
        ];
        for (index, print) in prints.iter().enumerate() {
            assert!(!prints[..index].contains(print), "change {index} makes no difference");
        }
    }

    #[test]
    fn spelling_does_not_count() {
        let plain = with(|_| {});
        assert_eq!(plain, with(|intent| intent.query = "b=2&a=1"));
        assert_eq!(plain, with(|intent| intent.media_type = "Application/JSON; charset=utf-8"));
    }

    #[test]
    fn text_can_not_move_from_one_part_to_the_next() {
        let one = with(|intent| {
            intent.route = "/v1/jobs";
            intent.path = "x";
        });
        let other = with(|intent| {
            intent.route = "/v1/job";
            intent.path = "sx";
        });
        assert_ne!(one, other);
    }
}
