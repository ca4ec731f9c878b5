//! From an operation of the target file to a request.

use serde_json::Value;

use super::{Operation, Values};
use crate::{
    fail::{Code, Fault},
    scenario::placeholder::{Piece, only, pieces},
};

/// A request, ready to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rendered {
    /// Method in capitals.
    pub method: String,
    /// Path and query.
    pub path: String,
    /// Headers as the file spells them; with a body, `content-type` is among them.
    pub headers: Vec<(String, String)>,
    /// Body, where there is one.
    pub body: Option<Vec<u8>>,
}

/// Puts values into an operation. Values in the path are percent-encoded. Headers, and members of the body, whose
/// placeholder has no value are left out; a path can't do without.
pub fn render(operation: &Operation, values: &Values) -> Result<Rendered, Fault> {
    let (method, template) = operation.request.split_once(' ').unwrap_or(("GET", &operation.request));
    let path = text(template, values, percent_encode).map_err(|missing| {
        Fault::new(
            Code::AnswerPointer,
            format!("`{}` can't be sent: nothing is known for `{{{missing}}}`", operation.request),
            format!(
                "check that an earlier answer tells it: `reads` of the request before must find `{missing}`"
            ),
        )
    })?;
    let mut headers: Vec<_> = operation
        .headers
        .iter()
        .filter_map(|(name, template)| Some((name.clone(), text(template, values, str::to_owned).ok()?)))
        .collect();
    let body = operation.json.as_ref().and_then(|template| json(template, values));
    let typed = headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type"));
    if body.is_some() && !typed {
        headers.push(("content-type".to_owned(), "application/json".to_owned()));
    }
    Ok(Rendered {
        method: method.to_owned(),
        path,
        headers,
        body: body.map(|body| body.to_string().into_bytes()),
    })
}

/// An operation that says only what differs from another one: its request, and its headers, members and reads put over
/// those of the other.
#[must_use]
pub fn overlay(base: &Operation, differs: &Operation) -> Operation {
    let mut whole = base.clone();
    whole.request.clone_from(&differs.request);
    whole.headers.extend(differs.headers.clone());
    whole.reads.extend(differs.reads.clone());
    if !differs.refused.is_empty() {
        whole.refused.clone_from(&differs.refused);
    }
    match (&mut whole.json, &differs.json) {
        (Some(below), Some(above)) => put_over(below, above),
        (below @ None, above) => below.clone_from(above),
        (Some(_), None) => {}
    }
    whole
}

fn put_over(below: &mut Value, above: &Value) {
    match (below, above) {
        (Value::Object(below), Value::Object(above)) => {
            for (key, value) in above {
                match below.get_mut(key) {
                    Some(member) => put_over(member, value),
                    None => {
                        below.insert(key.clone(), value.clone());
                    }
                }
            }
        }
        (below, above) => below.clone_from(above),
    }
}

/// The text with its placeholders replaced, or the name of one that has no value.
fn text(template: &str, values: &Values, encode: impl Fn(&str) -> String) -> Result<String, String> {
    let mut whole = String::with_capacity(template.len());
    for piece in pieces(template) {
        match piece {
            Piece::Plain(plain) => whole.push_str(plain),
            Piece::Name(name) => match values.text(name) {
                Some(value) => whole.push_str(&encode(&value)),
                None => return Err(name.to_owned()),
            },
        }
    }
    Ok(whole)
}

/// The body with its placeholders replaced; nothing where it needs a value that isn't there.
fn json(template: &Value, values: &Values) -> Option<Value> {
    match template {
        Value::String(string) => match only(string) {
            Some(name) => values.get(name).cloned(),
            None => text(string, values, str::to_owned).ok().map(Value::String),
        },
        Value::Array(elements) => {
            Some(Value::Array(elements.iter().filter_map(|element| json(element, values)).collect()))
        }
        Value::Object(members) => {
            let kept = members.iter().filter_map(|(key, value)| Some((key.clone(), json(value, values)?)));
            Some(Value::Object(kept.collect()))
        }
        other => Some(other.clone()),
    }
}

/// Everything but the unreserved characters of RFC 3986, so that a value can't become a further segment or a query.
fn percent_encode(text: &str) -> String {
    use std::fmt::Write as _;
    text.bytes().fold(String::with_capacity(text.len()), |mut out, byte| {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            // Writing to a String can't fail.
            let _ = write!(out, "%{byte:02X}");
        }
        out
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn operation(request: &str, json: Value) -> Operation {
        Operation {
            request: request.to_owned(),
            headers: [("idempotency-key".to_owned(), "{key}".to_owned())].into(),
            json: Some(json),
            reads: [].into(),
            refused: Vec::new(),
        }
    }

    fn values(given: &Value) -> Values {
        given.as_object().expect("an object").clone().into_iter().collect()
    }

    fn body(rendered: &Rendered) -> Value {
        serde_json::from_slice(rendered.body.as_deref().expect("a body")).expect("JSON")
    }

    #[test]
    fn a_text_that_is_one_placeholder_takes_the_values_own_type() {
        let operation =
            operation("POST /jobs", json!({ "input": "{payload}", "n": "{attempt}", "t": "at {attempt}" }));
        let given = values(&json!({ "payload": { "text": "m" }, "attempt": 2, "key": "k" }));
        let rendered = render(&operation, &given).expect("all is given");
        assert_eq!(body(&rendered), json!({ "input": { "text": "m" }, "n": 2, "t": "at 2" }));
        assert_eq!(rendered.method, "POST");
        assert!(rendered.headers.contains(&("content-type".into(), "application/json".into())));
    }

    #[test]
    fn what_has_no_value_is_left_out() {
        let template =
            json!({ "a": "{provider}", "b": ["{provider}", "x"], "c": { "d": "by {provider}" }, "e": null });
        let rendered =
            render(&operation("POST /jobs", template), &Values::default()).expect("nothing is needed");
        assert_eq!(body(&rendered), json!({ "b": ["x"], "c": {}, "e": null }));
        assert!(!rendered.headers.iter().any(|(name, _)| name == "idempotency-key"));
    }

    #[test]
    fn a_body_that_is_one_placeholder_without_a_value_is_none() {
        let rendered =
            render(&operation("POST /jobs", json!("{payload}")), &Values::default()).expect("no path values");
        assert_eq!(rendered.body, None);
        assert!(rendered.headers.is_empty());
    }

    #[test]
    fn values_in_the_path_can_not_change_its_shape() {
        let given = values(&json!({ "job": "../a?b#c d/é", "key": "k&x=1" }));
        let rendered =
            render(&operation("GET /jobs/{job}?key={key}", json!(null)), &given).expect("all is given");
        assert_eq!(rendered.path, "/jobs/..%2Fa%3Fb%23c%20d%2F%C3%A9?key=k%26x%3D1");
    }

    #[test]
    fn a_path_that_needs_what_nobody_told_is_an_error_with_the_name() {
        let fault =
            render(&operation("GET /jobs/{job}", json!(null)), &Values::default()).expect_err("no job");
        assert!(fault.message().contains("{job}"), "{fault}");
    }

    #[test]
    fn values_are_not_searched_for_placeholders_again() {
        let given = values(&json!({ "job": "{key}", "key": "k", "payload": "{job}" }));
        let rendered =
            render(&operation("POST /{job}", json!({ "p": "x{payload}" })), &given).expect("all is given");
        assert_eq!(rendered.path, "/%7Bkey%7D");
        assert_eq!(body(&rendered), json!({ "p": "x{job}" }));
    }

    #[test]
    fn an_overlay_keeps_what_it_does_not_mention() {
        let base = operation("POST /jobs", json!({ "input": "{payload}", "options": { "a": 1, "b": 2 } }));
        let mut differs = operation("POST /jobs", json!({ "options": { "b": 3 }, "mode": "race" }));
        differs.headers.clear();
        let whole = overlay(&base, &differs);
        let wanted = json!({ "input": "{payload}", "options": { "a": 1, "b": 3 }, "mode": "race" });
        assert_eq!(whole.json, Some(wanted));
        assert_eq!(whole.headers, base.headers);
    }
}
