use std::time::Duration;

use serde_json::json;

use crate::support::{Received, Service};

async fn asking(max_latency: Duration) -> Service {
    Service::with(|config| {
        config.attempt_timeout = Duration::from_millis(50);
        config.probe_pause = Duration::from_millis(20);
        config.providers[0].max_latency = Some(max_latency);
    })
    .await
}

async fn lost(service: &Service) -> (String, Received) {
    let id = service.job("k").await;
    let call = service.double.next().await;
    assert!(!call.probe);
    (id, call)
}

async fn probe(service: &Service, id: &str) -> Received {
    let probe = service.double.next().await;
    assert!(probe.probe, "the work was sent again");
    assert_eq!(probe.query, format!("client_reference={id}"));
    probe
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_provider_that_knows_of_a_success_ends_the_unknown() {
    let service = asking(Duration::from_mins(1)).await;
    let (id, _call) = lost(&service).await;
    probe(&service, &id).await.answer(200, &json!({ "status": "pending" }));
    probe(&service, &id).await.answer(500, &json!({}));
    probe(&service, &id).await.answer(404, &json!({}));
    assert_eq!(service.read(&id).await["state"], "unknown", "none of these is evidence");
    probe(&service, &id).await.answer(200, &json!({ "status": "succeeded", "result": "found" }));
    let job = service.until(&id, "succeeded").await;
    assert_eq!((&job["result"], &job["completed_by"]), (&json!("found"), &json!(1)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_provider_that_knows_of_a_failure_ends_the_unknown() {
    let service = asking(Duration::from_mins(1)).await;
    let (id, _call) = lost(&service).await;
    probe(&service, &id)
        .await
        .answer(200, &json!({ "status": "failed", "error": { "message": "declined" } }));
    let job = service.until(&id, "failed").await;
    assert!(job["failure"]["message"].as_str().is_some_and(|message| message.contains("declined")), "{job}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn not_found_counts_only_after_the_declared_latency() {
    let latency = Duration::from_millis(600);
    let service = asking(latency).await;
    let began = std::time::Instant::now();
    let (id, late) = lost(&service).await;
    let second = loop {
        let call = service.double.next().await;
        if !call.probe {
            break call;
        }
        call.answer(404, &json!({}));
    };
    assert!(began.elapsed() >= latency, "sent again after {:?}", began.elapsed());
    assert_eq!((second.attempt(), second.reference()), (2, id.as_str()));
    late.succeed(&json!("stale"));
    service.until_event(&id, "result-discarded").await;
    second.succeed(&json!("fresh"));
    assert_eq!(service.until(&id, "succeeded").await["result"], "fresh");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reported_duplicate_is_evidence_and_probed_at_once() {
    let service = Service::with(|config| {
        config.probe_pause = Duration::from_millis(100);
        config.providers[0].max_latency = Some(Duration::from_mins(1));
    })
    .await;
    let (id, call) = lost(&service).await;
    call.answer(409, &json!({ "error": { "code": "duplicate", "message": "seen before" } }));
    probe(&service, &id).await.answer(200, &json!({ "status": "succeeded", "result": 1 }));
    service.until(&id, "succeeded").await;
    assert!(service.events(&id).await.contains(&"duplicate-reported".to_owned()));
}
