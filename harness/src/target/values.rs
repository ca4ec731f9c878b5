//! What the placeholders of a request stand for.

use std::collections::BTreeMap;

use serde_json::Value;

/// Values by placeholder. A name without a value has none: what needs it is left out.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Values(BTreeMap<String, Value>);

/// Placeholders that requests may hold.
pub(super) const OF_REQUESTS: [&str; 16] = [
    "key",
    "payload",
    "payload.text",
    "job",
    "attempt",
    "provider",
    "outcome",
    "evidence",
    "version",
    "accept_unknown",
    "callback",
    "run_at",
    "trace",
    "event",
    "timestamp",
    "signature",
];

impl Values {
    /// Gives a placeholder its value.
    pub fn set(&mut self, name: impl Into<String>, value: impl Into<Value>) {
        self.0.insert(name.into(), value.into());
    }

    /// The value of a placeholder.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// The value as text: a string as it is, anything else as JSON.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<String> {
        self.get(name).map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned))
    }
}

impl FromIterator<(String, Value)> for Values {
    fn from_iter<I: IntoIterator<Item = (String, Value)>>(values: I) -> Self {
        Self(values.into_iter().collect())
    }
}
