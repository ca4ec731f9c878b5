//! Each defect breaks the promise that it names. Without these, a suite that misses one could not be told from a
//! defect that does nothing.

use std::time::{Duration, SystemTime};

use futures::future::join_all;
use onejob_reference::{Config, Defect, Retention, Role, signature::sign};
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Answer, LockGate, Service, eventually, input};

async fn broken(defect: Defect, change: impl FnOnce(&mut Config)) -> Service {
    Service::with(|config| {
        config.defects = [defect].into();
        change(config);
    })
    .await
}

fn api(config: &mut Config) {
    config.role = Role::Api;
}

fn impatient(config: &mut Config) {
    config.attempt_timeout = Duration::from_millis(50);
}

/// Ids that several simultaneous requests with one key were answered.
async fn race(service: &Service, other: &Service) -> (Vec<Answer>, usize) {
    let mut gate = LockGate::close(&service.config.database_url).await;
    let body = input(1);
    let answers = async { join_all([service.submit("k", &body), other.submit("k", &body)]).await };
    let released = async {
        gate.wait_for(2).await;
        gate.open().await;
    };
    let (answers, ()) = tokio::join!(answers, released);
    let made = answers.iter().filter(|answer| answer.status == 201).count();
    (answers, made)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn check_then_insert_makes_two_jobs() {
    let service = broken(Defect::CheckThenInsert, api).await;
    let (answers, made) = race(&service, &service).await;
    assert_eq!(made, 2, "{answers:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unique_violation_is_500_answers_500() {
    let service = broken(Defect::UniqueViolationIs500, api).await;
    let (answers, _) = race(&service, &service).await;
    assert!(answers.iter().any(|answer| answer.status == 500), "{answers:?}");
    assert_eq!(service.submit("k", &input(1)).await.status, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mismatch_ignored_shows_the_old_job() {
    let service = broken(Defect::MismatchIgnored, api).await;
    let id = service.job("k").await;
    assert_eq!(service.submit("k", &input(2)).await.id(), id);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn timeout_is_failed_sends_again() {
    let service = broken(Defect::TimeoutIsFailed, impatient).await;
    let id = service.job("k").await;
    let _first = service.double.next().await;
    assert_eq!(service.double.next().await.reference(), id);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unknown_does_not_block_sends_again() {
    let service = broken(Defect::UnknownDoesNotBlock, impatient).await;
    let id = service.job("k").await;
    let _first = service.double.next().await;
    assert_eq!(service.double.next().await.reference(), id, "the worker's own polling");

    let service = broken(Defect::UnknownDoesNotBlock, |config| {
        impatient(config);
        config.poll_interval = Duration::from_mins(1);
    })
    .await;
    let id = service.job("k").await;
    let _first = service.double.next().await;
    service.until_event(&id, "attempt-unknown").await;
    let pushed = service.post(&format!("/v1/jobs/{id}/attempts"), &json!({})).await;
    assert!(pushed.status == 202 || pushed.problem() == "attempt-live", "{pushed:?}");
    assert_eq!(service.double.next().await.reference(), id, "somebody who asks");
}

/// Attempt 1 was given up and attempt 2 is under way; then the answer of attempt 1 arrives. Gives the job as it is
/// once that was judged.
async fn straggler(service: &Service) -> Value {
    let id = service.job("k").await;
    let late = service.double.next().await;
    service.until(&id, "unknown").await;
    service.post_if(&format!("/v1/jobs/{id}/attempts/1/cancel"), 1, &json!({})).await;
    let started = service.post(&format!("/v1/jobs/{id}/attempts"), &json!({ "provider": "fallback" })).await;
    assert_eq!(started.status, 202, "{started:?}");
    let _second = service.double.next().await;
    late.succeed(&json!("stale"));
    eventually("the straggler is judged", async || {
        let events = service.events(&id).await;
        events.iter().any(|event| event == "result-accepted" || event == "result-discarded").then_some(())
    })
    .await;
    service.read(&id).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_the_version_keeps_a_straggler_out() {
    let patient_fallback = |config: &mut Config| {
        impatient(config);
        config.providers[1].timeout = Some(Duration::from_secs(10));
    };
    for defect in [Defect::StatusOnlyCas, Defect::WorkerNameFence, Defect::LastWriterWins] {
        let service = broken(defect, patient_fallback).await;
        assert_eq!(straggler(&service).await["result"], "stale", "{defect}");
    }
    let service = Service::with(patient_fallback).await;
    assert_eq!(straggler(&service).await["result"], json!(null));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn last_writer_wins_changes_a_decided_job() {
    let service = broken(Defect::LastWriterWins, |_| {}).await;
    let body = json!({ "kind": "ask", "input": 1, "mode": "race" });
    let id = service.submit("k", &body).await.id();
    let first = service.double.next().await;
    service.post(&format!("/v1/jobs/{id}/attempts"), &json!({})).await;
    let second = service.double.next().await;
    second.succeed(&json!("second"));
    service.until(&id, "succeeded").await;
    first.succeed(&json!("first"));
    eventually("the result changes", async || (service.read(&id).await["result"] == "first").then_some(()))
        .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn start_fences_turns_the_earlier_attempt_away() {
    let service = broken(Defect::StartFences, |_| {}).await;
    let body = json!({ "kind": "ask", "input": 1, "mode": "race" });
    let id = service.submit("k", &body).await.id();
    let first = service.double.next().await;
    service.post(&format!("/v1/jobs/{id}/attempts"), &json!({})).await;
    let _second = service.double.next().await;
    first.succeed(&json!("first"));
    service.until_event(&id, "result-discarded").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn invalid_body_claims_consumes_the_key() {
    let service = broken(Defect::InvalidBodyClaims, api).await;
    assert_eq!(service.submit("k", &json!({})).await.status, 400);
    assert_eq!(service.submit("k", &input(1)).await.status, 409);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failed_frees_key_runs_it_again() {
    let service = broken(Defect::FailedFreesKey, |_| {}).await;
    let id = service.job("k").await;
    service.double.next().await.answer(400, &json!({ "error": { "code": "no", "message": "m" } }));
    service.until(&id, "failed").await;
    assert_ne!(service.job("k").await, id);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scheduled_and_batch_ignore_their_keys() {
    let service = broken(Defect::ScheduledIgnoresKey, api).await;
    let mut body = input(1);
    body["run_at"] = json!("2999-01-01T00:00:00Z");
    assert_ne!(service.submit("k", &body).await.id(), service.submit("k", &body).await.id());

    let service = broken(Defect::BatchIgnoresKeys, api).await;
    let batch = json!({ "jobs": [{ "idempotency_key": "k", "kind": "x", "input": 1 }] });
    for _ in 0..2 {
        assert_eq!(service.post("/v1/jobs:batch", &batch).await.body["items"][0]["status"], 201);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn owners_meet_where_the_scope_is_lost() {
    let of_bob = |service: &Service| {
        service.request(Method::POST, "/v1/jobs", "bob-secret").header("idempotency-key", "k").json(&input(1))
    };
    let service = broken(Defect::KeyWithoutOwner, api).await;
    let id = service.job("k").await;
    assert_eq!(service.send(of_bob(&service)).await.id(), id);

    let service = broken(Defect::LookupIgnoresOwner, api).await;
    let id = service.job("k").await;
    assert_ne!(service.send(of_bob(&service)).await.id(), id);
    let read = service.send(service.request(Method::GET, &format!("/v1/jobs/{id}"), "bob-secret")).await;
    assert_eq!(read.id(), id);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn key_case_folded_makes_one_key_of_two() {
    let service = broken(Defect::KeyCaseFolded, api).await;
    let id = service.job("k").await;
    assert_eq!(service.submit("K", &input(1)).await.id(), id);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fingerprint_body_only_forgets_the_query() {
    let service = broken(Defect::FingerprintBodyOnly, api).await;
    let id = service.job("k").await;
    let other =
        service.request(Method::POST, "/v1/jobs?dry=1", "alice-secret").header("idempotency-key", "k");
    assert_eq!(service.send(other.json(&input(1))).await.id(), id);
    let mut item = input(1);
    item["idempotency_key"] = json!("k");
    let batch = service.post("/v1/jobs:batch", &json!({ "jobs": [item] })).await;
    assert_eq!(
        batch.body["items"][0]["job"]["id"],
        id.as_str(),
        "another route is answered with this one's job"
    );
}

async fn raw(service: &Service, input: &str) -> u16 {
    let request = service
        .request(Method::POST, "/v1/jobs", "alice-secret")
        .header("idempotency-key", "k")
        .header("content-type", "application/json")
        .body(format!("{{\"kind\":\"x\",\"input\":{input}}}"));
    service.send(request).await.status
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_canonical_form_is_lost() {
    for (defect, first, second, statuses) in [
        (Defect::BytesFingerprint, r#"{"a":1,"b":2}"#, r#"{"b":2,"a":1}"#, (201, 409)),
        (Defect::RoundedNumbers, "9007199254740992", "9007199254740993", (201, 200)),
        (Defect::LastMemberWins, r#"{"a":1,"a":2}"#, r#"{"a":2}"#, (201, 200)),
    ] {
        let service = broken(defect, api).await;
        assert_eq!((raw(&service, first).await, raw(&service, second).await), statuses, "{defect}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn retention_loses_keys() {
    let forgetful = |config: &mut Config| {
        config.retention = Retention::For(Duration::from_millis(20));
        config.lease = Duration::from_millis(300);
    };
    let service = broken(Defect::NoTombstone, forgetful).await;
    let id = service.job("k").await;
    service.double.next().await.succeed(&json!(1));
    let second = eventually("the key is free", async || {
        let answer = service.submit("k", &input(1)).await;
        (answer.status == 201).then_some(answer)
    })
    .await;
    assert_ne!(second.id(), id);

    let service = broken(Defect::RetentionIgnoresState, forgetful).await;
    service.job("k").await;
    eventually("the key of a job that is not decided is free", async || {
        (service.submit("k", &input(1)).await.status == 201).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn overdue_is_failed_decides_by_the_clock() {
    let service = broken(Defect::OverdueIsFailed, |config| {
        impatient(config);
        config.unknown_deadline = Duration::from_millis(50);
        config.lease = Duration::from_millis(500);
    })
    .await;
    let id = service.job("k").await;
    let _call = service.double.next().await;
    service.until(&id, "failed").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn server_error_is_failed_sends_again() {
    let service = broken(Defect::ServerErrorIsFailed, |_| {}).await;
    let id = service.job("k").await;
    service.double.next().await.answer(502, &json!({}));
    assert_eq!(service.double.next().await.reference(), id);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn duplicate_is_failed_denies_what_happened() {
    let service = broken(Defect::DuplicateIsFailed, |_| {}).await;
    let id = service.job("k").await;
    service.double.next().await.answer(409, &json!({ "error": { "code": "duplicate", "message": "m" } }));
    service.until(&id, "failed").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn not_found_too_early_sends_again() {
    let service = broken(Defect::NotFoundTooEarly, |config| {
        impatient(config);
        config.probe_pause = Duration::from_millis(20);
        config.providers[0].max_latency = Some(Duration::from_mins(1));
    })
    .await;
    service.job("k").await;
    let _call = service.double.next().await;
    service.double.next().await.answer(404, &json!({}));
    assert!(!service.double.next().await.probe);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn leases_are_lost_or_mean_nothing() {
    let short = |config: &mut Config| config.lease = Duration::from_millis(300);
    let service = broken(Defect::NoHeartbeat, short).await;
    let id = service.job("k").await;
    let _call = service.double.next().await;
    service.until(&id, "unknown").await;

    let mut service = broken(Defect::LapsedMeansRepeat, short).await;
    let id = service.job("k").await;
    let _call = service.double.next().await;
    service.kill();
    let replica = service.replica(|_| {}).await;
    assert_eq!(replica.double.next().await.reference(), id, "the effect is repeated");

    let service = broken(Defect::LeaseByWorkerClock, |_| {}).await;
    let id = service.job("k").await;
    service.double.next().await.succeed(&json!(1));
    service.until(&id, "succeeded").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cancelling_goes_wrong() {
    let service = broken(Defect::CancelOverwrites, |_| {}).await;
    let id = service.job("k").await;
    service.double.next().await.succeed(&json!(1));
    service.until(&id, "succeeded").await;
    let cancelled = service.post(&format!("/v1/jobs/{id}/cancel"), &json!({})).await;
    assert_eq!((cancelled.status, &cancelled.body["state"]), (200, &json!("cancelled")));

    let service = broken(Defect::CancelIgnoresEffect, |_| {}).await;
    let id = service.job("k").await;
    let _call = service.double.next().await;
    let cancelled = service.post(&format!("/v1/jobs/{id}/cancel"), &json!({})).await;
    assert_eq!((cancelled.status, &cancelled.body["state"]), (200, &json!("cancelled")));

    let service = broken(Defect::CancelFreesKey, api).await;
    let id = service.job("k").await;
    assert_eq!(service.post(&format!("/v1/jobs/{id}/cancel"), &json!({})).await.status, 200);
    assert_ne!(service.job("k").await, id);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn callbacks_are_believed_too_easily() {
    const SECRET: &str = "shared";
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("after 1970").as_secs();
    for defect in [Defect::UnsignedCallback, Defect::ReplayedCallback, Defect::CallbackEachTime] {
        let service = broken(defect, |config| {
            impatient(config);
            config.providers[0].callback_secret = Some(SECRET.to_owned());
        })
        .await;
        let id = service.job("k").await;
        let _call = service.double.next().await;
        service.until(&id, "unknown").await;
        let deliver = async |secret: &str, at: u64| {
            let body = json!({ "client_reference": id, "attempt": 1, "status": "succeeded", "result": 1 })
                .to_string();
            let request = service
                .request(Method::POST, "/v1/callbacks/primary", "x")
                .header("webhook-id", "e1")
                .header("webhook-timestamp", at)
                .header("webhook-signature", sign(secret, "e1", at, body.as_bytes()));
            service.send(request.body(body)).await
        };
        match defect {
            Defect::UnsignedCallback => assert_eq!(deliver("forged", now).await.status, 200),
            Defect::ReplayedCallback => {
                assert_eq!(deliver("forged", now).await.status, 401);
                assert_eq!(deliver(SECRET, now - 86_400).await.status, 200);
            }
            _ => {
                assert_eq!(deliver(SECRET, now).await.status, 200);
                assert_eq!(deliver(SECRET, now).await.body["outcome"], "accepted");
                assert_eq!(service.read(&id).await["version"], 3, "two transitions of one event");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answer_before_commit_promises_what_is_not_there() {
    let service = broken(Defect::AnswerBeforeCommit, api).await;
    let id = service.job("k").await;
    assert_eq!(service.get(&format!("/v1/jobs/{id}")).await.status, 404);
    eventually("it is committed", async || {
        (service.get(&format!("/v1/jobs/{id}")).await.status == 200).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn enqueue_after_commit_makes_two_transactions_of_one() {
    use sqlx::{Connection as _, Executor as _};

    let service = broken(Defect::EnqueueAfterCommit, |_| {}).await;
    let mut connection =
        sqlx::PgConnection::connect(&service.config.database_url).await.expect("a connection");
    // The database fails between the two.
    connection
        .execute(
            "CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'down'; END $$; \
             CREATE TRIGGER fail BEFORE UPDATE OF run_at ON jobs FOR EACH ROW WHEN (NEW.state = 'queued') \
                EXECUTE FUNCTION fail()",
        )
        .await
        .expect("the trigger is there");
    assert_eq!(service.submit("k", &input(1)).await.status, 500);
    connection.execute("DROP TRIGGER fail ON jobs").await.expect("it drops");
    let retried = service.submit("k", &input(1)).await;
    assert_eq!(retried.status, 200);
    assert!(retried.body["run_at"].as_str().is_some_and(|at| at > "2900"), "it is stranded: {retried:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn attempt_after_commit_leaves_a_job_to_nobody() {
    use sqlx::{Connection as _, Executor as _};

    let service = broken(Defect::AttemptAfterCommit, |_| {}).await;
    let mut connection =
        sqlx::PgConnection::connect(&service.config.database_url).await.expect("a connection");
    // The database fails between the two.
    connection
        .execute(
            "CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'down'; END $$; \
             CREATE TRIGGER fail BEFORE INSERT ON attempts FOR EACH ROW EXECUTE FUNCTION fail()",
        )
        .await
        .expect("the trigger is there");
    let id = service.job("k").await;
    let read = eventually("the job is under way", async || {
        let read = service.read(&id).await;
        (read["state"] == "running").then_some(read)
    });
    let read = read.await;
    assert_eq!(read["attempts"].as_array().map(Vec::len), Some(0), "{read:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn effect_before_mark_repeats_the_call_after_a_crash() {
    use sqlx::{Connection as _, Executor as _};

    let mut service =
        broken(Defect::EffectBeforeMark, |config| config.lease = Duration::from_millis(300)).await;
    let id = service.job("k").await;
    let _call = service.double.next().await;
    service.kill();
    // The mark may or may not have been written by now. This is what a crash between the call and the mark leaves.
    let mut database = sqlx::PgConnection::connect(&service.config.database_url).await.expect("a connection");
    database
        .execute("UPDATE attempts SET effect_started_at = NULL, state = 'starting'")
        .await
        .expect("an attempt without its mark");
    let replica = service.replica(|_| {}).await;
    assert_eq!(replica.double.next().await.reference(), id);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hidden_resend_sends_one_attempt_twice() {
    let service = broken(Defect::HiddenResend, |_| {}).await;
    service.job("k").await;
    let first = service.double.next().await;
    let number = first.attempt();
    drop(first);
    assert_eq!(service.double.next().await.attempt(), number);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn claim_in_memory_is_fine_until_there_is_a_second_process() {
    use sqlx::{Connection as _, Executor as _};

    let service = broken(Defect::ClaimInMemory, api).await;
    let body = input(1);
    let answers = join_all((0..8).map(|_| service.submit("k", &body))).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 201).count(), 1, "{answers:?}");
    // What another process does, this one's lock does not see.
    let mut other = sqlx::PgConnection::connect(&service.config.database_url).await.expect("a connection");
    other
        .execute(
            "INSERT INTO jobs (id, owner, idempotency_key, fingerprint, fingerprint_version, kind, input) \
             SELECT gen_random_uuid(), owner, idempotency_key, fingerprint, 1, kind, input FROM jobs",
        )
        .await
        .expect("the database lets a second one in");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reference_per_attempt_hides_that_it_is_the_same_work() {
    let service = broken(Defect::ReferencePerAttempt, |_| {}).await;
    service.job("k").await;
    let first = service.double.next().await;
    let reference = first.reference().to_owned();
    first.answer(429, &json!({}));
    assert_ne!(service.double.next().await.reference(), reference);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn conflict_repeats_effect_sends_again() {
    use sqlx::{Connection as _, Executor as _};

    let service = broken(Defect::ConflictRepeatsEffect, |_| {}).await;
    let mut connection =
        sqlx::PgConnection::connect(&service.config.database_url).await.expect("a connection");
    connection
        .execute(
            "CREATE SEQUENCE conflicts; \
             CREATE FUNCTION conflict() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
                IF nextval('conflicts') <= 1 THEN RAISE EXCEPTION 'forced' USING ERRCODE = '40001'; END IF; \
                RETURN NEW; END $$; \
             CREATE TRIGGER conflict BEFORE UPDATE ON jobs FOR EACH ROW WHEN (NEW.state = 'succeeded') \
                EXECUTE FUNCTION conflict()",
        )
        .await
        .expect("the trigger is there");
    service.job("k").await;
    service.double.next().await.succeed(&json!(1));
    assert_eq!(service.double.next().await.attempt(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_are_read_in_ways_of_their_own() {
    let id = async |service: &Service, key: &str| service.submit(key, &input(1)).await.id();
    let service = broken(Defect::KeyIgnored, api).await;
    assert_ne!(id(&service, "k").await, id(&service, "k").await);

    let service = broken(Defect::PayloadIsKey, api).await;
    assert_eq!(id(&service, "k").await, id(&service, "another").await);

    let service = broken(Defect::KeyTruncated, api).await;
    let long = "x".repeat(200);
    assert_eq!(id(&service, &format!("{long}1")).await, id(&service, &format!("{long}2")).await);

    let service = broken(Defect::QuotedIsAnotherKey, api).await;
    assert_ne!(id(&service, "k").await, id(&service, "\"k\"").await);

    let service = broken(Defect::KeyMended, api).await;
    assert_eq!(id(&service, "k k").await, id(&service, "kk").await);
    assert_eq!(service.submit("", &input(1)).await.status, 201);

    let without =
        |service: &Service| service.request(Method::POST, "/v1/jobs", "alice-secret").json(&input(1));
    let service = broken(Defect::KeylessAccepted, api).await;
    assert_eq!(service.send(without(&service)).await.status, 201);

    let service = broken(Defect::FirstKeyWins, api).await;
    let two = without(&service).header("idempotency-key", "k").header("idempotency-key", "l");
    assert_eq!(service.send(two).await.id(), id(&service, "k").await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn anonymous_accepted_serves_a_stranger() {
    let service = broken(Defect::AnonymousAccepted, api).await;
    let stranger = service.request(Method::POST, "/v1/jobs", "no such token").header("idempotency-key", "k");
    assert_eq!(service.send(stranger.json(&input(1))).await.status, 201);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn live_does_not_block_starts_one_more() {
    let service = broken(Defect::LiveDoesNotBlock, |_| {}).await;
    let id = service.job("k").await;
    let _first = service.double.next().await;
    assert_eq!(service.post(&format!("/v1/jobs/{id}/attempts"), &json!({})).await.status, 202);
    assert_eq!(service.double.next().await.attempt(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_attempt_is_given_up_in_the_wrong_way() {
    let service = broken(Defect::GivenUpRunsAgain, impatient).await;
    let id = service.job("k").await;
    let _first = service.double.next().await;
    service.until(&id, "unknown").await;
    service.post_if(&format!("/v1/jobs/{id}/attempts/1/cancel"), 1, &json!({})).await;
    assert_eq!(service.double.next().await.attempt(), 2, "nobody asked for it");

    let service = broken(Defect::PreconditionIgnored, impatient).await;
    let id = service.job("k").await;
    let _first = service.double.next().await;
    service.until(&id, "unknown").await;
    let given_up = service.post_if(&format!("/v1/jobs/{id}/attempts/1/cancel"), 99, &json!({})).await;
    assert_eq!(given_up.status, 200, "{given_up:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_is_locked_without_its_job() {
    use sqlx::{Connection as _, Executor as _};

    let service = broken(Defect::KeyLockLeftBehind, api).await;
    let mut database = sqlx::PgConnection::connect(&service.config.database_url).await.expect("a connection");
    // What a process leaves that dies between the two steps.
    database.execute("INSERT INTO key_locks VALUES ('alice', 'k')").await.expect("the lock is there");
    assert_eq!(service.submit("k", &input(1)).await.problem(), "request-in-flight");
    assert_eq!(service.submit("l", &input(1)).await.status, 201);
    assert_eq!(service.submit("l", &input(1)).await.status, 200, "a lock that was lifted is no lock");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dropped_with_the_client_leaves_the_key_locked() {
    let service = broken(Defect::DroppedWithTheClient, api).await;
    let body = input(1);
    // The handler takes its time; the client doesn't wait for it.
    let hung_up = tokio::time::timeout(Duration::from_millis(50), service.submit("k", &body)).await;
    assert!(hung_up.is_err());
    eventually("the key is locked for good", async || {
        let answers = join_all((0..3).map(|_| service.submit("k", &body))).await;
        answers.iter().all(|answer| answer.status == 409).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn timer_in_memory_forgets_what_was_scheduled() {
    let mut service = broken(Defect::TimerInMemory, |_| {}).await;
    let mut body = input(1);
    body["run_at"] = json!("2000-01-01T00:00:00Z");
    service.submit("past", &body).await;
    service.double.next().await.succeed(&json!(1));
    body["run_at"] = json!("2999-01-01T00:00:00Z");
    let id = service.submit("future", &body).await.id();
    service.kill();
    let replica = service.replica(|_| {}).await;
    let told = replica.read(&id).await["run_at"].clone();
    assert!(told.as_str().is_some_and(|at| at.starts_with("3000")), "nobody knows its time any more: {told}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn shutdown_abandons_what_is_under_way() {
    let service = broken(Defect::ShutdownAbandons, |_| {}).await;
    let id = service.job("k").await;
    let _call = service.double.next().await;
    let replica = service.replica(|config| config.role = Role::Api).await;
    service.stop().await.expect("it stops");
    assert_eq!(replica.read(&id).await["state"], "unknown");
}
