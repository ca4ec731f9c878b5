//! Whether a rewritten schema still means what the consumer's schema means.
//!
//! Adapters rewrite schemas to fit a provider. One that only loosens is harmless, because outputs are validated with
//! the original. One that *forbids* a value of the original forces the model to invent. Comparing two schemas exactly is
//! hard; witnesses find the cases that happen: each node's enum members, null, and a value of each type.

use serde_json::{Map, Value, json};

use super::Checker;

/// A value on which the two schemas disagree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LanguageChange {
    /// JSON pointer into the original schema.
    pub place: String,
    /// The value.
    pub witness: Value,
    /// True when the sent schema forbids what the original allows; false when it allows what the original forbids.
    pub forbidden: bool,
}

/// Compares the schema that is sent with the consumer's own.
#[must_use]
pub fn compare(original: &Value, sent: &Value) -> Vec<LanguageChange> {
    let mut changes = Vec::new();
    node(original, sent, original, sent, "", 0, &mut changes);
    changes
}

fn node(
    a: &Value,
    b: &Value,
    roots_a: &Value,
    roots_b: &Value,
    place: &str,
    depth: usize,
    out: &mut Vec<LanguageChange>,
) {
    if depth > 32 {
        return;
    }
    let (a, b) = (resolve(a, roots_a), resolve(b, roots_b));
    let (Ok(left), Ok(right)) = (checker(a, roots_a), checker(b, roots_b)) else { return };
    for witness in witnesses(a, b) {
        let (allowed, sent) = (left.is_valid(&witness), right.is_valid(&witness));
        if allowed != sent {
            out.push(LanguageChange { place: place.to_owned(), witness, forbidden: allowed });
        }
    }
    required(a, b, place, out);
    for (name, child) in members(a, "properties") {
        match members(b, "properties").find(|(other, _)| *other == name) {
            Some((_, other)) => {
                node(child, other, roots_a, roots_b, &format!("{place}/properties/{name}"), depth + 1, out);
            }
            None if b.get("additionalProperties") == Some(&Value::Bool(false)) => out.push(LanguageChange {
                place: format!("{place}/properties/{name}"),
                witness: json!({ name: "any" }),
                forbidden: true,
            }),
            None => {}
        }
    }
    if let (Some(items_a), Some(items_b)) = (a.get("items"), b.get("items")) {
        node(items_a, items_b, roots_a, roots_b, &format!("{place}/items"), depth + 1, out);
    }
}

/// A key that only the sent schema requires, and that can't be null there, must be invented when there is nothing.
fn required(a: &Value, b: &Value, place: &str, out: &mut Vec<LanguageChange>) {
    let names = |schema: &Value| -> Vec<String> {
        let list = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
        list.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect()
    };
    let original = names(a);
    for name in names(b).into_iter().filter(|name| !original.contains(name)) {
        let nullable = b
            .pointer(&format!("/properties/{name}"))
            .is_some_and(|schema| Checker::new(schema).is_ok_and(|checker| checker.is_valid(&Value::Null)));
        if !nullable {
            out.push(LanguageChange {
                place: format!("{place}/required/{name}"),
                witness: json!({}),
                forbidden: true,
            });
        }
    }
}

fn members<'a>(schema: &'a Value, key: &str) -> impl Iterator<Item = (&'a String, &'a Value)> {
    schema.get(key).and_then(Value::as_object).into_iter().flatten()
}

fn resolve<'a>(schema: &'a Value, root: &'a Value) -> &'a Value {
    let pointer =
        schema.get("$ref").and_then(Value::as_str).and_then(|reference| reference.strip_prefix('#'));
    pointer.and_then(|pointer| root.pointer(pointer)).unwrap_or(schema)
}

/// The node alone, with the root's definitions, so that references inside of it resolve.
fn checker(schema: &Value, root: &Value) -> Result<Checker, String> {
    let mut alone = schema.as_object().cloned().unwrap_or_else(Map::new);
    for key in ["$defs", "definitions"] {
        if let Some(definitions) = root.get(key) {
            alone.insert(key.to_owned(), definitions.clone());
        }
    }
    if schema.is_boolean() {
        return Checker::new(schema);
    }
    Checker::new(&Value::Object(alone))
}

fn witnesses(a: &Value, b: &Value) -> Vec<Value> {
    let mut values =
        vec![json!(null), json!(true), json!(0), json!(-1), json!(1.5), json!("x"), json!(""), json!([])];
    for schema in [a, b] {
        values.extend(schema.get("enum").and_then(Value::as_array).into_iter().flatten().cloned());
        values.extend(schema.get("const").cloned());
        for bound in ["minimum", "maximum"] {
            values.extend(schema.get(bound).cloned());
        }
    }
    let mut unique: Vec<Value> = Vec::new();
    for value in values {
        if !unique.contains(&value) {
            unique.push(value);
        }
    }
    unique
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forbidden(original: &Value, sent: &Value) -> Vec<String> {
        let changes = compare(original, sent);
        changes
            .iter()
            .filter(|change| change.forbidden)
            .map(|change| format!("{} {}", change.place, change.witness))
            .collect()
    }

    #[test]
    fn null_lost_from_an_enum_is_found() {
        let original = json!({"properties": {"s": {"enum": ["a", "b", null], "type": ["string", "null"]}}});
        let sent = json!({"properties": {"s": {"enum": ["a", "b"], "type": ["string", "null"]}}});
        assert_eq!(forbidden(&original, &sent), ["/properties/s null"]);
    }

    #[test]
    fn equal_schemas_do_not_differ() {
        let schema = json!({"type": "object", "properties": {"s": {"$ref": "#/$defs/s"}}, "$defs": {"s": {"enum": [1, null]}}});
        assert_eq!(compare(&schema, &schema), []);
    }

    #[test]
    fn loosening_is_told_from_forbidding() {
        let original = json!({"type": "string", "minLength": 1});
        let changes = compare(&original, &json!({"type": "string"}));
        assert_eq!(changes.len(), 1);
        assert!(!changes[0].forbidden && changes[0].witness == json!(""));
    }

    #[test]
    fn a_key_that_became_required_is_found_unless_it_may_be_null() {
        let original = json!({"properties": {"a": {"type": "string"}}});
        let sent = json!({"properties": {"a": {"type": "string"}}, "required": ["a"]});
        assert_eq!(forbidden(&original, &sent), ["/required/a {}"]);
        let nullable = json!({"properties": {"a": {"type": ["string", "null"]}}, "required": ["a"]});
        assert_eq!(forbidden(&original, &nullable), [""; 0]);
    }
}
