//! What is looked at before samples are paid for.

use std::sync::Arc;

use onejob_contracts::run::{CheckOptions, CheckReport, Silent, check};

use crate::support::{INVOICE, Run, Script, Scripted, Workspace};
use crate::wire::Wire;

fn whole() -> Scripted {
    Scripted { body: Some(Wire::load("openai-chat").success(INVOICE)), ..Scripted::default() }
}

fn body(text: &str) -> Scripted {
    Scripted { body: Some(text.to_owned()), ..Scripted::default() }
}

async fn run(contract: &str, provider: &str, answers: Vec<Scripted>) -> (CheckReport, usize) {
    let workspace = Workspace::new(&contract.parse().unwrap(), &provider.parse().unwrap());
    let contract = workspace.contract().unwrap();
    let (provider, dialect) = workspace.provider("fallback");
    let script = Arc::new(Script::new(Run::answering(answers).script(&|content| content.to_owned())));
    let report =
        check(&contract, &provider, &dialect, Arc::clone(&script) as _, CheckOptions::default(), &Silent)
            .await;
    (report.unwrap(), script.sends())
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_reports_less_than_the_whole_answer_is_found() {
    let stream = Wire::load("openai-chat").streamed(INVOICE);
    let contract = "[canary]\nstreaming = true";
    let (report, sends) = run(contract, "", vec![whole(), body(&stream), whole()]).await;
    assert_eq!((report.verdict.to_string().as_str(), sends), ("PASS", 6), "{}", report.reason);
    let silent = stream.replace("\"usage\"", "\"unused\"");
    let (report, sends) = run(contract, "", vec![whole(), body(&silent), whole()]).await;
    assert_eq!((report.verdict.to_string().as_str(), sends), ("FAIL(streaming_parity)", 2));
    assert!(report.reason.contains("usage not told"), "{}", report.reason);
}

#[tokio::test(start_paused = true)]
async fn a_deliberate_mistake_must_come_back_in_the_dialects_error_shape() {
    let error = |status, text: &str| Scripted { status: Some(status), ..body(text) };
    let shaped = r#"{"error":{"message":"messages is required","type":"invalid_request_error","code":null}}"#;
    let cases = [
        (error(400, shaped), "PASS"),
        (error(400, "<html>Bad Request</html>"), "FAIL(error_shape)"),
        (whole(), "FAIL(error_shape)"),
    ];
    for (answer, verdict) in cases {
        let (report, _) = run("[canary]\nmistake = true", "", vec![whole(), answer, whole()]).await;
        assert_eq!(report.verdict.to_string(), verdict, "{}", report.reason);
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_was_cut_off_must_be_told_to_be() {
    let cut = body(Wire::load("openai-chat").truncated.as_ref().unwrap());
    let contract = "[canary]\ntruncation = true";
    let (report, _) = run(contract, "", vec![whole(), cut, whole()]).await;
    assert_eq!(report.verdict.to_string(), "PASS", "{}", report.reason);
    let (report, _) = run(contract, "", vec![whole(), whole(), whole()]).await;
    assert_eq!(report.verdict.to_string(), "FAIL(truncation_untold)", "{}", report.reason);
}

#[tokio::test(start_paused = true)]
async fn the_first_and_the_last_word_of_a_full_window_must_come_back() {
    let said = |text: &str, tokens: u32| {
        let answer = Wire::load("openai-chat").success(text);
        body(&answer.replace("\"prompt_tokens\": 40", &format!("\"prompt_tokens\": {tokens}")))
    };
    let cases = [
        (said("heliotrope, zanzibar", 3_000), "PASS"),
        (said("zanzibar", 3_000), "FAIL(prompt_truncated)"),
        (said("heliotrope, zanzibar", 600), "FAIL(prompt_truncated)"),
        (
            Scripted {
                status: Some(400),
                ..body(r#"{"error":{"message":"maximum context length is 2048"}}"#)
            },
            "FAIL(window_smaller_than_declared)",
        ),
    ];
    for (answer, verdict) in cases {
        let (report, _) =
            run("[canary]\nwindow = true", "window = 4096", vec![whole(), answer, whole()]).await;
        assert_eq!(report.verdict.to_string(), verdict, "{}", report.reason);
    }
}

#[tokio::test(start_paused = true)]
async fn a_budget_in_tokens_needs_a_provider_that_reports_them() {
    let silent = body(&Wire::load("openai-chat").success(INVOICE).replace("\"usage\"", "\"unused\""));
    let (report, sends) = run("[budget]\ntokens = 100000", "", vec![silent.clone()]).await;
    assert_eq!((report.verdict.to_string().as_str(), sends), ("FAIL(usage_missing)", 1));
    let (report, _) = run("[budget]\ncalls = 100", "", vec![silent]).await;
    assert_eq!(report.verdict.to_string(), "PASS");
}

#[tokio::test(start_paused = true)]
async fn a_failed_canary_is_no_reason_to_stop_unless_it_is_certain_to_come_again() {
    let (report, sends) = run("", "", vec![body(&Wire::load("openai-chat").success("prose")), whole()]).await;
    assert_eq!((report.verdict.to_string().as_str(), sends), ("PASS", 5));
    let unknown = Wire::load("openai-chat").success(INVOICE).replace("\"stop\"", "\"eos\"");
    let (report, sends) = run("", "", vec![body(&unknown)]).await;
    assert_eq!((report.verdict.to_string().as_str(), sends), ("FAIL(finish_unknown:eos)", 1));
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_says_not_to_retry_is_believed() {
    let busy = |told: &str| Scripted {
        status: Some(503),
        headers: [("x-should-retry".to_owned(), told.to_owned())].into(),
        ..body(r#"{"error":{"message":"busy"}}"#)
    };
    let (report, sends) = run("", "", vec![busy("false")]).await;
    assert_eq!((report.verdict.to_string().as_str(), sends), ("INCONCLUSIVE(infrastructure:overloaded)", 1));
    let (_, sends) = run("", "", vec![busy("true")]).await;
    assert_eq!(sends, 3);
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_is_too_long_ends_the_run_instead_of_hanging() {
    let busy = Scripted {
        status: Some(429),
        headers: [("retry-after".to_owned(), "86400".to_owned())].into(),
        ..body(r#"{"error":{"message":"come back tomorrow"}}"#)
    };
    let (report, sends) = run("", "", vec![busy]).await;
    assert_eq!((report.verdict.to_string().as_str(), sends), ("INCONCLUSIVE(infrastructure:throttled)", 1));
}

#[tokio::test]
async fn a_key_that_the_provider_repeats_does_not_reach_the_report() {
    let key = "sk-key-that-nobody-may-see";
    let answer =
        format!(r#"{{"error":{{"message":"Incorrect API key provided: {key}","code":"invalid_api_key"}}}}"#);
    let double = crate::support::Double::start(vec![crate::support::Act::json(401, &answer)]).await;
    let provider = format!("base_url = \"{}\"\nkey_env = \"UNUSED\"", double.url);
    let workspace = Workspace::new(&toml::Table::new(), &provider.parse().unwrap());
    let contract = workspace.contract().unwrap();
    let (provider, dialect) = workspace.provider("fallback");
    let http = Arc::new(onejob_contracts::transport::Http::new(Some(key.to_owned())).unwrap());
    let report = check(&contract, &provider, &dialect, http, CheckOptions::default(), &Silent).await.unwrap();
    assert_eq!(report.verdict.to_string(), "FAIL(auth)");
    let text = serde_json::to_string(&report).unwrap();
    assert!(text.contains("[redacted]") && !text.contains(key), "{text}");
}
