use std::time::Duration;

use futures::future::join_all;
use serde_json::json;

use crate::support::{Service, eventually, input};

async fn impatient() -> Service {
    Service::with(|config| config.attempt_timeout = Duration::from_millis(100)).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_without_an_answer_leaves_the_job_unknown_and_blocks() {
    let service = impatient().await;
    let id = service.job("k").await;
    let _call = service.double.next().await;
    let job = service.until(&id, "unknown").await;
    assert_eq!(job["version"], 1, "becoming unknown must not fence the attempt off");
    assert_eq!(job["attempts"][0]["state"], "unknown");
    assert_eq!(job["result"], json!(null));

    let path = format!("/v1/jobs/{id}/attempts");
    let body = json!({});
    for pushed in join_all((0..4).map(|_| service.post(&path, &body))).await {
        assert_eq!((pushed.status, pushed.problem()), (409, "attempt-unknown"));
        assert_eq!(pushed.body["attempt"], 1);
    }
    let again = service.submit("k", &input(1)).await;
    assert_eq!((again.status, again.id(), again.replayed()), (200, id.clone(), true));
    assert_eq!(again.body["state"], "unknown");
    // The worker goes on working, only not on this job.
    let other = service.job("other").await;
    service.double.next().await.succeed(&json!(1));
    service.until(&other, "succeeded").await;
    assert_eq!(service.read(&id).await["state"], "unknown");
    assert!(!service.double.has_more().await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_late_answer_of_an_unknown_attempt_is_accepted_while_nobody_decided() {
    let service = impatient().await;
    let id = service.job("k").await;
    let call = service.double.next().await;
    service.until(&id, "unknown").await;
    call.succeed(&json!("late"));
    let job = service.until(&id, "succeeded").await;
    assert_eq!((&job["result"], &job["completed_by"]), (&json!("late"), &json!(1)));
    assert!(service.reports(&id).await.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_attempt_that_was_given_up_comes_home_for_nothing() {
    let service = impatient().await;
    let id = service.job("k").await;
    let late = service.double.next().await;
    let job = service.until(&id, "unknown").await;
    let version = job["version"].as_i64().expect("a version");
    let path = format!("/v1/jobs/{id}/attempts/1/cancel");

    assert_eq!(service.post(&path, &json!({})).await.problem(), "if-match-required");
    assert_eq!(service.post_if(&path, version + 1, &json!({})).await.problem(), "version-stale");
    let given_up = service.post_if(&path, version, &json!({})).await;
    assert_eq!(given_up.status, 200, "{given_up:?}");
    assert_eq!(given_up.body["state"], "queued");
    assert_eq!(given_up.body["attention"], "awaiting-attempt");
    assert_eq!(given_up.body["version"], version + 1);
    assert_eq!(given_up.body["attempts"][0]["state"], "cancelled");
    assert_eq!(service.post_if(&path, version, &json!({})).await.status, 412);

    let started = service.post(&format!("/v1/jobs/{id}/attempts"), &json!({})).await;
    assert_eq!(started.status, 202, "{started:?}");
    assert_eq!(started.body["attempt"]["number"], 2);
    assert_eq!(started.body["attempt"]["provider"], "fallback");
    let second = service.double.next().await;
    assert_eq!((second.attempt(), second.reference()), (2, id.as_str()));

    late.succeed(&json!("stale"));
    service.until_event(&id, "result-discarded").await;
    assert_eq!(service.read(&id).await["result"], json!(null));
    second.succeed(&json!("fresh"));
    let done = service.until(&id, "succeeded").await;
    assert_eq!((&done["result"], &done["completed_by"]), (&json!("fresh"), &json!(2)));
    let reports = service.reports(&id).await;
    assert_eq!(reports.len(), 1);
    assert_eq!((&reports[0]["attempt"], &reports[0]["result"]), (&json!(1), &json!("stale")));
    assert_eq!(reports[0]["source"], "worker");
    assert!((service.metric("onejob_results_discarded_total").await - 1.0).abs() < f64::EPSILON);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_straggler_never_changes_a_decided_job() {
    let service = impatient().await;
    let id = service.job("k").await;
    let late = service.double.next().await;
    service.until(&id, "unknown").await;
    service.post_if(&format!("/v1/jobs/{id}/attempts/1/cancel"), 1, &json!({})).await;
    service.post(&format!("/v1/jobs/{id}/attempts"), &json!({ "provider": "primary" })).await;
    service.double.next().await.succeed(&json!("fresh"));
    let done = service.until(&id, "succeeded").await;
    late.succeed(&json!("stale"));
    service.until_event(&id, "result-discarded").await;
    assert_eq!(service.read(&id).await, done);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn evidence_ends_an_unknown_attempt() {
    let service = impatient().await;
    for (outcome, result, state) in
        [("succeeded", Some(json!({ "receipt": 1 })), "succeeded"), ("failed", None, "failed")]
    {
        let id = service.job(outcome).await;
        let _call = service.double.next().await;
        service.until(&id, "unknown").await;
        let path = format!("/v1/jobs/{id}/attempts/1/resolve");
        let mut body = json!({ "outcome": outcome, "evidence": "looked at the provider's ledger" });
        if let Some(result) = &result {
            body["result"] = result.clone();
        }
        assert_eq!(service.post(&path, &body).await.problem(), "if-match-required");
        assert_eq!(service.post_if(&path, 9, &body).await.problem(), "version-stale");
        let resolved = service.post_if(&path, 1, &body).await;
        assert_eq!((resolved.status, &resolved.body["state"]), (200, &json!(state)), "{resolved:?}");
        assert_eq!(resolved.body["result"], result.unwrap_or_default());
        assert_eq!(service.post_if(&path, 2, &body).await.problem(), "job-terminal");
        assert!(service.events(&id).await.contains(&"attempt-resolved".to_owned()));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_attempt_that_was_never_executed_is_retried_while_policy_has_attempts() {
    let service = Service::with(|config| {
        config.attempt_timeout = Duration::from_millis(100);
        config.max_attempts = 2;
    })
    .await;
    let id = service.job("k").await;
    let resolution = json!({ "outcome": "not_executed", "evidence": "the provider has no trace of it" });
    let _first = service.double.next().await;
    service.until(&id, "unknown").await;
    let resolved = service.post_if(&format!("/v1/jobs/{id}/attempts/1/resolve"), 1, &resolution).await;
    assert_eq!((&resolved.body["state"], &resolved.body["attention"]), (&json!("queued"), &json!(null)));
    let second = service.double.next().await;
    assert_eq!((second.attempt(), second.reference()), (2, id.as_str()));
    let job = service.until(&id, "unknown").await;
    assert_eq!(job["attempts"][1]["provider"], "primary");
    let resolved = service.post_if(&format!("/v1/jobs/{id}/attempts/2/resolve"), 2, &resolution).await;
    assert_eq!(resolved.body["state"], "queued");
    assert_eq!(resolved.body["attention"], "awaiting-attempt");
    assert_eq!(resolved.body["version"], 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_one_of_many_deciders_wins() {
    let service = impatient().await;
    let id = service.job("k").await;
    let call = service.double.next().await;
    service.until(&id, "unknown").await;
    let failed = json!({ "outcome": "failed", "evidence": "a" });
    let done = json!({ "outcome": "succeeded", "evidence": "b", "result": 2 });
    let nothing = json!({});
    let (resolve, cancel) =
        (format!("/v1/jobs/{id}/attempts/1/resolve"), format!("/v1/jobs/{id}/attempts/1/cancel"));
    call.succeed(&json!("late"));
    let answers = join_all([
        service.post_if(&resolve, 1, &failed),
        service.post_if(&resolve, 1, &done),
        service.post_if(&cancel, 1, &nothing),
        service.post_if(&resolve, 1, &failed),
    ])
    .await;
    let won = answers.iter().filter(|answer| answer.status == 200).count();
    assert!(won <= 1, "{answers:?}");
    assert!(answers.iter().all(|answer| matches!(answer.status, 200 | 409 | 412)), "{answers:?}");
    let accepted = eventually("the late answer is judged", async || {
        let events = service.events(&id).await;
        let told = |kind: &str| events.iter().filter(|event| *event == kind).count();
        (told("result-accepted") + told("result-discarded") >= 1).then(|| told("result-accepted"))
    })
    .await;
    assert_eq!(service.read(&id).await["version"], 2, "more than one decision: {answers:?}");
    assert!(won + accepted <= 2, "{answers:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deadline_raises_attention_and_decides_nothing() {
    let service = Service::with(|config| {
        config.attempt_timeout = Duration::from_millis(50);
        config.unknown_deadline = Duration::from_millis(50);
        config.lease = Duration::from_millis(500);
    })
    .await;
    let id = service.job("k").await;
    let call = service.double.next().await;
    let job = eventually("attention is raised", async || {
        let job = service.read(&id).await;
        (job["attention"] == "unknown-overdue").then_some(job)
    })
    .await;
    assert_eq!((&job["state"], &job["version"]), (&json!("unknown"), &json!(1)));
    assert_eq!(service.submit("k", &input(1)).await.id(), id);
    call.succeed(&json!(1));
    assert_eq!(service.until(&id, "succeeded").await["attention"], json!(null));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_that_leave_it_open_are_unknown_and_never_repeated() {
    let service = Service::start().await;
    for (status, body) in [
        (500, json!({ "error": { "code": "oops", "message": "m" } })),
        (502, json!("bad gateway")),
        (503, json!({})),
        (504, json!({})),
        (200, json!({ "error": { "code": "odd", "message": "in a 200" } })),
        (200, json!("no object")),
        (302, json!({})),
        (409, json!({ "error": { "code": "duplicate", "message": "seen before" } })),
    ] {
        let id =
            service.job(&format!("{status}{body}").replace(|c: char| !c.is_ascii_alphanumeric(), "")).await;
        service.double.next().await.answer(status, &body);
        service.until(&id, "unknown").await;
    }
    let broken = service.job("broken").await;
    drop(service.double.next().await);
    service.until(&broken, "unknown").await;
    assert!(!service.double.has_more().await);
}
