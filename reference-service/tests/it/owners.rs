use onejob_reference::Role;
use reqwest::Method;
use serde_json::json;

use crate::support::{Service, input};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn owners_never_meet_on_any_route() {
    let service = Service::with(|config| config.role = Role::Api).await;
    let id = service.job("k").await;
    let theirs = service
        .request(Method::POST, "/v1/jobs", "bob-secret")
        .header("idempotency-key", "k")
        .json(&input(2));
    let theirs = service.send(theirs).await;
    assert_eq!(theirs.status, 201, "the same key of another owner is another job: {theirs:?}");
    assert_ne!(theirs.id(), id);

    let resolution = json!({ "outcome": "failed", "evidence": "none" });
    for (method, path, body) in [
        (Method::GET, format!("/v1/jobs/{id}"), None),
        (Method::GET, format!("/v1/jobs/{id}/events"), None),
        (Method::GET, format!("/v1/jobs/{id}/reports"), None),
        (Method::POST, format!("/v1/jobs/{id}/cancel"), None),
        (Method::POST, format!("/v1/jobs/{id}/attempts"), None),
        (Method::POST, format!("/v1/jobs/{id}/attempts/1/cancel"), None),
        (Method::POST, format!("/v1/jobs/{id}/attempts/1/resolve"), Some(resolution)),
    ] {
        let mut request = service.request(method, &path, "bob-operator").header("if-match", "*");
        if let Some(body) = body {
            request = request.json(&body);
        }
        let answer = service.send(request).await;
        assert_eq!((answer.status, answer.problem()), (404, "job-not-found"), "{path}");
        assert!(!answer.body.to_string().contains("amount"), "{path}: {answer:?}");
    }
    let listed = service.send(service.request(Method::GET, "/v1/jobs", "bob-secret")).await;
    assert_eq!(listed.body["jobs"].as_array().map(Vec::len), Some(1));
    assert_eq!(listed.body["jobs"][0]["id"], theirs.id());
    assert_eq!(service.read(&id).await["state"], "queued", "the first job changed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_user_does_not_decide_over_attempts() {
    let service = Service::with(|config| config.role = Role::Api).await;
    let id = service.job("k").await;
    for action in ["cancel", "resolve"] {
        let path = format!("/v1/jobs/{id}/attempts/1/{action}");
        let answer = service.send(service.request(Method::POST, &path, "alice-secret")).await;
        assert_eq!((answer.status, answer.problem()), (403, "operator-only"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tokens_are_stored_as_digests_only() {
    use sqlx::Connection as _;

    let service = Service::with(|config| config.role = Role::Api).await;
    let mut connection =
        sqlx::PgConnection::connect(&service.config.database_url).await.expect("a connection");
    let rows: Vec<String> =
        sqlx::query_scalar("SELECT t::text || encode(digest, 'escape') FROM api_tokens t")
            .fetch_all(&mut connection)
            .await
            .expect("tokens");
    assert_eq!(rows.len(), 4);
    assert!(rows.iter().all(|row| !row.contains("secret") && !row.contains("alice-operator")), "{rows:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_hold_every_job_once() {
    let service = Service::with(|config| config.role = Role::Api).await;
    let mut made = Vec::new();
    for number in 0..7 {
        made.push(service.job(&format!("k{number}")).await);
    }
    made.reverse();
    let (mut seen, mut path) = (Vec::new(), "/v1/jobs?limit=3".to_owned());
    loop {
        let page = service.get(&path).await;
        let jobs = page.body["jobs"].as_array().expect("jobs").clone();
        seen.extend(jobs.iter().map(|job| job["id"].as_str().expect("an id").to_owned()));
        match page.body["next"].as_str() {
            Some(next) => path = format!("/v1/jobs?limit=3&cursor={next}"),
            None => break,
        }
    }
    assert_eq!(seen, made);
    for bad in ["limit=0", "limit=x", "cursor=1", "state=happy", "unknown=1"] {
        assert_eq!(service.get(&format!("/v1/jobs?{bad}")).await.problem(), "invalid-query", "{bad}");
    }
}
