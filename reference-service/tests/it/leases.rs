use std::time::Duration;

use onejob_reference::Role;
use serde_json::json;
use sqlx::{Connection as _, Executor as _};

use crate::support::Service;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn work_longer_than_a_lease_is_not_taken_away() {
    let service = Service::with(|config| config.lease = Duration::from_secs(2)).await;
    let replica = service.replica(|_| {}).await;
    let id = service.job("k").await;
    let call = service.double.next().await;
    // A lease that nobody renews and that began later ends meanwhile.
    let lost = lose(&service, "lost", 2200).await;
    replica.until(&lost, "unknown").await;
    assert_eq!(service.read(&id).await["state"], "running");
    call.succeed(&json!(1));
    let job = service.until(&id, "succeeded").await;
    assert_eq!(job["attempts"].as_array().map(Vec::len), Some(1));
}

/// A job whose worker vanished after the effect started.
async fn lose(service: &Service, key: &str, lease_ms: u32) -> String {
    let body = json!({ "kind": "x", "input": 1, "run_at": "2999-01-01T00:00:00Z" });
    let id = service.submit(key, &body).await.id();
    let mut connection =
        sqlx::PgConnection::connect(&service.config.database_url).await.expect("a connection");
    connection
        .execute(sqlx::AssertSqlSafe(format!(
            "BEGIN; UPDATE jobs SET state = 'running' WHERE id = '{id}'; \
             INSERT INTO attempts (job_id, number, exclusive, provider, state, job_version, lease_until, \
                effect_started_at) VALUES ('{id}', 1, true, 'primary', 'running', 1, now() + interval '{lease_ms} ms', now()); \
             COMMIT"
        )))
        .await
        .expect("the rows are written");
    id
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_that_vanished_after_the_effect_leaves_the_job_unknown() {
    let service = Service::with(|config| config.lease = Duration::from_millis(200)).await;
    let id = lose(&service, "k", 150).await;
    let job = service.until(&id, "unknown").await;
    assert_eq!(job["version"], 1);
    assert_eq!(job["attempts"][0]["detail"], "the lease of its worker ran out");
    assert!(!service.double.has_more().await, "the effect was repeated");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_that_vanished_before_the_effect_costs_nothing() {
    let api = Service::with(|config| {
        config.role = Role::Api;
        config.lease = Duration::from_millis(200);
    })
    .await;
    let id = api.job("k").await;
    let mut connection = sqlx::PgConnection::connect(&api.config.database_url).await.expect("a connection");
    connection
        .execute(sqlx::AssertSqlSafe(format!(
            "BEGIN; UPDATE jobs SET state = 'running' WHERE id = '{id}'; \
             INSERT INTO attempts (job_id, number, exclusive, provider, state, job_version, lease_until) \
             VALUES ('{id}', 1, true, 'primary', 'starting', 1, now()); COMMIT"
        )))
        .await
        .expect("the rows are written");
    let _worker = api.replica(|config| config.role = Role::Worker).await;
    let call = api.double.next().await;
    assert_eq!(call.attempt(), 2);
    call.succeed(&json!(1));
    let job = api.until(&id, "succeeded").await;
    assert_eq!(job["attempts"][0]["state"], "superseded");
    assert_eq!(job["version"], 3, "the requeue and the result each count");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crash_in_the_middle_of_a_call_loses_nothing_and_repeats_nothing() {
    let mut service = Service::with(|config| config.lease = Duration::from_millis(300)).await;
    let id = service.job("k").await;
    let call = service.double.next().await;
    service.kill();
    drop(call);
    let replica = service.replica(|_| {}).await;
    replica.until(&id, "unknown").await;
    assert!(!service.double.has_more().await, "the effect was repeated");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn several_workers_share_the_queue_without_doing_anything_twice() {
    let service = Service::start().await;
    let replica = service.replica(|config| config.role = Role::Worker).await;
    let mut ids = Vec::new();
    for number in 0..30 {
        ids.push(service.job(&format!("k{number}")).await);
    }
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..30 {
        let call = service.double.next().await;
        assert!(seen.insert(call.reference().to_owned()), "{} was sent twice", call.reference());
        call.succeed(&json!(1));
    }
    for id in &ids {
        service.until(id, "succeeded").await;
    }
    assert!(!service.double.has_more().await);
    drop(replica);
}
