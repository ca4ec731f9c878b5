//! `onejob init`: what it writes loads, says what was guessed, and never replaces anything unasked.

use crate::support::{Onejob, onejob};

const OPENAPI: &str = r##"{"openapi": "3.1.0", "info": {"title": "Shop"}, "paths": {
  "/orders": {"post": {"summary": "Place", "parameters": [{"name": "idempotency-key", "in": "header", "required": true}],
    "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Order"}}}},
    "responses": {"201": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Placed"}}}}}}},
  "/orders/{order_id}": {"get": {"responses": {"200": {"description": "ok"}}}}},
  "components": {"schemas": {
    "Order": {"type": "object", "required": ["item"], "properties": {"item": {"type": "string"}, "quantity": {"type": "integer"}}},
    "Placed": {"type": "object", "properties": {"id": {"type": "string"}, "status": {"type": "string", "enum": ["pending", "paid"]}}}}}}"##;

fn init(arguments: &[&str]) -> Onejob {
    onejob(["init"].iter().chain(arguments))
}

#[test]
fn flags_make_a_file_that_loads_and_doctor_takes_it() {
    let outcome = init(&[
        "--base",
        "http://127.0.0.1:9",
        "--submit",
        "POST /v1/jobs",
        "--body",
        r#"{"kind": "x", "input": "{payload}"}"#,
        "--job",
        "/data/id",
        "--state",
        "/data/state",
        "--read",
        "GET /v1/jobs/{job}",
        "--word",
        "succeeded=done,ok",
        "--auth",
        "X-Api-Key: {token}",
        "--owner",
        "alice=SHOP_ALICE",
        "--owner",
        "bob",
        "--profile",
        "ietf",
    ])
    .run()
    .exits(0)
    .prints("wrote onejob.toml")
    .prints("next: onejob doctor onejob.toml")
    .prints("set these variables to the owners' tokens: SHOP_ALICE, ONEJOB_BOB_TOKEN");
    let text = outcome.left("onejob.toml");
    assert!(text.contains("succeeded = [\"done\", \"ok\"]"), "{text}");
    // It loads: what ends the walk is that nothing listens, and no mistake in the file.
    onejob(["doctor"])
        .file("onejob.toml", &text)
        .env("SHOP_ALICE", "one")
        .env("ONEJOB_BOB_TOKEN", "two")
        .run()
        .exits(10)
        .prints("OJ4004");
    onejob(["doctor"]).file("onejob.toml", &text).run().exits(2).tells("SHOP_ALICE");
}

#[test]
fn a_document_is_enough_with_the_command_that_starts_the_service() {
    let outcome = init(&[
        "--openapi",
        "openapi.json",
        "--start",
        "venv/bin/uvicorn 'shop:app' --port {port}",
        "--provider-env",
        "PAY_URL",
        "--ci",
        "github",
    ])
    .file("openapi.json", OPENAPI)
    .run()
    .exits(0)
    .prints("submit   POST /orders  (it takes a key")
    .prints("key      header idempotency-key")
    .prints("wrote .github/workflows/onejob.yml");
    let text = outcome.left("onejob.toml");
    for line in [
        "start    = [\"venv/bin/uvicorn\", \"shop:app\", \"--port\", \"{port}\"]",
        "env      = { PAY_URL = \"{provider.primary.url}\" }",
        "json    = { item = \"{payload.text}\" }",
        "accepted  = [\"pending\"]",
        "succeeded = [\"paid\"]",
        "[provider]",
    ] {
        assert!(text.contains(line), "`{line}` is missing in:\n{text}");
    }
    assert!(outcome.left(".github/workflows/onejob.yml").contains("onejob run --target onejob.toml"));
}

#[test]
fn nothing_that_is_there_is_replaced_unasked() {
    let flags = ["--base", "http://127.0.0.1:9", "--submit", "POST /jobs"];
    let there = || init(&flags).file("onejob.toml", "mine");
    let outcome = there().run().exits(2).tells("OJ6014");
    assert_eq!(outcome.left("onejob.toml"), "mine");
    let forced = init(&[&flags[..], &["--force"]].concat()).file("onejob.toml", "mine").run().exits(0);
    assert!(forced.left("onejob.toml").contains("POST /jobs"));
    // The workflow counts too, and then the target file isn't written either.
    let half =
        init(&[&flags[..], &["--ci", "gitlab"]].concat()).file("onejob.gitlab-ci.yml", "mine").run().exits(2);
    assert!(std::panic::catch_unwind(|| half.left("onejob.toml")).is_err(), "half of it was written");
}

#[test]
fn what_is_missing_or_makes_no_sense_is_told() {
    init(&["--submit", "POST /jobs"]).run().exits(2).tells("OJ6013").tells("--base");
    init(&["--base", "http://127.0.0.1:9"]).run().exits(2).tells("--submit");
    let given = ["--base", "http://127.0.0.1:9", "--submit", "POST /jobs"];
    for (more, words) in [
        (["--body", "{"], "not JSON"),
        (["--word", "finished=x"], "succeeded"),
        (["--auth", "Bearer"], "a header"),
        (["--start", "a 'b"], "quotes"),
        (["--env", "x"], "NAME=VALUE"),
        (["--openapi", "nowhere.json"], "OJ6012"),
        (["--job", "id"], "OJ2008"),
        (["--profile", "strip"], "stripe"),
    ] {
        init(&[&given[..], &more].concat()).run().exits(2).tells(words);
    }
}
