use serde_json::json;

use super::*;

/// As a framework writes it for a service that nobody prepared: 3.1, references, no word of keys.
const SHOP: &str = r##"
openapi: 3.1.0
info: { title: The Shop, version: "1" }
paths:
  /login:
    post:
      requestBody: { content: { application/json: { schema: { type: object, properties: { user: { type: string } } } } } }
      responses: { "200": { description: ok } }
  /orders:
    get: { responses: { "200": { description: ok } } }
    post:
      operationId: create_order
      parameters:
        - { name: Idempotency-Key, in: header, schema: { anyOf: [{ type: string }, { type: "null" }] } }
      requestBody: { content: { application/json: { schema: { $ref: "#/components/schemas/Order" } } } }
      responses:
        201: { content: { application/json: { schema: { $ref: "#/components/schemas/Placed" } } } }
      security: [{ bearer: [] }]
  /orders/{order_id}:
    get: { responses: { "200": { description: ok } } }
  /orders/{order_id}/cancel:
    post: { responses: { "200": { description: ok } } }
  /health:
    get: { responses: { "200": { description: ok } } }
components:
  securitySchemes: { bearer: { type: http, scheme: bearer } }
  schemas:
    Order:
      type: object
      required: [sku, item, quantity, kind, due, lines]
      properties:
        sku: { type: string, pattern: "^[A-Z]+$", default: ABC }
        item: { type: string }
        quantity: { type: integer, minimum: 3 }
        kind: { enum: [express, slow] }
        due: { type: string, format: date-time }
        note: { type: string }
        lines: { type: array, minItems: 1, items: { type: object, required: [n], properties: { n: { type: number } } } }
    Placed:
      type: object
      properties:
        id: { type: string }
        status: { type: string, enum: [pending, paid, declined, limbo] }
"##;

fn proposed(text: &str, wanted: Option<&str>) -> Facts {
    let document = Document::parse("openapi.yaml", text).expect("a document");
    propose(&document, wanted).expect("a proposal")
}

fn value<T: Clone>(fact: Option<&Fact<T>>) -> T {
    fact.expect("it is proposed").value.clone()
}

#[test]
fn a_document_gives_a_whole_mapping_and_every_part_says_why() {
    let facts = proposed(SHOP, None);
    assert_eq!(value(facts.name.as_ref()), "the-shop");
    assert_eq!(value(facts.submit.as_ref()), "POST /orders");
    assert_eq!(value(facts.key.as_ref()), Key::Header("idempotency-key".to_owned()));
    assert_eq!(value(facts.job.as_ref()), "/id");
    assert_eq!(value(facts.state.as_ref()), "/status");
    assert_eq!(value(facts.read.as_ref()), "GET /orders/{job}");
    assert_eq!(value(facts.cancel.as_ref()), "POST /orders/{job}/cancel");
    assert_eq!(value(facts.ready.as_ref()), "/health");
    assert_eq!(value(facts.auth.as_ref()), ("authorization".to_owned(), "Bearer {token}".to_owned()));
    let words = facts.words.expect("the document lists states");
    assert_eq!(words.value["succeeded"], ["paid"]);
    assert_eq!(words.value["failed"], ["declined"]);
    assert!(words.why.expect("a reason").contains("limbo"), "a word that means nothing to us is told");
    let why = facts.submit.and_then(|submit| submit.why).expect("a reason");
    assert!(why.contains("it takes a key") && why.contains("read by its id"), "{why}");
}

#[test]
fn the_body_is_one_that_the_schema_accepts_with_the_payload_in_a_text() {
    let body = value(proposed(SHOP, None).body.as_ref());
    assert_eq!(
        body,
        json!({ "sku": "ABC", "item": "{payload.text}", "quantity": 3, "kind": "express", "due": "2030-01-01T00:00:00Z",
            "lines": [{ "n": 1 }] })
    );
    let document = Document::parse("openapi.yaml", SHOP).expect("a document");
    let schema = document.resolved(&document.root_of_tests()["components"]["schemas"]["Order"]).clone();
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let filled: Value =
        serde_json::from_str(&body.to_string().replace("{payload.text}", "ojm-1-P.")).expect("JSON");
    assert!(validator.is_valid(&filled), "{filled}");
}

#[test]
fn an_object_of_any_shape_takes_the_payload_and_a_member_takes_the_key() {
    let text = r#"{"openapi": "3.0.0", "paths": {"/v1/payments": {"post": {"requestBody": {"content": {"application/json":
        {"schema": {"type": "object", "required": ["note", "input", "client_token"], "properties": {"note": {"type":
        "string"}, "client_token": {"type": "string"}, "input": {"type": "object"}}}}}}, "responses": {"200": {}}}}}}"#;
    let facts = proposed(text, None);
    assert_eq!(
        value(facts.body.as_ref()),
        json!({ "note": "onejob", "client_token": "{key}", "input": "{payload}" })
    );
    assert_eq!(value(facts.key.as_ref()), Key::Body);
    assert!(facts.others.is_empty());
}

#[test]
fn swagger_2_is_read_as_far_as_it_agrees() {
    let text = "swagger: '2.0'\npaths:\n  /jobs:\n    post:\n      parameters:\n        - in: body\n          name: b\n          \
                schema: { type: object, properties: { text: { type: string } } }\n      responses:\n        '202':\n          \
                schema: { properties: { data: { properties: { job_id: { type: string } } } } }\n";
    let facts = proposed(text, None);
    assert_eq!(value(facts.body.as_ref()), json!({ "text": "{payload.text}" }));
    assert_eq!(value(facts.job.as_ref()), "/data/job_id");
}

#[test]
fn a_request_may_be_chosen_and_what_is_not_there_is_told_with_what_is() {
    assert_eq!(value(proposed(SHOP, Some("POST /login")).submit.as_ref()), "POST /login");
    let document = Document::parse("openapi.yaml", SHOP).expect("a document");
    let fault = propose(&document, Some("POST /nowhere")).expect_err("it isn't there");
    assert!(fault.advice().contains("POST /orders"), "{}", fault.advice());
}

#[test]
fn what_is_no_document_is_told() {
    for (text, words) in [
        ("{", "neither JSON nor YAML"),
        ("a: [", "neither JSON nor YAML"),
        ("hello", "no OpenAPI document"),
        ("{\"paths\": {}}", "no OpenAPI document"),
    ] {
        let fault = Document::parse("x", text).expect_err("no document");
        assert!(fault.message().contains(words), "{text}: {fault}");
    }
    let document = Document::parse("x", "openapi: 3.1.0\npaths: {}").expect("a document");
    assert!(propose(&document, None).is_err());
}

#[test]
fn references_that_go_round_in_circles_end() {
    let text = r##"{"openapi": "3.1.0", "paths": {"/a": {"post": {"requestBody": {"content": {"application/json": {"schema":
        {"$ref": "#/components/schemas/A"}}}}, "responses": {}}}}, "components": {"schemas": {"A": {"type": "object",
        "required": ["a"], "properties": {"a": {"$ref": "#/components/schemas/A"}}}, "B": {"$ref": "#/components/schemas/B"}}}}"##;
    assert!(proposed(text, None).body.is_some());
}
