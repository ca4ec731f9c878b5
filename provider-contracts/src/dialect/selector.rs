//! Where something lives in a JSON document.

use std::fmt;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json_path::JsonPath;

/// A `JSONPath` (RFC 9535), parsed when its file is read.
#[derive(Clone)]
pub struct Selector {
    text: String,
    path: JsonPath,
}

impl Selector {
    /// Parses `text`.
    ///
    /// # Errors
    /// What is wrong with it, and where.
    pub fn parse(text: &str) -> Result<Self, String> {
        let path = JsonPath::parse(text).map_err(|error| format!("`{text}` is no JSONPath: {error}"))?;
        Ok(Self { text: text.to_owned(), path })
    }

    /// Every node that it selects, in document order.
    #[must_use]
    pub fn all<'a>(&self, document: &'a Value) -> Vec<&'a Value> {
        self.path.query(document).all()
    }

    /// The first node that it selects.
    #[must_use]
    pub fn first<'a>(&self, document: &'a Value) -> Option<&'a Value> {
        self.path.query(document).first()
    }

    /// As it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl fmt::Debug for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Selector({})", self.text)
    }
}

impl<'de> Deserialize<'de> for Selector {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(D::Error::custom)
    }
}

/// The first node that any of `selectors` finds and that is not null.
pub(crate) fn first_of<'a>(selectors: &[Selector], document: &'a Value) -> Option<&'a Value> {
    selectors.iter().find_map(|selector| selector.all(document).into_iter().find(|node| !node.is_null()))
}
