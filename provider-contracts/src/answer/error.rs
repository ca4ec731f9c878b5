//! A body with an error status into what it means.

use serde_json::Value;

use super::read::first_text;
use crate::dialect::{Dialect, ErrorClass};

/// An error as the provider told it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderError {
    /// The HTTP status.
    pub status: u16,
    /// What it means.
    pub class: ErrorClass,
    /// The provider's code, if it gave one.
    pub code: Option<String>,
    /// The provider's sentence, or the start of the body.
    pub message: String,
    /// Whether the body had the dialect's error shape.
    pub in_shape: bool,
}

/// Reads an error. `headers` are looked at for an exception name.
#[must_use]
pub fn read_error(
    dialect: &Dialect,
    status: u16,
    headers: &[(String, String)],
    body: &[u8],
) -> ProviderError {
    let text = String::from_utf8_lossy(body);
    let mut document: Value = serde_json::from_slice(body).unwrap_or(Value::Null);
    if let Some(members) = document.as_object_mut() {
        for (name, value) in headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("x-amzn-errortype"))
        {
            members.insert(name.to_lowercase(), Value::String(value.clone()));
        }
    }
    let told = first_text(&dialect.error.message, &document);
    let code = first_text(&dialect.error.code, &document);
    let message = told.clone().unwrap_or_else(|| text.chars().take(200).collect());
    let matches = |pattern: &Option<regex::Regex>, subject: Option<&str>| {
        pattern.as_ref().is_none_or(|pattern| subject.is_some_and(|subject| pattern.is_match(subject)))
    };
    let rule = dialect.error.rule.iter().find(|rule| {
        (rule.status.is_empty() || rule.status.contains(&status))
            && matches(&rule.code, code.as_deref())
            && matches(&rule.message, Some(&message))
    });
    let class = rule.map_or_else(|| by_status(status), |rule| rule.class);
    ProviderError { status, class, code, message, in_shape: told.is_some() }
}

fn by_status(status: u16) -> ErrorClass {
    if status >= 500 { ErrorClass::ServerError } else { ErrorClass::InvalidRequest }
}
