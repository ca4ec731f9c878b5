use axum::body::Body;
use axum::http::{HeaderMap, header};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::problem::{Problem, ProblemType};
use crate::Config;

/// The media type of the body, which has to be JSON.
pub(super) fn json_media_type(headers: &HeaderMap) -> Result<&str, Problem> {
    let told = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = told.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let json =
        essence == "application/json" || (essence.starts_with("application/") && essence.ends_with("+json"));
    if !json {
        return Err(unsupported("send the body as `Content-Type: application/json`"));
    }
    if charset(told).is_some_and(|name| !name.eq_ignore_ascii_case("utf-8")) {
        return Err(unsupported("JSON is UTF-8 (RFC 8259, 8.1); leave `charset` out"));
    }
    let coding = headers.get(header::CONTENT_ENCODING);
    if coding.is_some_and(|coding| !coding.as_bytes().eq_ignore_ascii_case(b"identity")) {
        return Err(unsupported("send the body as it is, without a `Content-Encoding`"));
    }
    Ok(told)
}

/// The charset that a media type names, without quotes.
fn charset(media_type: &str) -> Option<&str> {
    let named = media_type.split(';').skip(1).filter_map(|parameter| parameter.split_once('='));
    let mut charsets = named.filter(|(name, _)| name.trim().eq_ignore_ascii_case("charset"));
    charsets.next().map(|(_, value)| value.trim().trim_matches('"'))
}

fn unsupported(detail: &str) -> Problem {
    Problem::new(ProblemType::UnsupportedMediaType, detail)
}

/// Reads a whole body, bounded in size and time.
pub(super) async fn read_body(body: Body, config: &Config) -> Result<Vec<u8>, Problem> {
    let collected =
        tokio::time::timeout(config.client_timeout, Limited::new(body, config.max_body).collect())
            .await
            .map_err(|_| Problem::new(ProblemType::BodyTimeout, "send the body faster"))?;
    match collected {
        Ok(collected) => Ok(collected.to_bytes().into()),
        Err(error) if error.is::<LengthLimitError>() => Err(Problem::new(
            ProblemType::BodyTooLarge,
            format!("the body may have at most {} bytes", config.max_body),
        )),
        Err(_) => Err(Problem::new(ProblemType::InvalidBody, "the body broke off; send all of it")),
    }
}

/// Reads an optional JSON object: nothing at all stands for `{}`.
pub(super) async fn read_optional<T: DeserializeOwned>(
    headers: &HeaderMap,
    body: Body,
    config: &Config,
) -> Result<T, Problem> {
    let raw = read_body(body, config).await?;
    if raw.is_empty() {
        return shape(Value::Object(serde_json::Map::new()));
    }
    json_media_type(headers)?;
    crate::domain::parse(&raw)?;
    shape(value(&raw)?)
}

/// The body as a value; the strict pass comes first, so nothing is lost here.
pub(super) fn value(raw: &[u8]) -> Result<Value, Problem> {
    serde_json::from_slice(raw)
        .map_err(|error| Problem::new(ProblemType::InvalidJson, format!("the body is not JSON: {error}")))
}

/// The value as what the route expects.
pub(super) fn shape<T: DeserializeOwned>(value: Value) -> Result<T, Problem> {
    serde_json::from_value(value)
        .map_err(|error| Problem::new(ProblemType::InvalidBody, format!("the body does not fit: {error}")))
}
