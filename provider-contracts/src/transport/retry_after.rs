//! When a provider says to come back.

use std::time::Duration;

use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimeParser;
use serde_json::Value;

use crate::dialect::RetryShape;

/// How long to wait, in any of the spellings: milliseconds, seconds, an HTTP date, `6m0s`, or a field of the body.
#[must_use]
pub fn retry_after(
    shape: &RetryShape,
    headers: &[(String, String)],
    body: &[u8],
    now: Timestamp,
) -> Option<Duration> {
    for name in &shape.headers {
        let Some((_, value)) = headers.iter().find(|(header, _)| header == name) else { continue };
        let wait =
            if name.ends_with("-ms") { seconds(value).map(|wait| wait / 1000) } else { spelled(value, now) };
        if wait.is_some() {
            return wait;
        }
    }
    let document: Value = serde_json::from_slice(body).ok()?;
    let node = crate::dialect::first_of(&shape.body, &document)?;
    node.as_str().map_or_else(|| node.as_f64().and_then(from_seconds), |text| spelled(text, now))
}

/// What the provider's own header says about trying again, if there is one.
#[must_use]
pub fn should_retry(shape: &RetryShape, headers: &[(String, String)]) -> Option<bool> {
    let name = shape.should_retry.as_ref()?;
    let (_, value) = headers.iter().find(|(header, _)| header == name)?;
    match value.trim() {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}

fn spelled(text: &str, now: Timestamp) -> Option<Duration> {
    seconds(text).or_else(|| units(text)).or_else(|| date(text, now))
}

fn seconds(text: &str) -> Option<Duration> {
    text.trim().parse().ok().and_then(from_seconds)
}

fn from_seconds(seconds: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(seconds).ok()
}

/// `6m0s`, `1.5s`, `20ms`, `1h`.
fn units(text: &str) -> Option<Duration> {
    let mut rest = text.trim();
    let mut total = Duration::ZERO;
    while !rest.is_empty() {
        let number = rest.find(|c: char| !(c.is_ascii_digit() || c == '.'))?;
        let value: f64 = rest[..number].parse().ok()?;
        rest = &rest[number..];
        let length = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        let scale = match &rest[..length] {
            "h" => 3600.0,
            "m" => 60.0,
            "s" => 1.0,
            "ms" => 0.001,
            "us" | "µs" => 1e-6,
            _ => return None,
        };
        total += from_seconds(value * scale)?;
        rest = &rest[length..];
    }
    (!text.trim().is_empty()).then_some(total)
}

/// An HTTP date; one in the past means now.
fn date(text: &str, now: Timestamp) -> Option<Duration> {
    let at = DateTimeParser::new().parse_timestamp(text.trim()).ok()?;
    Some(Duration::try_from(at.duration_since(now)).unwrap_or(Duration::ZERO))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(header: &str, value: &str) -> Option<Duration> {
        let shape = RetryShape {
            headers: vec!["retry-after-ms".into(), "retry-after".into(), "x-reset".into()],
            ..RetryShape::default()
        };
        let now = "2026-03-01T12:00:00Z".parse().unwrap();
        retry_after(&shape, &[(header.to_owned(), value.to_owned())], b"", now)
    }

    #[test]
    fn every_spelling_is_read() {
        let cases = [
            ("retry-after-ms", "1500", 1500),
            ("retry-after", "2", 2000),
            ("retry-after", "0.5", 500),
            ("retry-after", "Sun, 01 Mar 2026 12:00:07 GMT", 7000),
            ("retry-after", "Sun, 01 Mar 2026 11:00:00 GMT", 0),
            ("x-reset", "6m0s", 360_000),
            ("x-reset", "1.5s", 1500),
            ("x-reset", "20ms", 20),
            ("x-reset", "1h2m", 3_720_000),
        ];
        for (header, value, millis) in cases {
            assert_eq!(wait(header, value), Some(Duration::from_millis(millis)), "{header}: {value}");
        }
    }

    #[test]
    fn nonsense_is_no_answer() {
        for value in ["soon", "-3", "", "5x", "NaN", "1e999"] {
            assert_eq!(wait("retry-after", value), None, "{value}");
        }
    }

    #[test]
    fn a_field_of_the_body_counts_too() {
        let shape = RetryShape {
            body: vec![crate::dialect::Selector::parse("$.error.details[*].retryDelay").unwrap()],
            ..RetryShape::default()
        };
        let body = br#"{"error":{"details":[{"@type":"x"},{"retryDelay":"31s"}]}}"#;
        assert_eq!(retry_after(&shape, &[], body, Timestamp::UNIX_EPOCH), Some(Duration::from_secs(31)));
    }
}
