use std::time::Duration;

use serde_json::Value;
use url::form_urlencoded::byte_serialize;

use super::PostgresError;
use crate::leash::{Engine, EngineError};

/// An engine on this machine answers in 2 ms; one that hangs must not be waited for.
const ANSWER_WITHIN: Duration = Duration::from_secs(5);
/// A registry says something within a second or two. A network that swallows packets never does, and there may be
/// another way to a Postgres.
const FIRST_WORD_IN_A_HURRY: Duration = Duration::from_secs(6);
const FIRST_WORD: Duration = Duration::from_mins(1);

/// An image's name and tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ImageName {
    pub(super) name: String,
    pub(super) tag: String,
}

impl ImageName {
    /// A colon before the last slash belongs to a registry's port.
    pub(super) fn read(text: &str) -> Self {
        match text.rsplit_once(':') {
            Some((name, tag)) if !tag.contains('/') => Self { name: name.to_owned(), tag: tag.to_owned() },
            _ => Self { name: text.to_owned(), tag: "latest".to_owned() },
        }
    }

    pub(super) fn full(&self) -> String {
        format!("{}:{}", self.name, self.tag)
    }
}

/// Makes sure that an engine answers. Blocks for milliseconds, seconds when it hangs.
pub(super) fn probe(address: &str) -> Result<Engine, PostgresError> {
    let absent = |error: EngineError| PostgresError::NoDocker {
        address: address.to_owned(),
        cause: match &error {
            EngineError::Io(io) if io.kind() == std::io::ErrorKind::WouldBlock => {
                format!("it takes connections but did not answer within {} s", ANSWER_WITHIN.as_secs())
            }
            _ => error.to_string(),
        },
    };
    let engine = Engine::at(address).map_err(absent)?;
    engine.text("GET", "/_ping", ANSWER_WITHIN).map_err(absent)?;
    Ok(engine)
}

/// Whether the image is there already. Blocks for a millisecond.
pub(super) fn is_there(engine: &Engine, image: &ImageName) -> Result<bool, PostgresError> {
    match engine.request("GET", &format!("/images/{}/json", image.full()), ANSWER_WITHIN) {
        Ok(_) => Ok(true),
        Err(EngineError::Status { status: 404, .. }) => Ok(false),
        Err(error) => Err(missing(image, error.to_string())),
    }
}

/// Pulls the image. Blocks for as long as the registry says something; in a `hurry`, gives up soon when it doesn't.
pub(super) fn pull(engine: &Engine, image: &ImageName, hurry: bool) -> Result<(), PostgresError> {
    let encode = |text: &str| byte_serialize(text.as_bytes()).collect::<String>();
    let path = format!("/images/create?fromImage={}&tag={}", encode(&image.name), encode(&image.tag));
    let patience = if hurry { FIRST_WORD_IN_A_HURRY } else { FIRST_WORD };
    let lines =
        engine.lines("POST", &path, patience).map_err(|error| missing(image, silence(&error, patience)))?;
    for line in lines {
        let line = line.map_err(|error| missing(image, silence(&error.into(), patience)))?;
        // The status is 200 long before it is known whether the pull works: errors come as a line.
        let word: Value = serde_json::from_str(&line).unwrap_or(Value::Null);
        if let Some(error) = word.get("error").and_then(Value::as_str) {
            return Err(missing(image, error.to_owned()));
        }
    }
    Ok(())
}

fn missing(image: &ImageName, cause: String) -> PostgresError {
    PostgresError::NoImage { image: image.full(), cause }
}

fn silence(error: &EngineError, patience: Duration) -> String {
    match error {
        EngineError::Io(io)
            if matches!(io.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut) =>
        {
            format!("the registry said nothing for {} s", patience.as_secs())
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_of_a_registry_is_not_a_tag() {
        let cases = [
            ("postgres:15-alpine", "postgres", "15-alpine"),
            ("postgres", "postgres", "latest"),
            ("localhost:5000/postgres", "localhost:5000/postgres", "latest"),
            ("localhost:5000/postgres:17", "localhost:5000/postgres", "17"),
        ];
        for (text, name, tag) in cases {
            assert_eq!(ImageName::read(text), ImageName { name: name.into(), tag: tag.into() }, "{text}");
        }
    }
}
