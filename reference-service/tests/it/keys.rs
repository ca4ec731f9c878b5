use onejob_reference::Role;
use serde_json::json;

use crate::support::{Service, input};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bad_keys_are_told_apart() {
    let service = Service::with(|config| config.role = Role::Api).await;
    let long = "k".repeat(256);
    for (key, problem) in [
        ("", "idempotency-key-empty"),
        ("\"\"", "idempotency-key-empty"),
        ("a b", "idempotency-key-malformed"),
        ("\"open", "idempotency-key-malformed"),
        ("sch\u{fc}ssel", "idempotency-key-malformed"),
        (long.as_str(), "idempotency-key-too-long"),
    ] {
        let answer = service.submit(key, &input(1)).await;
        assert_eq!((answer.status, answer.problem()), (400, problem), "{key}");
    }
    let none = service.request(reqwest::Method::POST, "/v1/jobs", "alice-secret").json(&input(1));
    assert_eq!(service.send(none).await.problem(), "idempotency-key-missing");
    let twice = service.submission("k", &input(1)).header("idempotency-key", "k");
    assert_eq!(service.send(twice).await.problem(), "idempotency-key-repeated");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn quoted_and_bare_are_one_key_and_case_matters() {
    let service = Service::with(|config| config.role = Role::Api).await;
    let bare = service.job("key").await;
    let quoted = service.submit("\"key\"", &input(1)).await;
    assert_eq!((quoted.status, quoted.id()), (200, bare.clone()));
    assert_ne!(service.job("KEY").await, bare);
    assert_eq!(service.submit(&"k".repeat(255), &input(1)).await.status, 201);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refused_request_does_not_consume_its_key() {
    let service = Service::with(|config| config.role = Role::Api).await;
    for (body, problem) in [
        (r#"{"kind":"charge"}"#.to_owned(), "invalid-body"),
        (r#"{"kind":"","input":1}"#.to_owned(), "invalid-body"),
        (r#"{"kind":"charge","input":1,"owner":"bob"}"#.to_owned(), "invalid-body"),
        (r#"{"kind":"charge","input":1,"providers":["nobody"]}"#.to_owned(), "invalid-body"),
        (r#"{"kind":"charge","input":1,"providers":[]}"#.to_owned(), "invalid-body"),
        (r#"{"kind":"charge","input":1,"mode":"both"}"#.to_owned(), "invalid-body"),
        (r#"{"kind":"charge","input":1,"run_at":"soon"}"#.to_owned(), "invalid-body"),
        ("[]".to_owned(), "invalid-body"),
        ("{".to_owned(), "invalid-json"),
        (String::new(), "invalid-json"),
        (format!("{{\"kind\":\"charge\",\"input\":\"{}\"}}", "x".repeat(300 * 1024)), "body-too-large"),
        (format!("{{\"kind\":\"charge\",\"input\":{}1{}}}", "[".repeat(80), "]".repeat(80)), "json-too-deep"),
    ] {
        let request = service
            .request(reqwest::Method::POST, "/v1/jobs", "alice-secret")
            .header("idempotency-key", "k")
            .header("content-type", "application/json")
            .body(body.clone());
        let answer = service.send(request).await;
        assert_eq!(answer.problem(), problem, "{body}");
        assert!((400..500).contains(&answer.status), "{answer:?}");
    }
    let html = service
        .request(reqwest::Method::POST, "/v1/jobs", "alice-secret")
        .header("idempotency-key", "k")
        .header("content-type", "text/html")
        .body(input(1).to_string());
    assert_eq!(service.send(html).await.problem(), "unsupported-media-type");
    let stranger = service
        .request(reqwest::Method::POST, "/v1/jobs", "no-such-token")
        .header("idempotency-key", "k")
        .json(&input(1));
    let answer = service.send(stranger).await;
    assert_eq!((answer.status, answer.problem()), (401, "unauthenticated"));
    assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
    assert_eq!(service.submit("k", &input(1)).await.status, 201, "the key was consumed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_query_is_part_of_the_intent() {
    let service = Service::with(|config| config.role = Role::Api).await;
    let to = |path: &str| {
        service
            .request(reqwest::Method::POST, path, "alice-secret")
            .header("idempotency-key", "k")
            .json(&input(1))
    };
    assert_eq!(service.send(to("/v1/jobs?a=1&b=2")).await.status, 201);
    assert_eq!(service.send(to("/v1/jobs?b=2&a=1")).await.status, 200);
    assert_eq!(service.send(to("/v1/jobs?a=2")).await.status, 409);
    assert_eq!(service.send(to("/v1/jobs")).await.status, 409);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_hangs_up_leaves_no_half_done_request() {
    use tokio::io::AsyncWriteExt as _;

    let service = Service::with(|config| config.role = Role::Api).await;
    let body = input(1).to_string();
    let text = format!(
        "POST /v1/jobs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer alice-secret\r\nIdempotency-Key: KEY\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    for cut in (0..=text.len()).step_by(9).chain([text.len()]) {
        let key = format!("k{cut:03}");
        let mut stream = tokio::net::TcpStream::connect(service.address).await.expect("a connection");
        // The key has four letters, so the length stays right with one more.
        let text = text.replace("KEY", &key);
        stream.write_all(&text.as_bytes()[..cut.min(text.len())]).await.expect("bytes leave");
        drop(stream);
        let retried = service.submit(&key, &input(1)).await;
        assert!(matches!(retried.status, 200 | 201), "cut at {cut}: {retried:?}");
        let found = service.get(&format!("/v1/jobs?idempotency_key={key}")).await;
        assert_eq!(found.body["jobs"].as_array().map(Vec::len), Some(1));
        assert_eq!(found.body["jobs"][0]["input"], json!({ "amount": 1 }));
    }
}
