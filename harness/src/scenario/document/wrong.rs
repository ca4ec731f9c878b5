//! What serde finds wrong with a document, kept in parts so that the message can be a good one.

use std::{fmt, ops::Range};

use serde::de::{self, Expected, Unexpected};

/// One thing that is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wrong {
    pub(super) span: Option<Range<usize>>,
    /// Name of the Rust type that was being read.
    pub(super) within: Option<&'static str>,
    pub(super) what: What,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum What {
    Key { key: String, allowed: &'static [&'static str] },
    Missing { key: &'static str },
    Word { word: String, allowed: &'static [&'static str] },
    Type { found: String, expected: String },
    Other(String),
}

impl Wrong {
    fn new(what: What) -> Self {
        Self { span: None, within: None, what }
    }

    pub(super) fn or_at(mut self, span: &Range<usize>) -> Self {
        self.span.get_or_insert_with(|| span.clone());
        self
    }

    pub(super) fn or_within(mut self, name: &'static str) -> Self {
        self.within.get_or_insert(name);
        self
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.what {
            What::Key { key, .. } => write!(out, "unknown key `{key}`"),
            What::Missing { key } => write!(out, "`{key}` is missing"),
            What::Word { word, .. } => write!(out, "unknown word `{word}`"),
            What::Type { found, expected } => write!(out, "{found} stands where {expected} must stand"),
            What::Other(message) => out.write_str(message),
        }
    }
}

impl std::error::Error for Wrong {}

impl de::Error for Wrong {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(What::Other(message.to_string()))
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::new(What::Type { found: describe(found), expected: plain(expected) })
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::new(What::Type { found: describe(found), expected: plain(expected) })
    }

    fn unknown_field(key: &str, allowed: &'static [&'static str]) -> Self {
        Self::new(What::Key { key: key.to_owned(), allowed })
    }

    fn unknown_variant(word: &str, allowed: &'static [&'static str]) -> Self {
        Self::new(What::Word { word: word.to_owned(), allowed })
    }

    fn missing_field(key: &'static str) -> Self {
        Self::new(What::Missing { key })
    }
}

/// The found value in TOML's words instead of serde's.
fn describe(found: Unexpected<'_>) -> String {
    match found {
        Unexpected::Bool(switch) => format!("`{switch}`"),
        Unexpected::Signed(number) => format!("the number {number}"),
        Unexpected::Unsigned(number) => format!("the number {number}"),
        Unexpected::Float(number) => format!("the number {number}"),
        Unexpected::Str(text) => format!("the text \"{text}\""),
        Unexpected::Seq => "a list".to_owned(),
        Unexpected::Map => "a table".to_owned(),
        Unexpected::Other(what) => what.to_owned(),
        other => other.to_string(),
    }
}

/// The expectation in TOML's words instead of Rust's.
fn plain(expected: &dyn Expected) -> String {
    let rust = expected.to_string();
    match rust.as_str() {
        "a string" | "a Cow str" | "string" => "a text in quotes".to_owned(),
        "a boolean" => "true or false".to_owned(),
        "a sequence" => "a list".to_owned(),
        "a map" => "a table".to_owned(),
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number from 0 on".to_owned(),
        "i64" => "a whole number".to_owned(),
        other => match other.strip_prefix("struct ").or_else(|| other.strip_prefix("enum ")) {
            Some(_) if other.starts_with("enum ") => "a word in quotes".to_owned(),
            Some(_) => "a table".to_owned(),
            None => other.to_owned(),
        },
    }
}
