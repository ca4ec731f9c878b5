use std::time::Duration;

use serde_json::Value;

use crate::domain::Body;
use crate::rules::Found;

/// The longest text of a provider's that is kept, in characters.
const LONGEST_TEXT: usize = 2000;

/// A text of a provider's in a form that can be stored: Postgres takes no U+0000, and nobody reads novels in a log.
pub(crate) fn storable(text: &str) -> String {
    text.chars().take(LONGEST_TEXT).map(|c| if c == '\0' { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

fn text(value: &Value, member: &str) -> Option<String> {
    value.get(member).and_then(Value::as_str).map(storable)
}

/// Reads the body of an answer to a call.
pub(super) fn read_answer(bytes: &[u8]) -> Body {
    let Ok(value) = serde_json::from_slice::<Value>(bytes) else { return Body::Unreadable };
    let reference = text(&value, "reference");
    if let Some(result) = value.get("result") {
        return Body::Result { result: result.clone(), reference };
    }
    if text(&value, "status").as_deref() == Some("accepted") {
        return Body::Accepted { reference };
    }
    match value.get("error") {
        Some(error) => match (text(error, "code"), text(error, "message")) {
            (Some(code), message) => Body::Error { code, message: message.unwrap_or_default() },
            _ => Body::Unreadable,
        },
        None => Body::Unreadable,
    }
}

/// Reads the answer to a probe.
pub(super) fn read_probe(status: u16, bytes: &[u8]) -> Found {
    if status == 404 {
        return Found::Nothing;
    }
    let value = serde_json::from_slice::<Value>(bytes).unwrap_or_default();
    match (status, text(&value, "status").as_deref()) {
        (200, Some("succeeded")) => Found::Succeeded(value.get("result").cloned().unwrap_or_default()),
        (200, Some("failed")) => {
            let said = value.get("error").and_then(|error| text(error, "message"));
            Found::Failed(said.unwrap_or_else(|| "the provider reports that it failed".to_owned()))
        }
        (200, Some("pending")) => Found::Pending,
        _ => Found::NoAnswer(format!("the provider answered {status}")),
    }
}

/// Reads `Retry-After`. That it is there says that nothing was done; a form other than seconds is not read further,
/// because a date would compare two clocks, and policy then says how long to wait.
pub(super) fn read_retry_after(value: Option<&str>) -> Option<Duration> {
    let value = value.map(str::trim).filter(|value| !value.is_empty())?;
    Some(value.parse().map_or(Duration::ZERO, Duration::from_secs))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn bodies_are_read_by_what_they_hold() {
        for (bytes, body) in [
            (r#"{"result":null}"#, Body::Result { result: Value::Null, reference: None }),
            (
                r#"{"result":{"a":1},"reference":"r"}"#,
                Body::Result { result: json!({"a":1}), reference: Some("r".to_owned()) },
            ),
            (r#"{"status":"accepted","reference":"r"}"#, Body::Accepted { reference: Some("r".to_owned()) }),
            (
                r#"{"error":{"code":"c","message":"m"}}"#,
                Body::Error { code: "c".to_owned(), message: "m".to_owned() },
            ),
            (r#"{"error":"c"}"#, Body::Unreadable),
            (r#"{"result":1"#, Body::Unreadable),
            ("<html>", Body::Unreadable),
            ("", Body::Unreadable),
            ("{}", Body::Unreadable),
        ] {
            assert_eq!(read_answer(bytes.as_bytes()), body, "{bytes}");
        }
    }

    #[test]
    fn a_date_says_retry_but_not_when() {
        let read = |value| read_retry_after(Some(value));
        assert_eq!(read(" 7 "), Some(Duration::from_secs(7)));
        assert_eq!(read("Tue, 01 Dec 2026 00:00:00 GMT"), Some(Duration::ZERO));
        assert_eq!(read(""), None);
        assert_eq!(read_retry_after(None), None);
    }

    #[test]
    fn what_a_provider_says_can_always_be_stored() {
        let body = format!(r#"{{"error":{{"code":"a\u0000b","message":"{}"}}}}"#, "x".repeat(5000));
        let Body::Error { code, message } = read_answer(body.as_bytes()) else { panic!("an error: {body}") };
        assert_eq!((code.as_str(), message.len()), ("a\u{fffd}b", 2000));
    }

    #[test]
    fn only_a_plain_404_means_not_found() {
        assert_eq!(read_probe(404, b"<html>"), Found::Nothing);
        assert_eq!(read_probe(200, br#"{"status":"succeeded","result":1}"#), Found::Succeeded(json!(1)));
        assert_eq!(read_probe(200, br#"{"status":"pending"}"#), Found::Pending);
        assert!(matches!(read_probe(200, br#"{"status":"failed"}"#), Found::Failed(_)));
        for (status, body) in [(200, "{}"), (200, "404"), (500, r#"{"status":"failed"}"#), (410, "")] {
            assert!(matches!(read_probe(status, body.as_bytes()), Found::NoAnswer(_)), "{status} {body}");
        }
    }
}
