use std::time::{Duration, SystemTime};

use futures::future::join_all;
use onejob_reference::signature::sign;
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Answer, Service};

const SECRET: &str = "shared-with-the-provider";

async fn listening(timeout: u64) -> Service {
    Service::with(|config| {
        config.attempt_timeout = Duration::from_millis(timeout);
        config.providers[0].callback_secret = Some(SECRET.to_owned());
    })
    .await
}

fn now() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("after 1970").as_secs()
}

fn done(id: &str, attempt: i64, result: &str) -> Value {
    json!({ "client_reference": id, "attempt": attempt, "status": "succeeded", "result": result })
}

async fn deliver(service: &Service, event: &str, at: u64, secret: &str, body: &Value) -> Answer {
    let raw = body.to_string();
    let request = service
        .request(Method::POST, "/v1/callbacks/primary", "no-token-needed")
        .header("webhook-id", event)
        .header("webhook-timestamp", at)
        .header("webhook-signature", sign(secret, event, at, raw.as_bytes()))
        .body(raw);
    service.send(request).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_callback_brings_an_accepted_attempt_home() {
    let service = listening(10_000).await;
    let id = service.job("k").await;
    service.double.next().await.answer(202, &json!({ "status": "accepted" }));
    service.until_event(&id, "provider-accepted").await;
    let taken = deliver(&service, "e1", now(), SECRET, &done(&id, 1, "by callback")).await;
    assert_eq!((taken.status, &taken.body["outcome"]), (200, &json!("accepted")), "{taken:?}");
    assert_eq!(service.until(&id, "succeeded").await["result"], "by callback");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_event_makes_one_transition_however_often_and_wherever_it_is_delivered() {
    let service = listening(100).await;
    let replica = service.replica(|_| {}).await;
    let id = service.job("k").await;
    let _call = service.double.next().await;
    service.until(&id, "unknown").await;
    let body = done(&id, 1, "once");
    let answers = join_all((0..46).map(|number| {
        let at = if number % 2 == 0 { &service } else { &replica };
        deliver(at, "e1", now(), SECRET, &body)
    }))
    .await;
    assert!(answers.iter().all(|answer| answer.status == 200), "{answers:?}");
    let accepted = answers.iter().filter(|answer| answer.body["outcome"] == "accepted").count();
    assert_eq!(accepted, 1, "{answers:?}");
    let job = service.until(&id, "succeeded").await;
    assert_eq!(job["version"], 2);
    let other = deliver(&replica, "e2", now(), SECRET, &done(&id, 1, "twice")).await;
    assert_eq!(other.body["outcome"], "discarded");
    assert_eq!(service.read(&id).await, job);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_callback_of_an_attempt_that_was_given_up_is_discarded() {
    let service = listening(100).await;
    let id = service.job("k").await;
    let _call = service.double.next().await;
    service.until(&id, "unknown").await;
    service.post_if(&format!("/v1/jobs/{id}/attempts/1/cancel"), 1, &json!({})).await;
    let late = deliver(&service, "e1", now(), SECRET, &done(&id, 1, "late")).await;
    assert_eq!((late.status, &late.body["outcome"]), (200, &json!("discarded")));
    assert_eq!(service.reports(&id).await[0]["source"], "callback");
    assert_eq!(service.read(&id).await["state"], "queued");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_callback_that_tells_of_a_failure_fails_the_job() {
    let service = listening(100).await;
    let id = service.job("k").await;
    let _call = service.double.next().await;
    service.until(&id, "unknown").await;
    let error = json!({ "code": "declined", "message": "no funds" });
    let body = json!({ "client_reference": id, "attempt": 1, "status": "failed", "error": error });
    assert_eq!(deliver(&service, "e1", now(), SECRET, &body).await.status, 200);
    assert_eq!(service.until(&id, "failed").await["failure"], error);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn forged_old_and_misdirected_callbacks_change_nothing() {
    let service = listening(100).await;
    let id = service.job("k").await;
    let _call = service.double.next().await;
    let job = service.until(&id, "unknown").await;
    let body = done(&id, 1, "forged");
    let unsigned = service
        .request(Method::POST, "/v1/callbacks/primary", "alice-operator")
        .header("webhook-id", "e1")
        .header("webhook-timestamp", now())
        .json(&body);
    for answer in [
        service.send(unsigned).await,
        deliver(&service, "e1", now(), "another-secret", &body).await,
        deliver(&service, "e1", now() - 3600, SECRET, &body).await,
        deliver(&service, "e1", now() + 3600, SECRET, &body).await,
        deliver(&service, "", now(), SECRET, &body).await,
        service.send(service.request(Method::POST, "/v1/callbacks/fallback", "x").json(&body)).await,
        service.send(service.request(Method::POST, "/v1/callbacks/nobody", "x").json(&body)).await,
    ] {
        assert_eq!((answer.status, answer.problem()), (401, "callback-refused"));
    }
    let nobody = "00000000-0000-7000-8000-000000000000";
    for (body, problem) in [
        (done(nobody, 1, "x"), "callback-unknown"),
        (done(&id, 2, "x"), "callback-unknown"),
        (json!({ "client_reference": id, "attempt": 1, "status": "pending" }), "invalid-body"),
    ] {
        assert_eq!(deliver(&service, "e1", now(), SECRET, &body).await.problem(), problem);
    }
    assert_eq!(service.read(&id).await, job);
    let real = deliver(&service, "e1", now(), SECRET, &done(&id, 1, "real")).await;
    assert_eq!(real.body["outcome"], "accepted", "a refused delivery must not consume the event");
}
