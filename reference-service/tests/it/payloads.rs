use onejob_reference::Role;

use crate::support::{Answer, Service};

async fn send(service: &Service, key: &str, input: &str) -> Answer {
    let request = service
        .request(reqwest::Method::POST, "/v1/jobs", "alice-secret")
        .header("idempotency-key", key)
        .header("content-type", "application/json")
        .body(format!("{{\"kind\":\"charge\",\"input\":{input}}}"));
    service.send(request).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_is_json_in_utf_8_and_comes_as_it_is() {
    let service = Service::with(|config| config.role = Role::Api).await;
    for (number, (media_type, coding, status)) in [
        ("application/json", "identity", 201),
        ("application/json; charset=UTF-8", "identity", 201),
        ("application/json; charset=\"utf-8\"", "identity", 201),
        ("application/json; charset=utf-16", "identity", 415),
        ("application/json", "gzip", 415),
        ("text/plain", "identity", 415),
    ]
    .into_iter()
    .enumerate()
    {
        let request = service
            .request(reqwest::Method::POST, "/v1/jobs", "alice-secret")
            .header("idempotency-key", format!("k{number}"))
            .header("content-type", media_type)
            .header("content-encoding", coding)
            .body(r#"{"kind":"charge","input":1}"#);
        assert_eq!(service.send(request).await.status, status, "{media_type}, {coding}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn spellings_of_one_payload_are_one_intent() {
    let service = Service::with(|config| config.role = Role::Api).await;
    for (number, (first, second)) in [
        (r#"{"a":1,"b":2}"#, r#"{ "b" : 2, "a" : 1 }"#),
        ("1", "1.0"),
        ("1", "1e0"),
        ("0", "-0"),
        ("1.50", "1.5"),
        (r#""A""#, r#""\u0041""#),
        (r#"{"x":{"p":1,"q":[2]}}"#, r#"{"x":{"q":[2.0],"p":1}}"#),
    ]
    .into_iter()
    .enumerate()
    {
        let key = format!("k{number}");
        assert_eq!(send(&service, &key, first).await.status, 201, "{first}");
        assert_eq!(send(&service, &key, second).await.status, 200, "{first} and {second}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn different_payloads_are_different_intents() {
    let service = Service::with(|config| config.role = Role::Api).await;
    for (number, (first, second)) in [
        ("[1,2]", "[2,1]"),
        (r#"{"a":null}"#, "{}"),
        ("1", r#""1""#),
        ("\"\u{e9}\"", "\"e\u{301}\""),
        ("9007199254740992", "9007199254740994"),
    ]
    .into_iter()
    .enumerate()
    {
        let key = format!("k{number}");
        assert_eq!(send(&service, &key, first).await.status, 201, "{first}");
        assert_eq!(send(&service, &key, second).await.status, 409, "{first} and {second}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_two_readers_understand_differently_is_refused_and_the_key_stays_free() {
    let service = Service::with(|config| config.role = Role::Api).await;
    for (input, problem) in [
        (r#"{"a":1,"a":2}"#, "duplicate-member"),
        (r#""\ud800""#, "lone-surrogate"),
        ("9007199254740993", "number-loses-precision"),
        ("1e999", "number-loses-precision"),
    ] {
        let answer = send(&service, "k", input).await;
        assert_eq!((answer.status, answer.problem()), (400, problem), "{input}");
    }
    assert_eq!(send(&service, "k", "1").await.status, 201);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_input_reaches_the_provider_unchanged() {
    let service = Service::start().await;
    let input = r#"{"z":[1,2.5,-3e-7,null,true],"a":"\u00e9\ud83d\ude00\u0000","n":9007199254740992}"#;
    let made = send(&service, "k", input).await;
    assert_eq!(made.status, 201, "{made:?}");
    let expected: serde_json::Value = serde_json::from_str(input).expect("JSON");
    assert_eq!(service.double.next().await.body["input"], expected);
    assert_eq!(service.read(&made.id()).await["input"], expected);
}
