//! Calls that ask about the provider itself.

use std::time::Duration;

use serde_json::{Value, json};

use super::sample::Caller;
use crate::answer::{read_answer, read_error};
use crate::dialect::FinishClass;
use crate::prompt::Message;
use crate::provider::{Ask, StaticReport, build};
use crate::transport::{CallId, Exchange, Received, RunId};
use crate::verdict::{Finding, Stage, Verdict};

fn at(verdict: Verdict, message: String, place: &str) -> Finding {
    Finding { verdict, stage: Stage::Canary, message, place: Some(place.to_owned()) }
}

async fn send(caller: &Caller<'_>, sample: &str, request: &crate::provider::Outgoing) -> Option<Received> {
    caller.pace.ready().await;
    let held = caller.ledger.reserve(None).await.ok()?;
    let id = CallId {
        provider: caller.provider.name.clone(),
        case: "probe".into(),
        sample: sample.to_owned(),
        attempt: 0,
    };
    let deadline = Duration::from_millis(caller.contract.spec.latency.deadline_ms);
    match caller.transport.send(&id, request, deadline).await {
        Exchange::Answered(received) => {
            let body: Value = serde_json::from_slice(&received.body).unwrap_or_default();
            held.home(&read_answer(caller.dialect, &body).usage);
            Some(received)
        }
        Exchange::NeverSent(_) | Exchange::Broken(_) => {
            held.free();
            None
        }
        Exchange::Unknown(_) => None,
    }
}

/// A request that is wrong on purpose must be answered with a 4xx in the dialect's error shape.
pub(super) async fn mistake(caller: &Caller<'_>, report: &StaticReport) -> Option<Finding> {
    let mut request = report.request.clone()?;
    request.body = json!({ "onejob": "a deliberate mistake" });
    // It is not the first case's sample, and must not be taken for it.
    let first = caller.contract.cases.first().map(|case| RunId::RECORDED.reference(&case.name, "0"));
    for (_, value) in &mut request.headers {
        if first.as_ref() == Some(value) {
            *value = caller.run.reference("probe", "mistake");
        }
    }
    let received = send(caller, "mistake", &request).await?;
    let error = read_error(caller.dialect, received.status, &received.headers, &received.body);
    let problem = if (200..300).contains(&received.status) {
        format!("a request without a prompt was answered with status {}", received.status)
    } else if !error.in_shape {
        format!("status {} came without the dialect's error shape: {}", error.status, error.message)
    } else {
        return None;
    };
    Some(at(Verdict::fail("error_shape"), problem, "deliberate mistake"))
}

/// An answer with room for two tokens must be told to be cut off: a consumer can't tell a short answer from half of one.
pub(super) async fn truncation(caller: &Caller<'_>, report: &StaticReport) -> Option<Finding> {
    let case = caller.contract.cases.first()?;
    let mut provider = caller.provider.clone();
    provider.parameters.retain(|name, _| name != "max_tokens");
    provider.parameters.insert("max_output_tokens".to_owned(), json!(2));
    let ask = Ask {
        contract: caller.contract.name(),
        schema: caller.contract.schema.as_ref(),
        messages: report.conversations.get(&case.name)?,
        input: &case.input,
        reference: &caller.run.reference(&case.name, "truncation"),
        stream: false,
    };
    let request = build(&provider, caller.dialect, &ask).ok()?;
    let received = send(caller, "truncation", &request).await?;
    if !(200..300).contains(&received.status) {
        // Some providers want a larger limit: that they say so is an answer too.
        return None;
    }
    let body: Value = serde_json::from_slice(&received.body).ok()?;
    let answer = read_answer(caller.dialect, &body);
    let finish = answer.finish.unwrap_or_default();
    if caller.dialect.finish.get(&finish) == Some(&FinishClass::Truncated) {
        return None;
    }
    let message = format!(
        "an answer with room for two tokens ends with `{finish}`: a cut answer would pass for a whole one"
    );
    Some(at(Verdict::fail("truncation_untold"), message, "truncation canary"))
}

/// A prompt that fills the window must arrive whole: its first and its last word come back.
pub(super) async fn window(caller: &Caller<'_>) -> Option<Finding> {
    let window = caller.provider.window?;
    let room = window.saturating_sub(caller.provider.max_output().unwrap_or(256));
    // Nine tenths of the room, at about one token a word: the point is what lies near the limit, not beyond it.
    let words = usize::try_from(room * 9 / 10).ok()?;
    let (head, tail) = ("heliotrope", "zanzibar");
    let filler = "and ".repeat(words.saturating_sub(60));
    let text = format!(
        "The first secret word is {head}. {filler}\nThe last secret word is {tail}. Answer with both secret words and nothing else."
    );
    let messages = [Message::new("user", text)];
    let ask = Ask {
        contract: caller.contract.name(),
        schema: None,
        messages: &messages,
        input: &Value::Null,
        reference: &caller.run.reference("probe", "window"),
        stream: false,
    };
    let request = build(caller.provider, caller.dialect, &ask).ok()?;
    let received = send(caller, "window", &request).await?;
    if !(200..300).contains(&received.status) {
        let error = read_error(caller.dialect, received.status, &received.headers, &received.body);
        let message = format!(
            "a prompt of about {words} tokens is rejected, and a window of {window} is declared: {}",
            error.message
        );
        return Some(at(Verdict::fail("window_smaller_than_declared"), message, "window canary"));
    }
    let body: Value = serde_json::from_slice(&received.body).ok()?;
    let answer = read_answer(caller.dialect, &body);
    if let Some(reported) = answer.usage.input
        && reported < room / 2
    {
        let message = format!(
            "about {words} prompt tokens were sent and {reported} were read: the provider cut the prompt"
        );
        return Some(at(Verdict::fail("prompt_truncated"), message, "window canary"));
    }
    let text = answer.text.unwrap_or_default().to_lowercase();
    let lost: Vec<&str> = [head, tail].into_iter().filter(|word| !text.contains(word)).collect();
    if lost.is_empty() {
        return None;
    }
    let message = format!("of a prompt that fills the window, {} did not come back", lost.join(" and "));
    Some(at(Verdict::fail("prompt_truncated"), message, "window canary"))
}
