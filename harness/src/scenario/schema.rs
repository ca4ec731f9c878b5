//! The JSON Schema of scenario files, for editors.

use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use super::Scenario;

/// Sections whose values are plain: no placeholder may stand in them.
const PLAIN: [&str; 4] = ["matrix", "derive", "without", "when"];

/// The schema of a scenario file as it is written: wherever a value may be a placeholder, the schema takes one.
#[must_use]
pub fn schema() -> Value {
    let generator = SchemaSettings::draft2020_12().into_generator();
    let mut schema = generator.into_root_schema_for::<Scenario>().to_value();
    schema["title"] = "onejob scenario".into();
    allow_placeholders(&mut schema);
    if let Some(parts) = schema.get_mut("$defs").and_then(Value::as_object_mut) {
        // What other definitions refer to is widened where it is referred to.
        for (_, part) in parts.iter_mut() {
            allow_placeholders(part);
        }
    }
    schema
}

fn allow_placeholders(object: &mut Value) {
    let Some(properties) = object.get_mut("properties").and_then(Value::as_object_mut) else { return };
    for (name, property) in properties {
        if !PLAIN.contains(&name.as_str()) {
            widen(property);
        }
    }
}

/// `{name}` is a text, whatever the value will be.
fn widen(property: &mut Value) {
    if let Some(items) = property.get_mut("items") {
        widen(items);
        return;
    }
    if let Some(values) = property.get_mut("additionalProperties").filter(|values| values.is_object()) {
        widen(values);
        return;
    }
    let takes_texts =
        property["type"] == "string" && property.get("pattern").is_none() && property.get("enum").is_none();
    if takes_texts || property.get("properties").is_some() {
        return;
    }
    let placeholder = json!({ "type": "string", "pattern": r"^.*\{[a-z][a-z0-9_]*\}.*$" });
    let Some(fields) = property.as_object_mut() else { return };
    let kept = ["description", "default"].map(|key| fields.shift_remove_entry(key));
    let narrow = std::mem::take(property);
    *property = json!({ "anyOf": [narrow, placeholder] });
    for (key, value) in kept.into_iter().flatten() {
        property[key] = value;
    }
}
