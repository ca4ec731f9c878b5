//! The values that a matrix dimension takes.

use std::{borrow::Cow, fmt};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A value of a matrix dimension.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum MatrixValue {
    /// A whole number, for example a count of clicks.
    Number(i64),
    /// A switch.
    Switch(bool),
    /// A word.
    Word(String),
}

impl fmt::Display for MatrixValue {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(out),
            Self::Switch(switch) => switch.fmt(out),
            Self::Word(word) => word.fmt(out),
        }
    }
}

impl Serialize for MatrixValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(number) => serializer.serialize_i64(*number),
            Self::Switch(switch) => serializer.serialize_bool(*switch),
            Self::Word(word) => serializer.serialize_str(word),
        }
    }
}

// By hand: an untagged enum would answer every mistake with "data did not match any variant".
impl<'de> Deserialize<'de> for MatrixValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;

        impl de::Visitor<'_> for Visitor {
            type Value = MatrixValue;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a word, a whole number, or true or false")
            }

            fn visit_bool<E: de::Error>(self, switch: bool) -> Result<MatrixValue, E> {
                Ok(MatrixValue::Switch(switch))
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<MatrixValue, E> {
                Ok(MatrixValue::Number(number))
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<MatrixValue, E> {
                i64::try_from(number)
                    .map(MatrixValue::Number)
                    .map_err(|_| E::invalid_value(de::Unexpected::Unsigned(number), &self))
            }

            fn visit_str<E: de::Error>(self, word: &str) -> Result<MatrixValue, E> {
                Ok(MatrixValue::Word(word.to_owned()))
            }
        }

        deserializer.deserialize_any(Visitor)
    }
}

impl JsonSchema for MatrixValue {
    fn schema_name() -> Cow<'static, str> {
        "MatrixValue".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "integer", "boolean"] })
    }
}
