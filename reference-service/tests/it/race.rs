use serde_json::{Value, json};

use crate::support::{Received, Service};

async fn racing(service: &Service) -> (String, Received, Received) {
    let body = json!({ "kind": "ask", "input": 1, "mode": "race" });
    let id = service.submit("k", &body).await.id();
    let first = service.double.next().await;
    let started = service.post(&format!("/v1/jobs/{id}/attempts"), &json!({})).await;
    assert_eq!(started.status, 202, "{started:?}");
    let second = service.double.next().await;
    assert_eq!((first.attempt(), second.attempt()), (1, 2));
    (id, first, second)
}

async fn decided(service: &Service, id: &str, winner: i64, states: [&str; 2]) -> Value {
    let job = service.until(id, "succeeded").await;
    assert_eq!(job["completed_by"], winner);
    assert_eq!(job["result"], format!("answer {winner}"));
    let seen: Vec<_> = job["attempts"].as_array().expect("attempts").iter().map(|a| &a["state"]).collect();
    assert_eq!(seen, states);
    job
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_later_attempt_may_be_home_first() {
    let service = Service::start().await;
    let (id, first, second) = racing(&service).await;
    second.succeed(&json!("answer 2"));
    let job = decided(&service, &id, 2, ["superseded", "succeeded"]).await;
    first.succeed(&json!("answer 1"));
    service.until_event(&id, "result-discarded").await;
    assert_eq!(service.read(&id).await, job);
    assert_eq!(service.reports(&id).await[0]["result"], "answer 1");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_earlier_attempt_is_not_fenced_off_by_a_later_start() {
    let service = Service::start().await;
    let (id, first, second) = racing(&service).await;
    first.succeed(&json!("answer 1"));
    let job = decided(&service, &id, 1, ["succeeded", "superseded"]).await;
    second.succeed(&json!("answer 2"));
    service.until_event(&id, "result-discarded").await;
    assert_eq!(service.read(&id).await, job);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_that_come_home_together_one_wins() {
    for _ in 0..5 {
        let service = Service::start().await;
        let (id, first, second) = racing(&service).await;
        first.succeed(&json!("answer 1"));
        second.succeed(&json!("answer 2"));
        service.until_event(&id, "result-discarded").await;
        let job = service.until(&id, "succeeded").await;
        let winner = job["completed_by"].as_i64().expect("a winner");
        assert_eq!(job["result"], format!("answer {winner}"));
        assert_eq!(job["version"], 2);
        assert_eq!(service.reports(&id).await[0]["attempt"], 3 - winner);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn giving_one_up_does_not_fence_the_other_off() {
    let service = Service::start().await;
    let (id, first, second) = racing(&service).await;
    let given_up = service.post_if(&format!("/v1/jobs/{id}/attempts/1/cancel"), 1, &json!({})).await;
    assert_eq!((given_up.status, &given_up.body["state"]), (200, &json!("running")), "{given_up:?}");
    first.succeed(&json!("answer 1"));
    service.until_event(&id, "result-discarded").await;
    second.succeed(&json!("answer 2"));
    decided(&service, &id, 2, ["cancelled", "succeeded"]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_that_fails_leaves_the_job_to_the_other() {
    let service = Service::start().await;
    let (id, first, second) = racing(&service).await;
    first.answer(400, &json!({ "error": { "code": "no", "message": "m" } }));
    service.until_event(&id, "attempt-failed").await;
    assert_eq!(service.read(&id).await["state"], "running");
    second.succeed(&json!("answer 2"));
    decided(&service, &id, 2, ["failed", "succeeded"]).await;
}
