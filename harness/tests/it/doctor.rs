//! `onejob doctor`: what works is said to, and what doesn't is shown with the exchange that was misread.

use std::{sync::Arc, time::Duration};

use axum::{
    Json, Router,
    http::{HeaderMap, StatusCode},
    response::{Html, IntoResponse as _, Response},
    routing::{get, post},
};
use serde_json::{Value, json};

use crate::support::{Onejob, Outcome, onejob};

const TOKEN: &str = "a-token-that-nobody-may-see";

/// A target file for a service at this address.
fn file(base: &str) -> String {
    format!(
        r#"
        [target]
        name = "shop"
        base = ["{base}"]
        answer_within = "2s"
        [target.submit]
        request = "POST /orders"
        headers = {{ idempotency-key = "{{key}}" }}
        json = {{ input = "{{payload}}" }}
        reads = {{ job = "/id", state = "/state" }}
        [target.read]
        request = "GET /orders/{{job}}"
        reads = {{ job = "/id", state = "/state" }}
        [target.states]
        succeeded = ["done"]
        [[owner]]
        name = "alice"
        token = "{TOKEN}"
        headers = {{ authorization = "Bearer {{token}}" }}
        "#
    )
}

/// Serves until the test's process ends.
fn serve(router: Router) -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.set_nonblocking(true).expect("a socket");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener).expect("a listener");
            axum::serve(listener, router).await
        })
    });
    format!("http://{address}")
}

/// A service whose answers to a submit are these.
fn answering(answer: impl Fn(HeaderMap) -> Response + Clone + Send + Sync + 'static) -> String {
    let order = || async { Json(json!({ "id": "o-1", "state": "done" })) };
    // Read to its end: who answers by the head alone can't be made to wait for the last byte.
    let submit = move |headers: HeaderMap, _: axum::body::Bytes| {
        let answer = answer(headers);
        async move { answer }
    };
    serve(Router::new().route("/orders", post(submit)).route("/orders/{id}", get(order)))
}

fn created(order: Value) -> Response {
    (StatusCode::CREATED, Json(order)).into_response()
}

fn doctor(file: &str) -> Onejob {
    onejob(["doctor"]).file("onejob.toml", file)
}

fn finding<'j>(report: &'j Value, step: &str) -> &'j Value {
    let all = report["findings"].as_array().expect("findings");
    all.iter().find(|finding| finding["step"] == step).unwrap_or_else(|| panic!("no `{step}` in {report:#}"))
}

fn as_json(file: &str) -> (Outcome, Value) {
    let outcome = onejob(["doctor", "--format", "json"]).file("onejob.toml", file).run();
    let report = serde_json::from_str(&outcome.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}\n{}", outcome.stdout, outcome.stderr));
    (outcome, report)
}

#[test]
fn on_the_reference_service_everything_that_is_mapped_works() {
    let reference = onejob(["target", "--print", "reference"]).run().stdout;
    let outcome = onejob(["doctor", "--format", "json", "--postgres", "local"])
        .file("onejob.toml", &reference)
        .run()
        .exits(0);
    let report: Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    for finding in report["findings"].as_array().expect("findings") {
        assert_eq!(finding["standing"], "works", "{finding:#}");
    }
    for step in [
        "start",
        "submit",
        "read",
        "provider",
        "repeat",
        "other payload",
        "owners",
        "database",
        "cancel",
        "attempts",
        "resolve",
        "callbacks",
        "batch",
        "schedule",
        "race",
        "replicas",
        "profile",
    ] {
        finding(&report, step);
    }
    assert_eq!(report["coverage"]["run"], report["coverage"]["of"]);
    assert_eq!(report["coverage"]["costs"], json!([]));
}

#[test]
fn a_plain_service_is_told_what_it_lacks_and_what_that_costs() {
    let base = answering(|headers| {
        if headers.contains_key("idempotency-key") {
            created(json!({ "id": "o-1", "state": "done" }))
        } else {
            StatusCode::BAD_REQUEST.into_response()
        }
    });
    let (outcome, report) = as_json(&file(&base));
    outcome.exits(0);
    assert_eq!(finding(&report, "read")["standing"], "works");
    assert_eq!(finding(&report, "no key")["standing"], "works");
    assert_eq!(finding(&report, "cancel")["standing"], "missing");
    // Another payload gets the old order: told, and not judged.
    assert_eq!(finding(&report, "other payload")["standing"], "differs");
    assert_eq!(finding(&report, "credentials")["standing"], "differs");
    let coverage = &report["coverage"];
    assert!(coverage["run"].as_u64() < coverage["of"].as_u64(), "{coverage}");
    let cancel =
        coverage["costs"].as_array().expect("costs").iter().find(|cost| cost["capability"] == "cancel");
    let scenarios = cancel.expect("it costs something")["scenarios"].as_array().expect("names");
    let listed = onejob(["list", "--format", "json"]).run().stdout;
    let listed: Vec<Value> = serde_json::from_str(&listed).expect("JSON");
    let needs_cancel = |scenario: &&Value| {
        scenario["needs"].as_array().is_some_and(|needs| needs.contains(&json!("cancel")))
    };
    let expected: Vec<_> = listed.iter().filter(needs_cancel).map(|scenario| &scenario["id"]).collect();
    assert!(
        !expected.is_empty() && expected.iter().all(|id| scenarios.contains(id)),
        "{expected:?} in {scenarios:?}"
    );
    doctor(&file(&base))
        .run()
        .exits(0)
        .prints("works     submit")
        .prints("scenarios can run")
        .prints("cancel ");
}

#[test]
fn a_pointer_that_finds_nothing_is_shown_with_the_answer_and_the_one_that_was_meant() {
    let base = answering(|headers| {
        let echoed =
            headers.get("authorization").and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
        created(json!({ "order": { "id": "o-1" }, "state": "done", "you": echoed }))
    });
    let outcome = doctor(&file(&base)).run().exits(10);
    assert!(!outcome.stdout.contains(TOKEN), "{}", outcome.stdout);
    outcome
        .prints("broken    submit")
        .prints("OJ2022")
        .prints("job = \"/order/id\"")
        .prints("> POST /orders")
        .prints("> authorization: ***")
        .prints("< 201")
        .prints("\"you\":\"***\"");
}

#[test]
fn a_web_page_that_says_200_is_told_as_one() {
    let base = answering(|_| Html("<!doctype html><h1>Welcome</h1>").into_response());
    doctor(&file(&base)).run().exits(10).prints("OJ2020").prints("a web page").prints("<h1>Welcome</h1>");
}

#[test]
fn a_refusal_says_what_is_usually_wrong() {
    let base = answering(|_| StatusCode::UNAUTHORIZED.into_response());
    doctor(&file(&base))
        .run()
        .exits(12)
        .prints("it was answered 401")
        .prints("[[owner]]")
        .prints("nothing else was tried");
    let base = answering(|_| (StatusCode::INTERNAL_SERVER_ERROR, "boom at line 7").into_response());
    doctor(&file(&base)).run().exits(12).prints("the service broke").prints("boom at line 7");
}

#[test]
fn a_service_that_hangs_is_waited_for_as_long_as_the_file_says() {
    let hang = || async { tokio::time::sleep(Duration::from_mins(1)).await };
    let base = serve(Router::new().route("/orders", post(hang)));
    let began = std::time::Instant::now();
    doctor(&file(&base)).run().exits(12).prints("took longer than it may").prints("answer_within");
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
}

#[test]
fn a_word_that_the_file_does_not_know_is_told_with_the_line_to_add() {
    let base = serve(
        Router::new()
            .route("/orders", post(|| async { created(json!({ "id": "o-1", "state": "paid" })) }))
            .route("/orders/{id}", get(|| async { Json(json!({ "id": "o-1", "state": "paid" })) })),
    );
    doctor(&file(&base)).run().exits(10).prints("`paid`").prints("add \"paid\"");
}

#[test]
fn what_does_not_run_can_not_be_walked() {
    doctor(&file("http://127.0.0.1:9")).run().exits(10).prints("broken    start").prints("OJ4004");
    onejob(["doctor", "nowhere.toml"]).run().exits(2).tells("OJ2005");
}

#[test]
fn a_service_that_ends_at_its_start_shows_its_last_words() {
    let command = "base = [\"http://127.0.0.1:{port}\"]\n[target.command]\nstart = [\"sh\", \"-c\", \"echo no such module; exit 3\"]\n";
    let text =
        file("http://x").replace("base = [\"http://x\"]", command).replace("answer_within = \"2s\"", "");
    doctor(&text).run().exits(10).prints("OJ4002").prints("no such module");
}

#[test]
fn what_was_started_is_gone_afterwards() {
    let base = answering(|_| StatusCode::UNAUTHORIZED.into_response());
    // The service is another process, which would outlive a walk that broke off; it writes down which it is.
    let command = format!(
        "base = [\"{base}\"]\n[target.command]\nstart = [\"sh\", \"-c\", \"echo $$$$ > pid; exec sleep 300\"]\nfolder = \".\"\n"
    );
    let text =
        file("http://x").replace("base = [\"http://x\"]", &command).replace("answer_within = \"2s\"", "");
    let outcome = doctor(&text).run().exits(12);
    let pid: u32 = outcome.left("pid").trim().parse().expect("a process id");
    assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists(), "process {pid} is still there");
}

#[test]
fn two_jobs_for_one_key_are_told_and_left_to_the_suite_to_judge() {
    let count = Arc::new(std::sync::atomic::AtomicU32::new(0));
    let base = answering(move |_| {
        let number = count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        created(json!({ "id": format!("o-{number}"), "state": "done" }))
    });
    doctor(&file(&base)).run().exits(0).prints("differs   repeat").prints("made another job");
}

#[test]
fn commands_end_what_signals_do_not_reach() {
    let base = answering(|_| StatusCode::UNAUTHORIZED.into_response());
    let command = format!(
        "base = [\"{base}\"]\n[target.command]\nstart = [\"sleep\", \"300\"]\nenv = {{ WHO = \"me\" }}\n\
         stop = [\"sh\", \"-c\", \"echo $$WHO stopped >> log\"]\nkill = [\"sh\", \"-c\", \"echo killed >> log\"]\nfolder = \".\"\n"
    );
    let text =
        file("http://x").replace("base = [\"http://x\"]", &command).replace("answer_within = \"2s\"", "");
    let outcome = doctor(&text).run().exits(12);
    assert_eq!(outcome.left("log"), "killed\nme stopped\n");
}

#[test]
fn an_error_that_tells_the_token_is_told_and_does_not_tell_it_again() {
    let base = answering(|headers| {
        let sent =
            headers.get("authorization").and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
        (StatusCode::FORBIDDEN, format!("not allowed: {sent}")).into_response()
    });
    let outcome = doctor(&file(&base)).run().exits(12).prints("differs   secrets").prints("status 403");
    assert!(!outcome.stdout.contains(TOKEN), "{}", outcome.stdout);
}
