use std::time::Duration;

use onejob_reference::{Provider, Role};
use serde_json::json;

use crate::support::{Service, input};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_definite_refusal_fails_the_job_at_once() {
    let service = Service::start().await;
    for status in [400, 401, 403, 404, 422] {
        let id = service.job(&format!("k{status}")).await;
        service.double.next().await.answer(status, &json!({ "error": { "code": "no", "message": "never" } }));
        let job = service.until(&id, "failed").await;
        assert_eq!(job["failure"]["code"], "no");
        assert_eq!(job["version"], 2);
        assert_eq!(job["attempts"].as_array().map(Vec::len), Some(1));
        let again = service.submit(&format!("k{status}"), &input(1)).await;
        assert_eq!((again.status, again.id()), (200, id), "a failure is data, and the key stays taken");
    }
    assert!(!service.double.has_more().await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn throttling_is_retried_by_policy_on_the_same_provider() {
    let service = Service::start().await;
    let id = service.job("k").await;
    let first = service.double.next().await;
    let trace = first.headers["traceparent"].clone();
    first.answer(429, &json!({ "error": { "code": "slow", "message": "down" } }));
    let second = service.double.next().await;
    assert_eq!((second.attempt(), second.reference()), (2, id.as_str()));
    assert_ne!(second.headers["traceparent"], trace, "each call is a span of its own");
    second.answer_with(503, &[("retry-after", "0")], &json!({}));
    service.double.next().await.succeed(&json!("third"));
    let job = service.until(&id, "succeeded").await;
    assert_eq!((&job["completed_by"], &job["version"]), (&json!(3), &json!(2)));
    let providers: Vec<_> =
        job["attempts"].as_array().expect("attempts").iter().map(|a| &a["provider"]).collect();
    assert_eq!(providers, ["primary", "primary", "primary"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_provider_that_can_not_be_reached_uses_the_attempts_up() {
    let service = Service::with(|config| {
        // Port 1 refuses connections.
        config.providers = vec![Provider::new("primary", "http://127.0.0.1:1/")];
    })
    .await;
    let id = service.job("k").await;
    let job = service.until(&id, "failed").await;
    assert_eq!(job["failure"]["code"], "never-sent");
    let states: Vec<_> = job["attempts"].as_array().expect("attempts").iter().map(|a| &a["state"]).collect();
    assert_eq!(states, ["failed", "failed", "failed"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_running_attempt_refuses_another() {
    let service = Service::start().await;
    let id = service.job("k").await;
    let call = service.double.next().await;
    let refused = service.post(&format!("/v1/jobs/{id}/attempts"), &json!({})).await;
    assert_eq!((refused.status, refused.problem()), (409, "attempt-live"));
    let cancel = service.post_if(&format!("/v1/jobs/{id}/attempts/1/cancel"), 1, &json!({})).await;
    assert_eq!((cancel.status, cancel.problem()), (409, "attempt-live"));
    let resolution = json!({ "outcome": "failed", "evidence": "a guess" });
    let resolve = service.post_if(&format!("/v1/jobs/{id}/attempts/1/resolve"), 1, &resolution).await;
    assert_eq!((resolve.status, resolve.problem()), (409, "attempt-not-unknown"));
    call.succeed(&json!(1));
    service.until(&id, "succeeded").await;
    let over = service.post(&format!("/v1/jobs/{id}/attempts"), &json!({})).await;
    assert_eq!((over.status, over.problem()), (409, "job-terminal"));
    assert!(!service.double.has_more().await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_attempt_that_nobody_carries_out_yet_blocks_too_and_can_be_given_up() {
    let service = Service::with(|config| config.role = Role::Api).await;
    let id = service.job("k").await;
    let path = format!("/v1/jobs/{id}/attempts");
    let started = service.post(&path, &json!({ "provider": "fallback" })).await;
    assert_eq!((started.status, &started.body["attempt"]["state"]), (202, &json!("starting")));
    assert_eq!(started.body["job"]["state"], "running");
    assert_eq!(started.body["job"]["version"], 1, "starting an attempt must not fence others off");
    assert_eq!(service.post(&path, &json!({})).await.problem(), "attempt-live");
    let stranger = service.post(&path, &json!({ "provider": "nobody" })).await;
    assert_eq!(stranger.status, 409);
    let given_up = service.post_if(&format!("{path}/1/cancel"), 1, &json!({})).await;
    assert_eq!(given_up.body["state"], "queued");
    assert_eq!(service.post(&path, &json!({ "provider": "nobody" })).await.problem(), "invalid-body");
    for (path, problem) in [
        (format!("{path}/9/cancel"), "attempt-not-found"),
        (format!("{path}/x/cancel"), "attempt-not-found"),
        (format!("{path}/1/cancel"), "attempt-over"),
    ] {
        assert_eq!(service.post_if(&path, 2, &json!({})).await.problem(), problem, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_provider_may_accept_and_stay_silent() {
    let service = Service::with(|config| config.attempt_timeout = Duration::from_millis(200)).await;
    let id = service.job("k").await;
    service.double.next().await.answer(202, &json!({ "status": "accepted", "reference": "p-1" }));
    service.until_event(&id, "provider-accepted").await;
    let job = service.until(&id, "unknown").await;
    assert_eq!(job["attempts"][0]["provider_reference"], "p-1");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_trace_of_the_request_reaches_the_provider() {
    let service = Service::start().await;
    let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    let request =
        service.submission("k", &input(1)).header("traceparent", format!("00-{trace}-00f067aa0ba902b7-01"));
    assert_eq!(service.send(request).await.status, 201);
    let call = service.double.next().await;
    assert!(call.headers["traceparent"].to_str().expect("a text").contains(trace));
}
