//! When a provider says to come back.
//!
//! | spelling | where it is met |
//! |---|---|
//! | `retry-after: 2`, `0.5` | nearly everywhere |
//! | `retry-after: Sun, 01 Mar 2026 12:00:07 GMT` and the two older forms of HTTP dates | RFC 9110, proxies |
//! | `retry-after-ms: 1500` | OpenAI, Azure, Anthropic |
//! | `x-ratelimit-reset-requests: 6m0s`, `20ms` | OpenAI, Groq |
//! | `anthropic-ratelimit-requests-reset: 2026-03-01T12:00:07Z` | Anthropic |
//! | `x-ratelimit-reset: 1772366407000` and in seconds since 1970 | OpenRouter, gateways |
//! | `"retryDelay": "31s"` in the body | Gemini |

use std::time::Duration;

use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimeParser;
use jiff::tz::TimeZone;
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
    let mut windows = None;
    for name in &shape.headers {
        let Some((_, value)) = headers.iter().find(|(header, _)| header == name) else { continue };
        let wait =
            if name.ends_with("-ms") { seconds(value).map(|wait| wait / 1000) } else { spelled(value, now) };
        if name.starts_with("retry-after") && wait.is_some() {
            return wait;
        }
        // Windows of requests and of tokens end at times of their own, and nobody says which of them is full.
        windows = windows.max(wait);
    }
    if windows.is_some() {
        return windows;
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
    moment(text, now).or_else(|| seconds(text)).or_else(|| units(text)).or_else(|| date(text, now))
}

/// Seconds or milliseconds since 1970: no wait is that long.
fn moment(text: &str, now: Timestamp) -> Option<Duration> {
    const YEAR_2001: i64 = 1_000_000_000;
    let number: i64 = text.trim().parse().ok()?;
    let at = match number {
        number if number >= YEAR_2001 * 1000 => Timestamp::from_millisecond(number).ok()?,
        number if number >= YEAR_2001 => Timestamp::from_second(number).ok()?,
        _ => return None,
    };
    Some(until(at, now))
}

/// A moment in the past means now.
fn until(at: Timestamp, now: Timestamp) -> Duration {
    Duration::try_from(at.duration_since(now)).unwrap_or(Duration::ZERO)
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

/// An HTTP date in any of its three forms, or an RFC 3339 one.
fn date(text: &str, now: Timestamp) -> Option<Duration> {
    let text = text.trim();
    // A reader must take all three of them: RFC 9110, section 5.6.7. The older two are in GMT without a zone that a
    // parser would read.
    let older = |format: &str| {
        let civil = jiff::fmt::strtime::parse(format, text).ok()?.to_datetime().ok()?;
        civil.to_zoned(TimeZone::UTC).ok().map(|zoned| zoned.timestamp())
    };
    let at = DateTimeParser::new()
        .parse_timestamp(text)
        .ok()
        .or_else(|| text.parse().ok())
        .or_else(|| older("%A, %d-%b-%y %H:%M:%S GMT"))
        .or_else(|| older("%a %b %e %H:%M:%S %Y"))?;
    Some(until(at, now))
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
            ("x-reset", "2m59.56s", 179_560),
            ("retry-after", "Sunday, 01-Mar-26 12:00:07 GMT", 7000),
            ("retry-after", "Sun Mar  1 12:00:07 2026", 7000),
            ("x-reset", "2026-03-01T12:00:07Z", 7000),
            ("x-reset", "2026-03-01T13:00:07+01:00", 7000),
            ("x-reset", "1772366407000", 7000),
            ("x-reset", "1772366407", 7000),
            ("x-reset", "1772366000", 0),
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
    fn each_vendors_own_header_is_read_in_its_own_dialect() {
        let catalogue = crate::dialect::Catalogue::embedded().unwrap();
        let now = "2026-03-01T12:00:00Z".parse().unwrap();
        for (dialect, header, value) in [
            ("openai-chat", "x-ratelimit-reset-requests", "7s"),
            ("openai-chat", "x-ratelimit-reset-tokens", "7s"),
            ("openai-responses", "x-ratelimit-reset-tokens", "7s"),
            ("azure-openai", "retry-after-ms", "7000"),
            ("azure-openai", "x-ratelimit-reset-requests", "7"),
            ("anthropic", "anthropic-ratelimit-requests-reset", "2026-03-01T12:00:07Z"),
            ("anthropic", "anthropic-ratelimit-tokens-reset", "2026-03-01T12:00:07Z"),
            ("groq", "x-ratelimit-reset-requests", "7s"),
            ("groq", "x-ratelimit-reset-tokens", "7.0s"),
            ("mistral", "ratelimitbysize-reset", "7"),
            ("openrouter", "x-ratelimit-reset", "1772366407000"),
            ("vllm", "retry-after", "7"),
        ] {
            let shape = &catalogue.get(dialect).unwrap().retry;
            let told = retry_after(shape, &[(header.to_owned(), value.to_owned())], b"", now);
            assert_eq!(told, Some(Duration::from_secs(7)), "{dialect}: {header}");
            // What was made for this very answer comes first.
            let both = [(header.to_owned(), value.to_owned()), ("retry-after".to_owned(), "3".to_owned())];
            let told = retry_after(shape, &both, b"", now);
            let wanted = if header.starts_with("retry-after") { 7 } else { 3 };
            assert!(
                told == Some(Duration::from_secs(wanted)) || header == "retry-after",
                "{dialect}: {told:?}"
            );
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
