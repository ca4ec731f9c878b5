//! Puts a secret wherever one could travel.

use serde_json::Value;

/// Adds the secret to every text of a document but those that are one of a few words. Says how many it was added to.
pub(crate) fn plant(value: &mut Value, secret: &str, words: &[&str]) -> usize {
    match value {
        Value::String(text) if words.contains(&text.as_str()) => 0,
        Value::String(text) => {
            text.push_str(secret);
            1
        }
        Value::Array(values) => values.iter_mut().map(|value| plant(value, secret, words)).sum(),
        Value::Object(members) => members.values_mut().map(|value| plant(value, secret, words)).sum(),
        _ => 0,
    }
}
