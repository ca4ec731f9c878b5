//! An attempt of a job, in every dialect, against its double: what it comes to decides whether the work may be done again.

use std::time::Duration;

use onejob_contracts::attempt::{Asker, Outcome, Work};
use onejob_contracts::dialect::{Catalogue, Dialect, ErrorClass, Framing};
use onejob_contracts::provider::Provider;
use serde_json::{Value, json};

use crate::dialects::{encoded, workspace};
use crate::support::{Act, Double, INVOICE, Workspace};
use crate::wire::Wire;

const PATIENCE: Duration = Duration::from_secs(20);

fn dialects() -> Vec<Dialect> {
    Catalogue::embedded().unwrap().iter().filter(|dialect| dialect.name != "plain").cloned().collect()
}

fn streaming() -> impl Iterator<Item = Dialect> {
    dialects().into_iter().filter(|dialect| {
        let shape = dialect.stream.as_ref();
        shape.is_some_and(|shape| cfg!(feature = "bedrock") || shape.framing != Framing::AwsEventStream)
    })
}

/// Asks a double once. Signatures need keys that a test has none of, and are tested by themselves.
async fn ask(dialect: &Dialect, double: &Double, stream: bool, patience: Duration) -> Outcome {
    let workspace = workspace(dialect, &double.url, stream);
    let (provider, _) = workspace.provider("fallback");
    ask_as(&workspace, provider, dialect, patience).await
}

async fn ask_as(workspace: &Workspace, provider: Provider, dialect: &Dialect, patience: Duration) -> Outcome {
    let mut dialect = dialect.clone();
    dialect.request.sign = None;
    let asker = Asker::new(workspace.contract().unwrap(), provider, dialect.into()).unwrap();
    let input = json!({ "text": "ACME asks for 12.50 EUR" });
    let headers = [("traceparent", "00-1-2-01".to_owned())];
    asker.ask(Work { input: &input, reference: "job-1", headers: &headers }, patience).await
}

async fn answered(dialect: &Dialect, act: Act, stream: bool) -> Outcome {
    ask(dialect, &Double::start(vec![act]).await, stream, PATIENCE).await
}

async fn whole(dialect: &Dialect, status: u16, headers: &[(&str, &str)], body: &str) -> Outcome {
    let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let act = Act::Answer { status, headers: headers.collect(), body: body.as_bytes().to_vec() };
    answered(dialect, act, false).await
}

fn code(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Unusable { verdict, .. } | Outcome::Withheld { verdict, .. } => verdict.to_string(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_finished_answer_is_the_jobs_output_whole_or_streamed() {
    let wanted: Value = serde_json::from_str(INVOICE).unwrap();
    for dialect in dialects() {
        let body = Wire::load(&dialect.name).success(INVOICE);
        let outcome = whole(&dialect, 200, &[], &body).await;
        assert!(
            matches!(&outcome, Outcome::Output { output, .. } if *output == wanted),
            "{}: {outcome:?}",
            dialect.name
        );
    }
    for dialect in streaming() {
        let body = encoded(&dialect, &Wire::load(&dialect.name).streamed(INVOICE));
        let outcome = answered(&dialect, Act::Answer { status: 200, headers: Vec::new(), body }, true).await;
        assert!(
            matches!(&outcome, Outcome::Output { output, .. } if *output == wanted),
            "{}: {outcome:?}",
            dialect.name
        );
    }
}

#[tokio::test]
async fn work_that_was_done_and_is_no_use_is_told_from_work_that_was_not_done() {
    for dialect in dialects() {
        let (name, wire) = (&dialect.name, Wire::load(&dialect.name));
        if let Some(body) = &wire.truncated {
            assert_eq!(code(&whole(&dialect, 200, &[], body).await), "FAIL(truncated)", "{name}");
        }
        if let Some(body) = &wire.refusal {
            assert_eq!(code(&whole(&dialect, 200, &[], body).await), "REFUSED", "{name}");
        }
        if let Some(body) = wire.tool_call(INVOICE) {
            assert_eq!(code(&whole(&dialect, 200, &[], &body).await), "FAIL(tool_unexpected)", "{name}");
        }
        let wrong = wire.success(&INVOICE.replace("1250", "\"12.50 EUR\""));
        assert_eq!(code(&whole(&dialect, 200, &[], &wrong).await), "FAIL(schema:type)", "{name}");
        if let Some(body) = &wire.in_band {
            let outcome = whole(&dialect, 200, &[], body).await;
            assert!(matches!(outcome, Outcome::Unknown(_)), "{name}: {outcome:?}");
        }
        if let Some(body) = &wire.blocked {
            let outcome = whole(&dialect, 200, &[], body).await;
            let blocked =
                matches!(&outcome, Outcome::Failed(told) if told.class == ErrorClass::FilteredPrompt);
            assert!(blocked, "{name}: {outcome:?}");
        }
    }
}

#[tokio::test]
async fn what_the_provider_says_of_itself_decides_over_a_retry() {
    for dialect in dialects() {
        let (name, wire) = (&dialect.name, Wire::load(&dialect.name));
        for (error, limit) in [(wire.error.unwrap(), false), (wire.rate_limit.unwrap(), true)] {
            let headers: Vec<(&str, &str)> =
                error.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            let outcome = whole(&dialect, error.status, &headers, &error.body).await;
            if error.class == "rejected_output" {
                assert_eq!(code(&outcome), "FAIL(provider_rejected_output)", "{name}");
                continue;
            }
            let Outcome::Failed(told) = outcome else { panic!("{name}: {outcome:?}") };
            assert_eq!((told.class.as_str(), told.retry), (error.class.as_str(), limit), "{name}: {told:?}");
            let wait = told.retry_after.map_or(0, |wait| u64::try_from(wait.as_millis()).unwrap());
            assert_eq!(wait, if limit { error.wait_ms } else { wait }, "{name}");
        }
        for status in [408, 499, 500, 502, 504] {
            let outcome = whole(&dialect, status, &[], "<html>no</html>").await;
            assert!(matches!(outcome, Outcome::Unknown(_)), "{name} {status}: {outcome:?}");
        }
        let outcome = whole(&dialect, 409, &[], "{}").await;
        assert!(matches!(outcome, Outcome::Duplicate(_)), "{name}: {outcome:?}");
        // A proxy's page says nothing of what is behind it; a wish to be asked again does.
        let outcome = whole(&dialect, 503, &[], "<html>no</html>").await;
        assert!(matches!(outcome, Outcome::Unknown(_)), "{name}: {outcome:?}");
        if dialect.retry.headers.iter().any(|header| header == "retry-after") {
            let outcome = whole(&dialect, 503, &[("retry-after", "3")], "<html>no</html>").await;
            assert!(matches!(&outcome, Outcome::Failed(told) if told.retry), "{name}: {outcome:?}");
        }
    }
}

#[tokio::test]
async fn an_answer_that_does_not_end_leaves_the_outcome_open() {
    for dialect in dialects() {
        let name = &dialect.name;
        let success = Wire::load(name).success(INVOICE);
        let (half, _) = success.split_at(success.len() / 2);
        for act in [
            Act::Close,
            Act::HalfStream(vec![half.as_bytes().to_vec()]),
            Act::Answer { status: 200, headers: Vec::new(), body: half.as_bytes().to_vec() },
            Act::Answer { status: 200, headers: Vec::new(), body: b"<html>ok</html>".to_vec() },
        ] {
            let outcome = answered(&dialect, act, false).await;
            assert!(matches!(outcome, Outcome::Unknown(_)), "{name}: {outcome:?}");
        }
        for act in [Act::Hold, Act::StallAfter(vec![half.as_bytes().to_vec()])] {
            let double = Double::start(vec![act]).await;
            let outcome = ask(&dialect, &double, false, Duration::from_millis(200)).await;
            assert!(matches!(outcome, Outcome::Unknown(_)), "{name}: {outcome:?}");
            assert_eq!(double.received(), 1, "{name}: sent once");
        }
    }
    for dialect in streaming() {
        let half = encoded(&dialect, &Wire::load(&dialect.name).broken(INVOICE));
        for act in [
            Act::HalfStream(vec![half.clone()]),
            Act::Answer { status: 200, headers: Vec::new(), body: half },
        ] {
            let outcome = answered(&dialect, act, true).await;
            assert!(matches!(outcome, Outcome::Unknown(_)), "{}: {outcome:?}", dialect.name);
        }
    }
}

#[tokio::test]
async fn a_refused_connection_is_known_to_have_sent_nothing() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    for dialect in dialects() {
        let workspace = workspace(&dialect, &format!("http://127.0.0.1:{port}"), false);
        let (provider, _) = workspace.provider("fallback");
        let outcome = ask_as(&workspace, provider, &dialect, PATIENCE).await;
        assert!(matches!(outcome, Outcome::NeverSent(_)), "{}: {outcome:?}", dialect.name);
    }
}

#[tokio::test]
async fn an_input_that_does_not_fit_is_not_sent() {
    let dialect = Catalogue::embedded().unwrap().get("openai-chat").unwrap();
    let double = Double::start(vec![Act::Close]).await;
    let workspace = workspace(&dialect, &double.url, false);
    let (mut provider, _) = workspace.provider("fallback");
    // What the contract's own case needs, and no more.
    provider.window = Some(400);
    let asker = Asker::new(workspace.contract().unwrap(), provider, (*dialect).clone().into()).unwrap();
    let long = json!({ "text": "and ".repeat(2000) });
    let work = |input| Work { input, reference: "job-1", headers: &[] };
    assert_eq!(code(&asker.ask(work(&long), PATIENCE).await), "BLOCK(over_budget_on_fallback)");
    // A prompt that names what the input lacks.
    assert_eq!(code(&asker.ask(work(&json!({})), PATIENCE).await), "BLOCK(prompt)");
    assert_eq!(double.received(), 0);
}
