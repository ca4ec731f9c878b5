//! What each provider makes of a schema, before any call.

use onejob_contracts::dialect::Catalogue;
use onejob_contracts::schema::lint_subset;
use serde_json::{Value, json};

/// A closed object with these properties, all required.
fn object(properties: &Value) -> Value {
    let names: Vec<&String> = properties.as_object().unwrap().keys().collect();
    json!({"type": "object", "properties": properties, "required": names, "additionalProperties": false})
}

fn rejected(dialect: &str, schema: &Value) -> Vec<String> {
    let dialect = Catalogue::embedded().unwrap().get(dialect).unwrap();
    lint_subset(schema, &dialect.schema).rejected.into_iter().map(|(_, why)| why).collect()
}

fn unenforced(dialect: &str, schema: &Value) -> Vec<String> {
    let dialect = Catalogue::embedded().unwrap().get(dialect).unwrap();
    lint_subset(schema, &dialect.schema).unenforced.into_iter().map(|(_, keyword)| keyword).collect()
}

#[test]
fn a_plain_closed_schema_is_taken_by_everybody_who_takes_closed_objects() {
    let schema = object(&json!({"vendor": {"type": "string"}, "due": {"type": "string", "format": "date"}}));
    for dialect in Catalogue::embedded().unwrap().iter().filter(|dialect| dialect.name != "gemini") {
        assert_eq!(lint_subset(&schema, &dialect.schema).rejected, [], "{}", dialect.name);
    }
    assert_eq!(rejected("gemini", &schema), ["additionalProperties is unknown here"]);
}

#[test]
fn what_is_a_400_is_found_before_the_call() {
    let text = json!({"type": "string"});
    let optional = json!({"type": "object", "properties": {"a": text, "b": text}, "required": ["a"], "additionalProperties": false});
    let open = json!({"type": "object", "properties": {"a": text}, "required": ["a"]});
    let union = json!({"anyOf": [open, optional]});
    let node = json!({"$ref": "#/$defs/node"});
    let recursive = json!({"type": "object", "properties": {"n": node}, "required": ["n"], "additionalProperties": false,
        "$defs": {"node": object(&json!({"next": {"$ref": "#/$defs/node"}}))}});
    let sibling = json!({"type": "object", "properties": {"n": {"$ref": "#/$defs/t", "minLength": 1}}, "required": ["n"],
        "additionalProperties": false, "$defs": {"t": text}});
    let many: Vec<String> = (0..1001).map(|number| number.to_string()).collect();
    let cases = [
        ("openai-chat", &optional, "`b` must be in required"),
        ("openai-chat", &open, "additionalProperties must be false"),
        ("openai-chat", &union, "the root must be an object"),
        ("openai-chat", &sibling, "$ref must stand alone"),
        ("openai-chat", &object(&json!({"a": {"oneOf": [text]}})), "`oneOf` is rejected"),
        ("openai-chat", &object(&json!({"a": {"type": "string", "pattern": "^(?!x)"}})), "looks around"),
        (
            "openai-chat",
            &object(&json!({"a": {"type": "string", "format": "uri"}})),
            "the format `uri` is rejected",
        ),
        ("openai-chat", &object(&json!({"a": {"type": "array", "items": {}}})), "an empty schema"),
        ("openai-chat", &object(&json!({"a": {"enum": many}})), "1001 enum values"),
        ("groq", &optional, "`b` must be in required"),
        ("anthropic", &open, "additionalProperties must be false"),
        ("anthropic", &recursive, "contains itself"),
        (
            "anthropic",
            &object(&json!({"a": {"type": "array", "items": text, "minItems": 2}})),
            "minItems may be at most 1",
        ),
        ("anthropic", &object(&json!({"a": {"oneOf": [text]}})), "`oneOf` is rejected"),
        (
            "gemini",
            &json!({"type": "object", "properties": {"a": {"type": ["string", "null"]}}}),
            "must be one name",
        ),
        ("gemini", &json!({"type": "object", "properties": {"a": {"const": "x"}}}), "`const` is rejected"),
        (
            "gemini",
            &json!({"type": "object", "properties": {"a": {"type": "integer", "enum": [1, 2]}}}),
            "must be strings",
        ),
        (
            "gemini",
            &json!({"type": "object", "properties": {"a": {"type": "string", "items": text}}}),
            "no array",
        ),
        (
            "bedrock-converse",
            &object(&json!({"a": {"type": "string", "maxLength": 5}})),
            "`maxLength` is rejected",
        ),
        ("cohere", &object(&json!({"a": {"type": "string", "minLength": 5}})), "`minLength` is rejected"),
    ];
    for (dialect, schema, why) in cases {
        let found = rejected(dialect, schema);
        assert!(found.iter().any(|one| one.contains(why)), "{dialect}: {why}: {found:?}");
    }
}

#[test]
fn what_is_taken_and_not_enforced_is_named() {
    let schema = object(&json!({"a": {"type": "string", "pattern": "^[a-z]+$", "maxLength": 5}}));
    assert_eq!(unenforced("anthropic", &schema), ["pattern", "maxLength"]);
    assert_eq!(unenforced("openai-chat", &schema), ["maxLength"]);
    assert_eq!(unenforced("llama-cpp", &schema), [""; 0]);
    let loose = object(
        &json!({"a": {"type": "string", "pattern": "[a-z]"}, "b": {"type": "array", "uniqueItems": true}}),
    );
    assert_eq!(unenforced("llama-cpp", &loose), ["pattern [a-z] without ^ and $", "uniqueItems"]);
    let both = object(&json!({"a": {"allOf": [{"type": "string"}, {"minLength": 1}]}}));
    assert_eq!(unenforced("vllm", &both), ["allOf"]);
}

#[test]
fn nesting_is_counted_through_references_and_ends() {
    let deep = |levels: usize| {
        (0..levels).fold(json!({"type": "string"}), |inner, _| object(&json!({ "a": inner })))
    };
    assert_eq!(rejected("openai-chat", &deep(9)), [""; 0]);
    assert_eq!(rejected("openai-chat", &deep(10)), ["11 levels of nesting, and at most 10 are taken"]);
}
