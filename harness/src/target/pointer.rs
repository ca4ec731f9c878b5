//! Where fields of an answer are: JSON Pointers (RFC 6901), headers, the status.

use serde_json::Value;

/// A place in an answer or a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Locator {
    /// A JSON Pointer into the body.
    Pointer(String),
    /// A header, by lower-case name.
    Header(String),
    /// The HTTP status.
    Status,
}

/// A text that is no place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadLocator {
    #[error("`{0}` is no JSON Pointer: it must begin with a slash, like `/id`")]
    NoSlash(String),
    #[error("`{0}` is no JSON Pointer: `~` must be followed by 0 or 1")]
    Tilde(String),
    #[error("`{0}` is no header's name")]
    Header(String),
}

impl Locator {
    /// Reads `/pointer`, `header:NAME` or `status`. The empty pointer is the whole body.
    pub(crate) fn parse(text: &str) -> Result<Self, BadLocator> {
        if text == "status" {
            return Ok(Self::Status);
        }
        if let Some(name) = text.strip_prefix("header:") {
            if !is_header_name(name) {
                return Err(BadLocator::Header(name.to_owned()));
            }
            return Ok(Self::Header(name.to_ascii_lowercase()));
        }
        pointer(text)?;
        Ok(Self::Pointer(text.to_owned()))
    }
}

/// Whether the text is a JSON Pointer.
pub(crate) fn pointer(text: &str) -> Result<(), BadLocator> {
    if !text.is_empty() && !text.starts_with('/') {
        return Err(BadLocator::NoSlash(text.to_owned()));
    }
    let escapes = text.split('~').skip(1);
    if escapes.into_iter().any(|after| !after.starts_with(['0', '1'])) {
        return Err(BadLocator::Tilde(text.to_owned()));
    }
    Ok(())
}

/// Whether the text is a header's name (a token of RFC 9110).
pub(crate) fn is_header_name(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

/// Every pointer into a value that leads to something else than an object or a list, down to a depth that people read.
pub(crate) fn all(value: &Value) -> Vec<String> {
    const DEPTH: usize = 6;
    let mut found = Vec::new();
    collect(value, String::new(), DEPTH, &mut found);
    found
}

fn collect(value: &Value, at: String, depth: usize, found: &mut Vec<String>) {
    match value {
        Value::Object(members) if depth > 0 => {
            for (key, member) in members {
                collect(
                    member,
                    format!("{at}/{}", key.replace('~', "~0").replace('/', "~1")),
                    depth - 1,
                    found,
                );
            }
        }
        // The first few show the shape.
        Value::Array(elements) if depth > 0 => {
            for (index, element) in elements.iter().take(3).enumerate() {
                collect(element, format!("{at}/{index}"), depth - 1, found);
            }
        }
        _ => found.push(at),
    }
}

/// The existing pointer that was most likely meant: one with the same last name, else the one spelt most alike.
pub(crate) fn nearest_pointer(wanted: &str, value: &Value) -> Option<String> {
    let name = |pointer: &str| pointer.rsplit('/').next().unwrap_or_default().to_lowercase();
    let there = all(value);
    let same_name =
        there.iter().find(|pointer| !name(wanted).is_empty() && name(pointer) == name(wanted)).cloned();
    same_name.or_else(|| {
        there
            .into_iter()
            .map(|pointer| (strsim::jaro_winkler(&wanted.to_lowercase(), &pointer.to_lowercase()), pointer))
            .filter(|(alike, _)| *alike > 0.8)
            .max_by(|(one, _), (other, _)| one.total_cmp(other))
            .map(|(_, pointer)| pointer)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn pointers_headers_and_the_status_are_places() {
        assert_eq!(Locator::parse("/a~1b/~0"), Ok(Locator::Pointer("/a~1b/~0".into())));
        assert_eq!(Locator::parse(""), Ok(Locator::Pointer(String::new())));
        assert_eq!(Locator::parse("header:ETag"), Ok(Locator::Header("etag".into())));
        assert_eq!(Locator::parse("status"), Ok(Locator::Status));
    }

    #[test]
    fn other_texts_are_not() {
        assert_eq!(Locator::parse("id"), Err(BadLocator::NoSlash("id".into())));
        assert_eq!(Locator::parse("/a~2"), Err(BadLocator::Tilde("/a~2".into())));
        assert_eq!(Locator::parse("/a~"), Err(BadLocator::Tilde("/a~".into())));
        assert_eq!(Locator::parse("header:a b"), Err(BadLocator::Header("a b".into())));
        assert_eq!(Locator::parse("header:"), Err(BadLocator::Header(String::new())));
    }

    #[test]
    fn a_field_that_moved_is_found_by_its_name() {
        let answer = json!({ "data": { "job": { "id": 7, "state": "x" } } });
        assert_eq!(nearest_pointer("/id", &answer).as_deref(), Some("/data/job/id"));
        assert_eq!(nearest_pointer("/data/job/stat", &answer).as_deref(), Some("/data/job/state"));
        assert_eq!(nearest_pointer("/zzz", &answer), None);
    }
}
