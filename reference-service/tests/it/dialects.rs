//! Providers that are models: asked in their own wire format, under the contract that they were checked with.

use std::time::Duration;

use onejob_reference::{Config, Error};
use serde_json::{Value, json};

use crate::support::{Papers, Received, Service};

const HOUR: Duration = Duration::from_hours(1);
const SCHEMA: &str =
    r#"{"type": "object", "properties": {"charged": {"type": "integer"}}, "required": ["charged"]}"#;

/// A primary that speaks one dialect and a fallback that speaks another.
async fn service(change: impl FnOnce(&mut Config, &Papers)) -> (Service, Papers) {
    let mut papers = None;
    let service = Service::with(|config| {
        let made = Papers::new(&config.providers[0].url);
        made.speak(&config.providers[0].url, "openai-chat", "anthropic");
        made.write("schema.json", SCHEMA);
        config.contracts = Some(made.contracts());
        config.failover = Some(made.failover());
        config.max_attempts = 2;
        change(config, &made);
        papers = Some(made);
    })
    .await;
    (service, papers.expect("made"))
}

fn openai(content: &str, finish: &str) -> Value {
    json!({ "model": "primary-1", "choices": [{ "message": { "content": content }, "finish_reason": finish }] })
}

fn anthropic(content: &str, model: &str) -> Value {
    json!({ "model": model, "content": [{ "type": "text", "text": content }], "stop_reason": "end_turn" })
}

fn busy(call: Received) {
    call.answer_with(429, &[("retry-after", "30")], &json!({ "error": { "message": "too many" } }));
}

async fn fails(service: &Service, key: &str, answer: &Value, code: &str) -> Value {
    let id = service.job(key).await;
    service.double.next().await.answer(200, answer);
    let job = service.until(&id, "failed").await;
    assert_eq!(job["failure"]["code"], code, "{job}");
    assert_eq!(
        job["attempts"].as_array().map(Vec::len),
        Some(1),
        "work that was done is not done again: {job}"
    );
    job
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_is_asked_in_the_providers_own_words_and_under_its_own_name() {
    let (service, _papers) = service(|_, _| {}).await;
    let id = service.job("k").await;
    let call = service.double.next().await;
    assert_eq!(call.path, "/chat/completions");
    assert_eq!(call.body["messages"], json!([{ "role": "user", "content": "charge {'amount': 1}" }]));
    assert_eq!(call.body["model"], "primary-1");
    assert!(call.body["response_format"]["json_schema"]["schema"]["properties"]["charged"].is_object());
    for header in ["idempotency-key", "x-client-request-id"] {
        assert_eq!(call.headers[header], id.as_str(), "{header}");
    }
    assert_eq!(call.headers["x-attempt"], "1");
    assert!(call.headers.contains_key("traceparent"));
    call.answer(200, &openai("{\"charged\": 1}", "stop"));
    assert_eq!(service.until(&id, "succeeded").await["result"], json!({ "charged": 1 }));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_moves_to_another_vendor_by_an_attestation_and_keeps_its_name() {
    let (service, papers) = service(|_, _| {}).await;
    papers.attest(Duration::ZERO, HOUR);
    let id = service.job("k").await;
    busy(service.double.next().await);
    let call = service.double.next().await;
    assert_eq!(
        (call.path.as_str(), &call.headers["anthropic-version"]),
        ("/v1/messages", &"2023-06-01".parse().expect("a value"))
    );
    assert_eq!(
        (&call.headers["idempotency-key"], &call.headers["x-attempt"]),
        (&id.parse().expect("a value"), &"2".parse().expect("a value"))
    );
    call.answer(200, &anthropic("{\"charged\": 2}", "fallback-1"));
    let job = service.until(&id, "succeeded").await;
    assert_eq!((&job["result"], &job["completed_by"]), (&json!({ "charged": 2 }), &json!(2)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_breaks_the_contract_fails_the_job_and_is_not_asked_for_twice() {
    let (service, papers) = service(|_, _| {}).await;
    papers.attest(Duration::ZERO, HOUR);
    for (key, content, finish, code) in [
        ("schema", "{\"charged\": \"1\"}", "stop", "schema:type"),
        ("prose", "I charged it.", "stop", "not_json"),
        ("cut", "{\"charged\": 1", "length", "truncated"),
        ("twice", "{\"charged\": 1, \"charged\": 2}", "stop", "duplicate_key"),
        ("filter", "", "content_filter", "provider_filter:output"),
    ] {
        let job = fails(&service, key, &openai(content, finish), code).await;
        assert_eq!(job["failure"]["failover"]["code"], "answered", "{job}");
    }
    let refused = json!({ "choices": [{ "message": { "content": null, "refusal": "I can't" }, "finish_reason": "stop" }] });
    fails(&service, "refused", &refused, "refused").await;
    assert!(!service.double.has_more().await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_provider_says_of_an_error_decides_over_retries() {
    let (service, _papers) = service(|_, _| {}).await;
    let wrong =
        json!({ "error": { "message": "no such field", "type": "invalid_request_error", "code": null } });
    let id = service.job("wrong").await;
    service.double.next().await.answer(400, &wrong);
    let job = service.until(&id, "failed").await;
    assert_eq!(job["failure"]["code"], "invalid_request_error", "{job}");

    let id = service.job("busy").await;
    service.double.next().await.answer_with(
        429,
        &[("retry-after-ms", "1")],
        &json!({ "error": { "message": "slow" } }),
    );
    service.double.next().await.answer(200, &openai("{\"charged\": 1}", "stop"));
    assert_eq!(service.until(&id, "succeeded").await["attempts"][1]["provider"], "primary");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_may_have_been_done_stays_unknown() {
    let (service, papers) = service(|config, _| {
        config.attempt_timeout = Duration::from_millis(500);
        // A model's API has no such route, and is not asked.
        config.providers[0].max_latency = Some(Duration::from_millis(1));
        config.probe_pause = Duration::from_millis(1);
    })
    .await;
    papers.attest(Duration::ZERO, HOUR);
    let id = service.job("silent").await;
    let _silent = service.double.next().await;
    service.until(&id, "unknown").await;
    for (key, status) in [("bad-gateway", 502), ("stopped-waiting", 408)] {
        let id = service.job(key).await;
        service.double.next().await.answer(status, &json!({}));
        service.until(&id, "unknown").await;
    }
    let id = service.job("html").await;
    service.double.next().await.answer(200, &json!("<html>"));
    let job = service.until(&id, "failed").await;
    assert_eq!(job["failure"]["code"], "finish_missing", "JSON, and no answer: {job}");
    assert!(!service.double.has_more().await, "nothing moved and nothing was probed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_is_read_whole_or_not_at_all() {
    const BEGUN: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"{\\\"charged\\\": 1}\"}}]}\n\n";
    let (service, _papers) = service(|_, papers| {
        papers.write(
            "providers.toml",
            &papers.read("providers.toml").replace("model = ", "stream = true\nmodel = "),
        );
    })
    .await;
    let id = service.job("broken").await;
    let call = service.double.next().await;
    assert_eq!(call.body["stream"], true);
    call.break_off(BEGUN);
    service.until(&id, "unknown").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_model_behind_the_fallbacks_name_closes_the_gate() {
    let (service, papers) = service(|config, _| config.max_attempts = 3).await;
    papers.attest_models(&["fallback-1"]);
    for (key, model) in [("first", "fallback-1"), ("second", "fallback-1-mini")] {
        let id = service.job(key).await;
        busy(service.double.next().await);
        service.double.next().await.answer(200, &anthropic("{\"charged\": 2}", model));
        service.until(&id, "succeeded").await;
    }
    let id = service.job("third").await;
    let denied = json!({ "error": { "message": "no such key" } });
    service.double.next().await.answer(401, &denied);
    let job = service.until(&id, "failed").await;
    assert_eq!(job["failure"]["failover"]["code"], "model_drift", "{job}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_that_no_contract_covers_is_not_sent() {
    let (service, _papers) = service(|_, _| {}).await;
    let id = service.submit("k", &json!({ "kind": "mail", "input": 1 })).await.id();
    let job = service.until(&id, "failed").await;
    assert_eq!(job["failure"]["code"], "no_contract", "{job}");
    assert!(!service.double.has_more().await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_provider_that_could_never_be_asked_is_refused_at_the_start() {
    for (from, to, word) in [
        ("\"anthropic\"", "\"claude\"", "no dialect is called `claude`"),
        ("model = ", "key_env = \"NO_SUCH_KEY_IS_SET\"\nmodel = ", "NO_SUCH_KEY_IS_SET"),
        ("model = ", "parameters = { warmth = 1 }\nmodel = ", "warmth"),
    ] {
        let papers = Papers::new("http://127.0.0.1:1/");
        papers.speak("http://127.0.0.1:1/", "openai-chat", "anthropic");
        papers.write("providers.toml", &papers.read("providers.toml").replace(from, to));
        let error = papers.refused_at_the_start(Config { ..Config::default() }).await;
        assert!(matches!(error, Error::Config(_)), "{error}");
        assert!(error.to_string().contains(word), "{error}");
    }
}
