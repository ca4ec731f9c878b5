use std::time::Duration;

use onejob_reference::Role;
use serde_json::json;

use crate::support::{Service, input};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_waiting_job_is_cancelled_and_its_key_stays_taken() {
    let service = Service::with(|config| config.role = Role::Api).await;
    let id = service.job("k").await;
    let path = format!("/v1/jobs/{id}/cancel");
    let cancelled = service.post(&path, &json!({})).await;
    assert_eq!((cancelled.status, &cancelled.body["state"]), (200, &json!("cancelled")));
    assert_eq!((&cancelled.body["cancel"], &cancelled.body["version"]), (&json!("done"), &json!(2)));
    let again = service.post(&path, &json!({})).await;
    assert_eq!((again.status, &again.body), (200, &cancelled.body));
    let resubmitted = service.submit("k", &input(1)).await;
    assert_eq!(
        (resubmitted.status, resubmitted.id(), &resubmitted.body["state"]),
        (200, id, &json!("cancelled"))
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_whose_effect_started_is_only_asked_to_stop() {
    let service = Service::start().await;
    let id = service.job("k").await;
    let call = service.double.next().await;
    let path = format!("/v1/jobs/{id}/cancel");
    let noted = service.post(&path, &json!({})).await;
    assert_eq!(
        (noted.status, &noted.body["state"], &noted.body["cancel"]),
        (202, &json!("running"), &json!("requested"))
    );
    assert_eq!(noted.body["version"], 1, "a wish must not fence the attempt off");
    call.succeed(&json!("done"));
    let job = service.until(&id, "succeeded").await;
    assert_eq!((&job["cancel"], &job["result"]), (&json!("too_late"), &json!("done")));
    let late = service.post(&path, &json!({})).await;
    assert_eq!((late.status, late.problem()), (409, "job-terminal"));
    assert_eq!(late.body["job"], job);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wish_to_cancel_is_granted_when_the_attempt_definitely_failed() {
    let service = Service::start().await;
    let id = service.job("k").await;
    let call = service.double.next().await;
    assert_eq!(service.post(&format!("/v1/jobs/{id}/cancel"), &json!({})).await.status, 202);
    call.answer(429, &json!({ "error": { "code": "slow", "message": "down" } }));
    let job = service.until(&id, "cancelled").await;
    assert_eq!(job["cancel"], "done");
    assert!(!service.double.has_more().await, "it was tried again");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_unknown_job_is_cancelled_only_by_somebody_who_accepts_the_effect() {
    let service = Service::with(|config| config.attempt_timeout = Duration::from_millis(50)).await;
    let id = service.job("k").await;
    let call = service.double.next().await;
    service.until(&id, "unknown").await;
    let path = format!("/v1/jobs/{id}/cancel");
    let refused = service.post(&path, &json!({})).await;
    assert_eq!((refused.status, refused.problem()), (409, "job-unknown"));
    let accepted = service.post(&path, &json!({ "accept_unknown_effect": true })).await;
    assert_eq!((accepted.status, &accepted.body["state"]), (200, &json!("cancelled")));
    assert_eq!(accepted.body["attempts"][0]["state"], "cancelled");
    call.succeed(&json!("late"));
    service.until_event(&id, "result-discarded").await;
    assert_eq!(service.read(&id).await, accepted.body);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cancelling_honours_a_precondition_and_refuses_what_it_does_not_know() {
    let service = Service::with(|config| config.role = Role::Api).await;
    let id = service.job("k").await;
    let path = format!("/v1/jobs/{id}/cancel");
    assert_eq!(service.post_if(&path, 9, &json!({})).await.problem(), "version-stale");
    assert_eq!(service.post(&path, &json!({ "force": true })).await.problem(), "invalid-body");
    let nobody = "/v1/jobs/00000000-0000-7000-8000-000000000000/cancel";
    assert_eq!(service.post(nobody, &json!({})).await.problem(), "job-not-found");
    assert_eq!(service.post("/v1/jobs/x/cancel", &json!({})).await.problem(), "job-not-found");
    assert_eq!(service.post_if(&path, 1, &json!({})).await.status, 200);
    let repeated = service.post_if(&path, 1, &json!({})).await;
    assert_eq!((repeated.status, &repeated.body["state"]), (200, &json!("cancelled")), "it has come about");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn cancel_against_completion_has_one_winner_who_is_told_the_truth() {
    let service = Service::start().await;
    for round in 0..20 {
        let id = service.job(&format!("k{round}")).await;
        let call = service.double.next().await;
        let path = format!("/v1/jobs/{id}/cancel");
        let body = json!({});
        let (told, ()) = tokio::join!(service.post(&path, &body), async { call.succeed(&json!(1)) });
        let job = service.until(&id, "succeeded").await;
        match told.status {
            202 => assert_eq!(job["cancel"], "too_late"),
            409 => assert_eq!(
                (&told.body["job"]["state"], &job["cancel"]),
                (&json!("succeeded"), &json!("none"))
            ),
            other => panic!("{other}: {told:?}"),
        }
    }
}
