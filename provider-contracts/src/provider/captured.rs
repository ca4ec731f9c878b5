//! What a gateway made of a request.

use serde_json::Value;

/// Members of `intended` that are absent or different in `captured`, as JSON pointers, outermost first. What the
/// gateway added is its own business.
#[must_use]
pub fn dropped(intended: &Value, captured: &Value) -> Vec<String> {
    let mut places = Vec::new();
    walk(intended, Some(captured), "", &mut places);
    places
}

fn walk(intended: &Value, captured: Option<&Value>, place: &str, out: &mut Vec<String>) {
    match (intended, captured) {
        (Value::Object(members), Some(Value::Object(others))) => {
            for (key, value) in members {
                walk(value, others.get(key), &format!("{place}/{key}"), out);
            }
        }
        (Value::Array(items), Some(Value::Array(others))) if items.len() == others.len() => {
            for (index, (value, other)) in items.iter().zip(others).enumerate() {
                walk(value, Some(other), &format!("{place}/{index}"), out);
            }
        }
        (value, Some(other)) if value == other => {}
        _ => out.push(if place.is_empty() { "/".to_owned() } else { place.to_owned() }),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_dropped_member_is_named_once_and_an_added_one_never() {
        let intended = json!({"model": "m", "response_format": {"type": "json_schema", "json_schema": {"strict": true}}, "l": [1, 2]});
        let captured = json!({"model": "m", "user": "gateway", "l": [1, 3]});
        assert_eq!(dropped(&intended, &captured), ["/response_format", "/l/1"]);
        assert_eq!(dropped(&intended, &intended), [""; 0]);
    }
}
