//! Where in a call a field is: `header:NAME` or a JSON Pointer.

use http::HeaderMap;
use serde_json::Value;

use super::DoubleError;

/// A parsed place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Locator {
    Header(http::HeaderName),
    Pointer(String),
}

impl Locator {
    pub(super) fn parse(place: &str) -> Result<Self, DoubleError> {
        let wrong = || DoubleError::BadLocator { place: place.to_owned() };
        if let Some(name) = place.strip_prefix("header:") {
            return name.trim().parse().map(Self::Header).map_err(|_| wrong());
        }
        if place.is_empty() || place.starts_with('/') {
            Ok(Self::Pointer(place.to_owned()))
        } else {
            Err(wrong())
        }
    }

    /// The field's text; numbers and switches as JSON writes them, nothing where the place is empty or holds a tree.
    pub(super) fn find(&self, headers: &HeaderMap, body: Option<&Value>) -> Option<String> {
        match self {
            Self::Header(name) => {
                headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
            }
            Self::Pointer(pointer) => match body?.pointer(pointer)? {
                Value::String(text) => Some(text.clone()),
                Value::Number(number) => Some(number.to_string()),
                Value::Bool(switch) => Some(switch.to_string()),
                Value::Null | Value::Array(_) | Value::Object(_) => None,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_header_is_found_whatever_its_case() {
        let mut headers = HeaderMap::new();
        headers.insert("idempotency-key", "j-1".parse().unwrap());
        let place = Locator::parse("header:Idempotency-Key").unwrap();
        assert_eq!(place.find(&headers, None).as_deref(), Some("j-1"));
    }

    #[test]
    fn a_pointer_reads_texts_and_numbers_but_no_trees() {
        let body = json!({"job": {"id": "j-1", "attempt": 2}});
        let find = |place| Locator::parse(place).unwrap().find(&HeaderMap::new(), Some(&body));
        assert_eq!(find("/job/id").as_deref(), Some("j-1"));
        assert_eq!(find("/job/attempt").as_deref(), Some("2"));
        assert_eq!(find("/job"), None);
        assert_eq!(find("/nowhere"), None);
    }

    #[test]
    fn what_is_neither_header_nor_pointer_is_refused() {
        for place in ["job.id", "header:", "header:a b", "$.job"] {
            assert!(Locator::parse(place).is_err(), "{place}");
        }
    }
}
