use futures::future::join_all;
use onejob_reference::{Profile, Role};
use serde_json::json;
use sqlx::{Connection as _, Executor as _};

use crate::support::{LockGate, Service, input};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_key_makes_a_job_that_is_carried_out() {
    let service = Service::start().await;
    let made = service.submit("k", &input(7)).await;
    assert_eq!(made.status, 201);
    assert_eq!(made.header("location"), Some(format!("/v1/jobs/{}", made.id()).as_str()));
    assert_eq!(made.header("etag"), Some("\"1\""));
    assert!(!made.replayed());

    let call = service.double.next().await;
    assert_eq!(call.reference(), made.id());
    assert_eq!(call.headers["idempotency-key"], made.id().as_str());
    assert_eq!(call.headers["x-attempt"], "1");
    assert_eq!(call.body["input"], json!({ "amount": 7 }));
    call.succeed(&json!({ "receipt": "r" }));

    let done = service.until(&made.id(), "succeeded").await;
    assert_eq!(done["result"], json!({ "receipt": "r" }));
    assert_eq!(done["completed_by"], 1);
    assert_eq!(done["version"], 2);
    assert_eq!(done["attempts"][0]["state"], "succeeded");
    assert_eq!(
        service.events(&made.id()).await,
        ["created", "attempt-started", "effect-started", "result-accepted"]
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn simultaneous_requests_with_one_key_make_one_job() {
    for clicks in [2, 8, 32] {
        let service = Service::with(|config| config.role = Role::Api).await;
        let mut gate = LockGate::close(&service.config.database_url).await;
        let body = input(1);
        let answers = async { join_all((0..clicks).map(|_| service.submit("k", &body))).await };
        let released = async {
            gate.wait_for(clicks).await;
            gate.open().await;
        };
        let (answers, ()) = tokio::join!(answers, released);
        let created = answers.iter().filter(|answer| answer.status == 201).count();
        let replayed = answers.iter().filter(|answer| answer.status == 200 && answer.replayed()).count();
        assert_eq!((created, replayed), (1, usize::try_from(clicks).expect("small") - 1), "{answers:?}");
        assert!(answers.iter().all(|answer| answer.id() == answers[0].id()));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_known_intent_gets_its_job_in_whatever_state_it_is() {
    let service = Service::start().await;
    let id = service.job("k").await;
    let call = service.double.next().await;
    let during = service.submit("k", &input(1)).await;
    assert_eq!((during.status, during.id(), during.replayed()), (200, id.clone(), true));
    assert_eq!(during.body["state"], "running");
    call.succeed(&json!("done"));
    service.until(&id, "succeeded").await;
    let after = service.submit("k", &input(1)).await;
    assert_eq!((after.status, after.id(), after.replayed()), (200, id, true));
    assert_eq!(after.body["result"], "done");
    assert!(!service.double.has_more().await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_known_key_with_another_payload_is_refused_and_changes_nothing() {
    let service = Service::start().await;
    let id = service.job("k").await;
    let call = service.double.next().await;
    for _ in 0..2 {
        let other = service.submit("k", &input(2)).await;
        assert_eq!((other.status, other.problem()), (409, "idempotency-key-conflict"));
        assert!(!other.body.to_string().contains(&id), "the answer names the first job: {other:?}");
    }
    call.succeed(&json!(1));
    let done = service.until(&id, "succeeded").await;
    assert_eq!(done["input"], json!({ "amount": 1 }));
    assert_eq!(service.submit("k", &input(2)).await.status, 409);
    assert!(!service.double.has_more().await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_ietf_profile_answers_422_for_another_payload() {
    let service = Service::with(|config| config.profile = Profile::Ietf).await;
    service.job("k").await;
    let other = service.submit("k", &input(2)).await;
    assert_eq!((other.status, other.problem()), (422, "idempotency-key-conflict"));
    assert_eq!(other.body["status"], 422);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_claim_that_has_to_wait_too_long_says_retry_with_the_same_key() {
    let service = Service::with(|config| {
        config.role = Role::Api;
        config.lock_timeout = std::time::Duration::from_millis(50);
    })
    .await;
    let gate = LockGate::close(&service.config.database_url).await;
    let busy = service.submit("k", &input(1)).await;
    assert_eq!((busy.status, busy.problem()), (409, "request-in-flight"));
    assert_eq!(busy.header("retry-after"), Some("1"));
    assert!(busy.body["detail"].as_str().is_some_and(|detail| detail.contains("retry with the same key")));
    gate.open().await;
    assert_eq!(service.submit("k", &input(1)).await.status, 201);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn when_the_winner_rolls_back_the_waiting_request_makes_the_job() {
    let service = Service::with(|config| config.role = Role::Api).await;
    let mut winner = sqlx::PgConnection::connect(&service.config.database_url).await.expect("a connection");
    let mut observer = sqlx::PgConnection::connect(&service.config.database_url).await.expect("a connection");
    winner.execute("BEGIN").await.expect("a transaction");
    winner
        .execute(
            "INSERT INTO jobs (id, owner, idempotency_key, fingerprint, fingerprint_version, kind, input) \
             VALUES (gen_random_uuid(), 'alice', 'k', '\\x00', 1, 'charge', 'null')",
        )
        .await
        .expect("the winner inserts");
    let rolled_back = async {
        crate::support::eventually("the request waits for the winner", async || {
            let waiting: i64 = sqlx::query_scalar(
                "SELECT count(*) FROM pg_locks WHERE NOT granted AND locktype = 'transactionid'",
            )
            .fetch_one(&mut observer)
            .await
            .expect("pg_locks can be read");
            (waiting >= 1).then_some(())
        })
        .await;
        winner.execute("ROLLBACK").await.expect("the winner gives up");
    };
    let body = input(1);
    let (answer, ()) = tokio::join!(service.submit("k", &body), rolled_back);
    assert_eq!(answer.status, 201, "{answer:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn different_keys_are_different_jobs() {
    let service = Service::start().await;
    assert_ne!(service.job("a").await, service.job("b").await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_can_be_read_as_soon_as_it_was_answered() {
    let service = Service::with(|config| config.role = Role::Api).await;
    for number in 0..50 {
        let id = service.job(&format!("k{number}")).await;
        service.read(&id).await;
        let found = service.get(&format!("/v1/jobs?idempotency_key=k{number}")).await;
        assert_eq!(found.body["jobs"][0]["id"], id.as_str());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_item_of_a_batch_is_claimed_under_its_own_key() {
    let service = Service::with(|config| config.role = Role::Api).await;
    let item = |key: &str, amount: i64| {
        let mut item = input(amount);
        item["idempotency_key"] = json!(key);
        item
    };
    let batch = json!({ "jobs": [item("a", 1), item("b", 2), item("a", 1), item("a", 9), input(3)] });
    let first = service.post("/v1/jobs:batch", &batch).await;
    assert_eq!(first.status, 200, "{first:?}");
    let told = |answer: &crate::support::Answer| {
        let items = answer.body["items"].as_array().expect("items").clone();
        items.iter().map(|item| item["status"].as_u64().expect("a status")).collect::<Vec<_>>()
    };
    assert_eq!(told(&first), [201, 201, 200, 409, 400]);
    assert_eq!(first.body["items"][2]["job"]["id"], first.body["items"][0]["job"]["id"]);
    assert_eq!(first.body["items"][4]["problem"]["type"], "/problems/idempotency-key-missing");
    let again = service.post("/v1/jobs:batch", &batch).await;
    assert_eq!(told(&again), [200, 200, 200, 409, 400]);
    assert_eq!(service.submit("a", &input(1)).await.status, 409, "another route is another intent");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_scheduled_job_waits_for_its_time_and_honours_its_key() {
    let service = Service::start().await;
    let later = jiff::Timestamp::now() + jiff::SignedDuration::from_millis(400);
    let mut body = input(1);
    body["run_at"] = json!(later.to_string());
    let made = service.submit("k", &body).await;
    assert_eq!(made.status, 201, "{made:?}");
    assert_eq!(service.submit("k", &body).await.id(), made.id());
    let call = service.double.next().await;
    assert!(jiff::Timestamp::now() >= later, "it ran before its time");
    call.succeed(&json!(1));
    service.until(&made.id(), "succeeded").await;
}
