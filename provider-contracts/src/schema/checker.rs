//! Validation with formats asserted and no way to the network.

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{ValidationError, Validator};
use serde_json::Value;

use super::endless::endless;
use crate::verdict::Code;

/// A compiled schema, any draft.
pub struct Checker {
    validator: Validator,
    known_keys: Option<Vec<String>>,
    required: Vec<String>,
}

/// One way in which an output breaks the schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The code.
    pub code: Code,
    /// JSON pointer into the output.
    pub place: String,
    /// What is wrong, with the value.
    pub message: String,
}

impl Checker {
    /// Compiles `schema`: its `format`s are asserted, references resolve only inside of it.
    ///
    /// # Errors
    /// What is wrong with the schema.
    pub fn new(schema: &Value) -> Result<Self, String> {
        if let Some(place) = endless(schema) {
            return Err(format!(
                "the reference at {place} leads back to itself: no value could ever be decided"
            ));
        }
        let validator = jsonschema::options()
            .should_validate_formats(true)
            .offline()
            .build(schema)
            .map_err(|error| error.to_string())?;
        Ok(Self { validator, known_keys: known_keys(schema), required: required(schema) })
    }

    /// Everything that is wrong with `output`, the worst first. `forbid_extra` also fails top-level keys that the
    /// schema does not name, when it names any.
    #[must_use]
    pub fn violations(&self, output: &Value, forbid_extra: bool) -> Vec<Violation> {
        let mut found: Vec<Violation> =
            self.validator.iter_errors(output).flat_map(|error| violation(&error)).collect();
        if forbid_extra && let (Some(known), Some(members)) = (&self.known_keys, output.as_object()) {
            let told = found.iter().any(|violation| violation.code.as_str() == "extra_top_level_key");
            for key in members.keys().filter(|key| !told && !known.contains(key)) {
                found.push(extra(key, ""));
            }
        }
        if self.is_another_shape(output) {
            let keys: Vec<&str> =
                output.as_object().into_iter().flatten().map(|(key, _)| key.as_str()).collect();
            found.insert(
                0,
                Violation {
                    code: Code::new("schema:shape"),
                    place: String::new(),
                    message: format!(
                        "a shape of its own, with the keys {}: none of the required ones",
                        keys.join(", ")
                    ),
                },
            );
        }
        // Extra keys are the weakest sign: a wrong type or a missing key says more about what happened.
        found.sort_by_key(|violation| violation.code.as_str() == "extra_top_level_key");
        found
    }

    /// Whether `output` is valid.
    #[must_use]
    pub fn is_valid(&self, output: &Value) -> bool {
        self.validator.is_valid(output)
    }

    fn is_another_shape(&self, output: &Value) -> bool {
        let Some(members) = output.as_object() else { return false };
        !self.required.is_empty()
            && !members.is_empty()
            && !self.required.iter().any(|key| members.contains_key(key))
    }
}

/// The keys that the schema names at the top, or `None` when it leaves them open on purpose.
fn known_keys(schema: &Value) -> Option<Vec<String>> {
    let object = schema.as_object()?;
    let open = ["patternProperties", "anyOf", "oneOf", "allOf", "$ref", "if", "dependentSchemas"];
    if open.iter().any(|keyword| object.contains_key(*keyword)) {
        return None;
    }
    Some(object.get("properties")?.as_object()?.keys().cloned().collect())
}

fn required(schema: &Value) -> Vec<String> {
    let names = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    names.filter_map(|name| name.as_str().map(str::to_owned)).collect()
}

fn violation(error: &ValidationError<'_>) -> Vec<Violation> {
    let place = error.instance_path().to_string();
    let one = |code: Code| vec![Violation { code, place: place.clone(), message: error.to_string() }];
    match error.kind() {
        ValidationErrorKind::AdditionalProperties { unexpected } if place.is_empty() => {
            unexpected.iter().map(|key| extra(key, &place)).collect()
        }
        ValidationErrorKind::Required { .. } => one(Code::new("missing")),
        ValidationErrorKind::Format { format } => one(Code::with("format", format)),
        ValidationErrorKind::Type { kind: TypeKind::Single(_) | TypeKind::Multiple(_) } => {
            one(Code::new("schema:type"))
        }
        kind => one(Code::with("schema", kind.keyword())),
    }
}

fn extra(key: &str, place: &str) -> Violation {
    Violation {
        code: Code::new("extra_top_level_key"),
        place: format!("{place}/{key}"),
        message: format!("the key `{key}` is not in the schema"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn codes(schema: &Value, output: &Value) -> Vec<String> {
        let checker = Checker::new(schema).unwrap();
        checker.violations(output, true).iter().map(|violation| violation.code.to_string()).collect()
    }

    #[test]
    fn formats_are_asserted_in_every_draft() {
        for draft in
            ["http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2020-12/schema"]
        {
            let schema = json!({"$schema": draft, "type": "string", "format": "date"});
            assert_eq!(codes(&schema, &json!("2026-02-30")), ["format:date"], "{draft}");
            assert_eq!(codes(&schema, &json!("2026-02-28")), [""; 0]);
        }
    }

    #[test]
    fn a_reference_to_the_network_is_refused() {
        let problem = Checker::new(&json!({"$ref": "https://example.com/schema.json"})).err().unwrap();
        assert!(!problem.is_empty());
    }

    #[test]
    fn a_forgotten_additional_properties_still_forbids_extra_keys() {
        let schema = json!({"type": "object", "properties": {"a": {}}, "required": ["a"]});
        assert_eq!(codes(&schema, &json!({"a": 1, "b": 2})), ["extra_top_level_key"]);
        let strict = json!({"properties": {"a": {}}, "additionalProperties": false});
        assert_eq!(codes(&strict, &json!({"a": 1, "b": 2})), ["extra_top_level_key"]);
    }

    #[test]
    fn a_schema_that_is_open_on_purpose_stays_open() {
        let schema = json!({"properties": {"a": {}}, "patternProperties": {"^x-": {}}});
        assert_eq!(codes(&schema, &json!({"a": 1, "x-b": 2})), [""; 0]);
    }

    #[test]
    fn a_shape_of_its_own_is_told_from_a_missing_key() {
        let schema = json!({"properties": {"vendor": {}, "total": {}}, "required": ["vendor", "total"]});
        assert_eq!(codes(&schema, &json!({"supplier": 1}))[0], "schema:shape");
        assert_eq!(codes(&schema, &json!({"vendor": 1})), ["missing"]);
    }
}
