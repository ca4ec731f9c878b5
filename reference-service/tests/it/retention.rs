use std::time::Duration;

use onejob_reference::Retention;
use serde_json::json;

use crate::support::{Service, eventually, input};

async fn forgetful() -> Service {
    Service::with(|config| {
        config.retention = Retention::For(Duration::from_millis(50));
        config.lease = Duration::from_millis(300);
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_purged_job_leaves_its_key_behind() {
    let service = forgetful().await;
    let id = service.job("k").await;
    service.double.next().await.succeed(&json!("private"));
    let gone = eventually("the job is purged", async || {
        let answer = service.submit("k", &input(1)).await;
        (answer.status != 200).then_some(answer)
    })
    .await;
    assert_eq!((gone.status, gone.problem()), (410, "idempotency-key-expired"));
    assert_eq!(service.submit("k", &input(2)).await.status, 409, "another payload is still a conflict");
    assert_eq!(service.get(&format!("/v1/jobs/{id}")).await.status, 404);
    assert_eq!(service.get("/v1/jobs?idempotency_key=k").await.body["jobs"], json!([]));
    assert_eq!(service.get("/v1/jobs").await.body["jobs"], json!([]));
    assert!(!service.double.has_more().await, "it was carried out a second time");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_that_is_not_decided_is_never_purged() {
    let service = forgetful().await;
    let running = service.job("running").await;
    let call = service.double.next().await;
    let other = service.job("other").await;
    service.double.next().await.succeed(&json!(1));
    eventually("the other job is purged", async || {
        (service.get(&format!("/v1/jobs/{other}")).await.status == 404).then_some(())
    })
    .await;
    let held = service.submit("running", &input(1)).await;
    assert_eq!((held.status, held.id()), (200, running.clone()));
    call.succeed(&json!(1));
    service.until(&running, "succeeded").await;
}
