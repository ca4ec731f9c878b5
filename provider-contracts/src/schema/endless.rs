//! Schemas that refer to themselves without going deeper.

use std::collections::BTreeSet;

use serde_json::Value;

/// Keywords whose schemas are about the very value that the schema around them is about.
const SAME_VALUE: [&str; 7] = ["allOf", "anyOf", "oneOf", "not", "if", "then", "else"];

/// A reference that leads back to itself before it leads into the value: whoever follows it never ends. A schema of a
/// tree is fine, because its values end.
pub(super) fn endless(root: &Value) -> Option<String> {
    let mut sound = BTreeSet::new();
    let mut all = Vec::new();
    subschemas(root, String::new(), &mut all);
    all.into_iter().find_map(|place| follow(root, &place, &mut Vec::new(), &mut sound))
}

fn subschemas(node: &Value, place: String, out: &mut Vec<String>) {
    match node {
        Value::Object(members) => {
            for (name, child) in members {
                subschemas(child, format!("{place}/{}", name.replace('~', "~0").replace('/', "~1")), out);
            }
            if members.contains_key("$ref") {
                out.push(place);
            }
        }
        Value::Array(items) => {
            for (index, child) in items.iter().enumerate() {
                subschemas(child, format!("{place}/{index}"), out);
            }
        }
        _ => {}
    }
}

fn follow(
    root: &Value,
    place: &str,
    through: &mut Vec<String>,
    sound: &mut BTreeSet<String>,
) -> Option<String> {
    if through.iter().any(|known| known == place) {
        return Some(if place.is_empty() { "#".to_owned() } else { format!("#{place}") });
    }
    if sound.contains(place) {
        return None;
    }
    let schema = root.pointer(place)?.as_object()?;
    through.push(place.to_owned());
    let mut next = Vec::new();
    // References to elsewhere, by an anchor or a name, are the validator's.
    if let Some(pointer) =
        schema.get("$ref").and_then(Value::as_str).and_then(|reference| reference.strip_prefix('#'))
    {
        next.push(pointer.replace("%24", "$"));
    }
    for keyword in SAME_VALUE {
        match schema.get(keyword) {
            Some(Value::Array(items)) => {
                next.extend((0..items.len()).map(|at| format!("{place}/{keyword}/{at}")));
            }
            Some(Value::Object(_)) => next.push(format!("{place}/{keyword}")),
            _ => {}
        }
    }
    let found = next.iter().find_map(|next| follow(root, next, through, sound));
    through.pop();
    sound.insert(place.to_owned());
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_circle_is_told_from_a_tree() {
        for circle in [
            json!({"$ref": "#"}),
            json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}),
            json!({"allOf": [{"$ref": "#"}]}),
            json!({"properties": {"x": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/a"}]}}}),
        ] {
            assert!(endless(&circle).is_some(), "{circle}");
        }
        for tree in [
            json!({"type": "object", "properties": {"children": {"items": {"$ref": "#"}}}}),
            json!({"$ref": "#/$defs/n", "$defs": {"n": {"properties": {"next": {"$ref": "#/$defs/n"}}}}}),
            json!({"allOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}], "$defs": {"a": {"type": "object"}}}),
            json!({"$ref": "#/$defs/nowhere"}),
            json!(true),
        ] {
            assert_eq!(endless(&tree), None, "{tree}");
        }
    }
}
