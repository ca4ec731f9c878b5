//! Durations as people write them: `300ms`, `2s`, `1m`.

use std::{borrow::Cow, fmt, str::FromStr, time::Duration};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A duration written as a whole number and a unit: `us`, `ms`, `s`, `m` or `h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span(pub Duration);

impl Span {
    /// What one round may take where the scenario says nothing.
    #[must_use]
    pub const fn default_round() -> Self {
        Self(Duration::from_secs(20))
    }
}

/// The text is not a duration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a duration; write a whole number and a unit, like `300ms`, `2s` or `1m`")]
pub struct NotADuration(String);

impl FromStr for Span {
    type Err = NotADuration;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || NotADuration(text.to_owned());
        let split = text.find(|c: char| !c.is_ascii_digit()).ok_or_else(wrong)?;
        let (number, unit) = text.split_at(split);
        let number: u64 = number.parse().map_err(|_| wrong())?;
        let micros = match unit {
            "us" => Some(number),
            "ms" => number.checked_mul(1_000),
            "s" => number.checked_mul(1_000_000),
            "m" => number.checked_mul(60_000_000),
            "h" => number.checked_mul(3_600_000_000),
            _ => None,
        };
        micros.map(|micros| Self(Duration::from_micros(micros))).ok_or_else(wrong)
    }
}

impl fmt::Display for Span {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let micros = self.0.as_micros();
        match micros {
            0 => write!(out, "0s"),
            _ if micros.is_multiple_of(1_000_000) => write!(out, "{}s", micros / 1_000_000),
            _ if micros.is_multiple_of(1_000) => write!(out, "{}ms", micros / 1_000),
            _ => write!(out, "{micros}us"),
        }
    }
}

impl Serialize for Span {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Cow::<str>::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for Span {
    fn schema_name() -> Cow<'static, str> {
        "Duration".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^[0-9]+(us|ms|s|m|h)$", "examples": ["300ms", "2s"] })
    }
}
