//! Filling in a dialect's patterns.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// Values by placeholder.
pub(super) type Values<'a> = BTreeMap<&'a str, Value>;

/// Fills in a JSON pattern. A string that is nothing but a placeholder becomes the value itself; a member whose
/// placeholder has no value goes away, and with it an object that has nothing else.
pub(super) fn fill(pattern: &Value, values: &Values<'_>) -> Option<Value> {
    match pattern {
        Value::String(text) => match whole(text) {
            Some(name) => values.get(name).cloned(),
            None => Some(Value::String(fill_text(text, values).unwrap_or_else(|_| text.clone()))),
        },
        Value::Object(members) => {
            let filled: Map<String, Value> =
                members.iter().filter_map(|(key, value)| Some((key.clone(), fill(value, values)?))).collect();
            (!filled.is_empty() || members.is_empty()).then_some(Value::Object(filled))
        }
        Value::Array(items) => {
            Some(Value::Array(items.iter().filter_map(|item| fill(item, values)).collect()))
        }
        other => Some(other.clone()),
    }
}

fn whole(text: &str) -> Option<&str> {
    let name = text.strip_prefix('{')?.strip_suffix('}')?;
    (!name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c == '_')).then_some(name)
}

/// Fills in a text. The error is the first placeholder without a value.
pub(super) fn fill_text(text: &str, values: &Values<'_>) -> Result<String, String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        let Some((name, after)) = after.split_once('}') else {
            out.push('{');
            rest = after;
            continue;
        };
        match values.get(name) {
            Some(Value::String(value)) => out.push_str(value),
            Some(value) => out.push_str(&value.to_string()),
            None => return Err(name.to_owned()),
        }
        rest = after;
    }
    out.push_str(rest);
    Ok(out)
}

/// Merges `from` into `into`: objects member by member, anything else by replacing.
pub(super) fn merge(into: &mut Value, from: Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (key, value) in from {
                match into.get_mut(&key) {
                    Some(present) => merge(present, value),
                    None => {
                        into.insert(key, value);
                    }
                }
            }
        }
        (into, from) => *into = from,
    }
}

/// Sets the value at a dotted path, making objects on the way.
pub(super) fn set(document: &mut Value, path: &str, value: Value) {
    let nested = path.rsplit('.').fold(value, |inner, key| {
        let mut object = Map::new();
        object.insert(key.to_owned(), inner);
        Value::Object(object)
    });
    merge(document, nested);
}

/// The value at a dotted path.
pub(super) fn get<'a>(document: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.').try_fold(document, |node, key| node.get(key))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn placeholders_without_a_value_take_their_key_with_them() {
        let values = Values::from([("model", json!("m")), ("n", json!(3))]);
        let pattern = json!({"model": "{model}", "system": "{system}", "deep": {"parts": "{system}"}, "n": "{n}", "keep": {}});
        assert_eq!(fill(&pattern, &values), Some(json!({"model": "m", "n": 3, "keep": {}})));
    }

    #[test]
    fn text_with_a_placeholder_without_a_value_names_it() {
        let values = Values::from([("model", json!("m"))]);
        assert_eq!(fill_text("/x/{model}/y", &values).unwrap(), "/x/m/y");
        assert_eq!(fill_text("/{region}/{model}", &values).unwrap_err(), "region");
    }

    #[test]
    fn a_dotted_path_makes_objects_and_keeps_what_is_there() {
        let mut body = json!({"a": {"x": 1}});
        set(&mut body, "a.b.c", json!(2));
        assert_eq!(body, json!({"a": {"x": 1, "b": {"c": 2}}}));
        assert_eq!(get(&body, "a.b.c"), Some(&json!(2)));
    }
}
