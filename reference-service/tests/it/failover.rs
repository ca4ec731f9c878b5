//! Going on at another provider: only after a definite failure, and only through the gate.

use std::time::Duration;

use onejob_reference::{Config, Defect, Error, Role};
use serde_json::{Value, json};

use crate::support::{Papers, Service, eventually, input};

const HOUR: Duration = Duration::from_hours(1);

async fn service(change: impl FnOnce(&mut Config, &Papers)) -> (Service, Papers) {
    let mut papers = None;
    let service = Service::with(|config| {
        let made = Papers::new(&config.providers[0].url);
        config.contracts = Some(made.contracts());
        config.failover = Some(made.failover());
        config.max_attempts = 2;
        change(config, &made);
        papers = Some(made);
    })
    .await;
    (service, papers.expect("made"))
}

/// A primary that refuses the call for good: only another provider could help.
async fn denied(service: &Service, key: &str) -> String {
    let id = service.job(key).await;
    let error = json!({ "error": { "code": "denied", "message": "no such key" } });
    service.double.next().await.answer(401, &error);
    id
}

async fn moved(service: &Service, key: &str) {
    let id = denied(service, key).await;
    service.double.next().await.succeed(&json!("by the fallback"));
    assert_eq!(service.until(&id, "succeeded").await["attempts"][1]["provider"], "fallback");
}

/// The job stays where it is, and says why.
async fn stays(service: &Service, key: &str, code: &str) -> Value {
    let id = denied(service, key).await;
    let job = service.until(&id, "failed").await;
    assert_eq!(job["failure"]["failover"]["code"], code, "{job}");
    assert_eq!(job["attempts"].as_array().map(Vec::len), Some(1), "{job}");
    assert!(job["attempts"][0]["detail"].as_str().is_some_and(|detail| detail.contains(code)), "{job}");
    assert!(service.events(&id).await.contains(&"failover-refused".to_owned()));
    job
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_moves_by_an_attestation_and_carries_its_identity_along() {
    let (service, papers) = service(|_, _| {}).await;
    papers.attest(Duration::ZERO, HOUR);
    let id = service.job("k").await;
    let first = service.double.next().await;
    let (reference, trace) = (first.reference().to_owned(), first.headers["traceparent"].clone());
    first.answer_with(429, &[("retry-after", "30")], &json!({}));
    let second = service.double.next().await;
    assert_eq!((second.reference(), second.attempt()), (reference.as_str(), 2));
    let trace_id = |value: &str| value.split('-').nth(1).map(str::to_owned);
    assert_ne!(second.headers["traceparent"], trace, "a span of its own");
    assert_ne!(trace_id(second.headers["traceparent"].to_str().expect("text")), None);
    second.succeed(&json!("by the fallback"));
    let job = service.until(&id, "succeeded").await;
    assert_eq!((&job["completed_by"], &job["result"]), (&json!(2), &json!("by the fallback")));
    assert_eq!(job["attempts"][0]["provider"], "primary");
    assert_eq!(job["attempts"][1]["provider"], "fallback");
    assert!(service.events(&id).await.contains(&"failed-over".to_owned()));
    assert!((service.metric("onejob_failovers_total{outcome=\"moved\"}").await - 1.0).abs() < 0.1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_put_into_the_folder_and_taken_away_counts_at_once() {
    let (service, papers) = service(|_, _| {}).await;
    stays(&service, "none", "no_attestation").await;
    papers.forge();
    stays(&service, "forged", "untrusted").await;
    papers.attest(2 * HOUR, HOUR);
    stays(&service, "expired", "expired").await;
    papers.attest(Duration::ZERO, HOUR);
    moved(&service, "good").await;
    papers.withdraw();
    stays(&service, "withdrawn", "no_attestation").await;
    papers.attest(Duration::from_secs(1), HOUR);
    papers.suspend();
    let job = stays(&service, "suspended", "suspended").await;
    assert!(job["failure"]["failover"]["reason"].as_str().is_some_and(|why| why.contains("it drifted")));
    // A damaged suspension could be about anybody.
    papers.damage();
    stays(&service, "damaged", "unreadable").await;
    assert!((service.metric("onejob_failovers_total{outcome=\"refused\"}").await - 6.0).abs() < 0.1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_attestation_expires_while_the_service_runs() {
    let (service, papers) = service(|_, _| {}).await;
    papers.attest(Duration::ZERO, Duration::from_secs(6));
    moved(&service, "in-time").await;
    // No event tells of it: only the clock moves on.
    eventually("it expires", async || {
        let id = denied(&service, &uuid::Uuid::new_v4().to_string()).await;
        let job = eventually("it goes on or ends", async || {
            let job = service.read(&id).await;
            (job["state"] == "failed" || job["attempts"][1]["state"] == "running").then_some(job)
        })
        .await;
        if job["state"] == "failed" {
            assert_eq!(job["failure"]["failover"]["code"], "expired", "{job}");
            return Some(());
        }
        service.double.next().await.succeed(&json!(1));
        None
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_byte_that_changed_since_it_was_attested_is_another_contract() {
    for (name, from, to, what) in [
        ("contract.toml", "charge {{", "Charge {{", "prompt"),
        ("contract.toml", "per_case = 40", "per_case = 41", "contract"),
        ("schema.json", "{\"type\"", "{ \"type\"", "schema"),
        ("providers.toml", "fallback-1", "fallback-2", "model"),
        ("providers.toml", "primary-1", "primary-2", "primary's model"),
    ] {
        let (service, _papers) = service(|_, papers| {
            papers.attest(Duration::ZERO, HOUR);
            papers.write(name, &papers.read(name).replace(from, to));
        })
        .await;
        let job = stays(&service, "k", "changed").await;
        let reason = job["failure"]["failover"]["reason"].as_str().expect("a reason").to_owned();
        assert!(reason.contains(&format!("the {what} changed")), "{reason}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_unknown_outcome_never_moves() {
    let (service, papers) = service(|config, _| config.attempt_timeout = Duration::from_millis(100)).await;
    papers.attest(Duration::ZERO, HOUR);
    let id = service.job("silent").await;
    let _silent = service.double.next().await;
    service.until(&id, "unknown").await;
    let id = service.job("broken").await;
    service.double.next().await.answer(502, &json!({}));
    service.until(&id, "unknown").await;
    assert!(!service.double.has_more().await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failure_that_the_contract_does_not_name_stays_and_so_does_a_job_of_another_kind() {
    let (service, papers) = service(|_, _| {}).await;
    papers.attest(Duration::ZERO, HOUR);
    let id = service.job("k").await;
    service.double.next().await.answer(422, &json!({ "error": { "code": "bad", "message": "no" } }));
    let job = service.until(&id, "failed").await;
    assert_eq!(job["failure"]["failover"]["code"], "not_a_trigger", "{job}");

    let id = service.submit("other", &json!({ "kind": "mail", "input": 1 })).await.id();
    service.double.next().await.answer(401, &json!({}));
    let job = service.until(&id, "failed").await;
    assert_eq!(job["failure"]["failover"]["code"], "no_contract", "{job}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refused_move_leaves_retries_as_they_are_and_attempts_have_an_end() {
    let (service, papers) = service(|_, _| {}).await;
    let busy = |call: crate::support::Received| call.answer_with(429, &[("retry-after", "0")], &json!({}));
    let id = service.job("refused").await;
    busy(service.double.next().await);
    busy(service.double.next().await);
    let job = service.until(&id, "failed").await;
    let providers: Vec<&Value> =
        job["attempts"].as_array().expect("attempts").iter().map(|one| &one["provider"]).collect();
    assert_eq!(providers, ["primary", "primary"]);

    // The first provider may keep a job for its last attempt; then there is none left to move with.
    papers.attest(Duration::ZERO, HOUR);
    let id = service.job("moved").await;
    busy(service.double.next().await);
    busy(service.double.next().await);
    let job = service.until(&id, "failed").await;
    assert_eq!(job["attempts"][1]["provider"], "fallback");
    assert_eq!(job["attempts"].as_array().map(Vec::len), Some(2));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_that_could_never_let_a_job_move_are_refused_at_the_start() {
    for (name, from, to, word) in [
        ("providers.toml", "[provider.fallback]", "[provider.backup]", "fallback"),
        ("providers.toml", "\"plain\"", "\"plane\"", "no dialect is called `plane`"),
        ("providers.toml", "model = ", "parameters = { temperature = 0 }\nmodel = ", "contract lint"),
        ("contract.toml", "[prompt]", "[promt]", "promt"),
        ("trust.pub.pem", "PUBLIC", "PRIVATE", "trust.pub.pem"),
    ] {
        let papers = Papers::new("http://127.0.0.1:1/");
        papers.write(name, &papers.read(name).replace(from, to));
        let error = papers
            .refused_at_the_start(Config { failover: Some(papers.failover()), ..Config::default() })
            .await;
        assert!(matches!(error, Error::Config(_)), "{error}");
        assert!(error.to_string().contains(word), "{error}");
    }
}

/// A job whose first call was denied while its process was on its way down: it moved, and nobody took it up there.
async fn moved_and_waiting(service: &Service, key: &str) -> String {
    let id = service.job(key).await;
    let call = service.double.next().await;
    service.begin_stop();
    call.answer(401, &json!({ "error": { "code": "denied", "message": "no such key" } }));
    id
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn between_the_move_and_the_call_the_proof_may_end() {
    type Change = fn(&Papers);
    let changes: [(&str, Change); 5] = [
        ("no_attestation", Papers::withdraw),
        ("suspended", Papers::suspend),
        ("expired", |papers| papers.attest(2 * HOUR, HOUR)),
        ("untrusted", Papers::forge),
        ("changed", |papers| {
            papers.write("contract.toml", &papers.read("contract.toml").replace("charge {{", "Charge {{"));
        }),
    ];
    for (code, change) in changes {
        let (service, papers) = service(|_, _| {}).await;
        papers.attest(Duration::ZERO, HOUR);
        let reader = service.replica(|config| config.role = Role::Api).await;
        let id = moved_and_waiting(&service, "k").await;
        reader.until_event(&id, "failed-over").await;
        service.stop().await.expect("it drains");
        change(&papers);
        let next = reader.replica(|config| config.role = Role::All).await;
        let job = next.until(&id, "failed").await;
        assert_eq!(job["failure"]["code"], "failover-refused", "{job}");
        assert_eq!(job["failure"]["failover"]["code"], code, "{job}");
        assert_eq!(job["attempts"][1]["effect_started_at"], Value::Null, "{job}");
        assert!(next.events(&id).await.contains(&"failover-refused".to_owned()), "{code}");
        assert!(!next.double.has_more().await, "{code}: the fallback was called");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_without_a_gate_sends_no_job_that_moved() {
    let (service, papers) = service(|_, _| {}).await;
    papers.attest(Duration::ZERO, HOUR);
    let reader = service.replica(|config| config.role = Role::Api).await;
    let id = moved_and_waiting(&service, "k").await;
    reader.until_event(&id, "failed-over").await;
    service.stop().await.expect("it drains");
    let next = reader.replica(|config| (config.role, config.failover) = (Role::All, None)).await;
    let job = next.until(&id, "failed").await;
    assert_eq!(job["failure"]["failover"]["code"], "no_contract", "{job}");
    assert!(!next.double.has_more().await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_is_turned_away_goes_back_to_where_it_came_from_if_that_may_help() {
    let (service, papers) = service(|config, _| config.max_attempts = 4).await;
    papers.attest(Duration::ZERO, HOUR);
    let id = service.job("k").await;
    // Busy is over some day; so the primary is asked again once the fallback may not be.
    service.double.next().await.answer_with(429, &[("retry-after", "0")], &json!({}));
    let busy = service.double.next().await;
    papers.withdraw();
    busy.answer_with(429, &[("retry-after", "0")], &json!({}));
    service.double.next().await.succeed(&json!("by the primary"));
    let job = service.until(&id, "succeeded").await;
    let attempts: Vec<(&Value, &Value)> = job["attempts"]
        .as_array()
        .expect("attempts")
        .iter()
        .map(|one| (&one["provider"], &one["state"]))
        .collect();
    let (primary, fallback, failed) = (&json!("primary"), &json!("fallback"), &json!("failed"));
    assert_eq!(
        attempts,
        [(primary, failed), (fallback, failed), (fallback, failed), (primary, &json!("succeeded"))]
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_attempt_that_somebody_asked_for_needs_no_proof() {
    let (service, _papers) = service(|config, _| config.max_attempts = 3).await;
    let id = service.job("k").await;
    service.double.next().await.answer_with(429, &[("retry-after", "30")], &json!({}));
    service.until_event(&id, "requeued").await;
    let asked = service.post(&format!("/v1/jobs/{id}/attempts"), &json!({ "provider": "fallback" })).await;
    assert_eq!(asked.status, 202, "{asked:?}");
    service.double.next().await.answer_with(429, &[("retry-after", "0")], &json!({}));
    service.double.next().await.succeed(&json!("by the fallback"));
    assert_eq!(service.until(&id, "succeeded").await["attempts"][2]["provider"], "fallback");
}

fn planted(defect: Defect) -> impl FnOnce(&mut Config, &Papers) {
    move |config, _| config.defects = [defect].into()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failover_ungated_moves_without_an_attestation() {
    let (service, _papers) = service(planted(Defect::FailoverUngated)).await;
    moved(&service, "k").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failover_on_unknown_asks_the_next_one_after_a_timeout() {
    let (service, papers) = service(|config, papers| {
        planted(Defect::FailoverOnUnknown)(config, papers);
        config.attempt_timeout = Duration::from_millis(50);
    })
    .await;
    papers.attest(Duration::ZERO, HOUR);
    let id = service.job("k").await;
    let _silent = service.double.next().await;
    assert_eq!(service.double.next().await.reference(), id);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn attestation_cached_goes_on_after_the_expiry() {
    let (service, papers) = service(planted(Defect::AttestationCached)).await;
    papers.attest(HOUR, HOUR + Duration::from_secs(5));
    moved(&service, "in-time").await;
    // Expiry is all that changes, and what happens after it is what this is about.
    tokio::time::sleep(Duration::from_millis(5100)).await;
    moved(&service, "too-late").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn permit_kept_sends_a_job_whose_proof_was_withdrawn() {
    let (service, papers) = service(|config, papers| {
        planted(Defect::PermitKept)(config, papers);
        config.max_attempts = 3;
    })
    .await;
    papers.attest(Duration::ZERO, HOUR);
    let id = denied(&service, "k").await;
    let busy = service.double.next().await;
    papers.withdraw();
    busy.answer_with(429, &[("retry-after", "0")], &json!({}));
    service.double.next().await.succeed(&json!(1));
    assert_eq!(service.until(&id, "succeeded").await["attempts"][2]["provider"], "fallback");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn attestation_by_name_does_not_see_that_the_prompt_changed() {
    let (service, _papers) = service(|config, papers| {
        planted(Defect::AttestationByName)(config, papers);
        papers.attest(Duration::ZERO, HOUR);
        papers.write("contract.toml", &papers.read("contract.toml").replace("charge {{", "Charge {{"));
    })
    .await;
    moved(&service, "k").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn trace_per_attempt_forgets_the_request() {
    let asked = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    for (defects, kept) in [(None, true), (Some(Defect::TracePerAttempt), false)] {
        let (service, _papers) = service(|config, _| config.defects = defects.into_iter().collect()).await;
        let answer = service.send(service.submission("k", &input(1)).header("traceparent", asked)).await;
        assert_eq!(answer.status, 201, "{answer:?}");
        let call = service.double.next().await;
        let trace = call.headers["traceparent"].to_str().expect("text");
        assert_eq!(trace.contains("4bf92f3577b34da6a3ce929d0e0e4736"), kept, "{trace}");
    }
}
