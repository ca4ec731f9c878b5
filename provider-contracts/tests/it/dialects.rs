//! Every dialect against its double, over real sockets.

use std::sync::Arc;
use std::time::Duration;

use onejob_contracts::answer::{StreamEnd, read_answer, read_error};
use onejob_contracts::contract::{Case, Contract};
use onejob_contracts::dialect::{Catalogue, Dialect, Framing};
use onejob_contracts::prompt::Message;
use onejob_contracts::provider::{Ask, Outgoing, Provider, build};
use onejob_contracts::run::{CheckOptions, Silent, check};
use onejob_contracts::stream::assemble;
use onejob_contracts::transport::{CallId, Exchange, Http, Received, Transport, retry_after};
use serde_json::{Value, json};
use wiremock::matchers::method;
use wiremock::{Mock, MockServer, ResponseTemplate};

use crate::support::{Act, Double, INVOICE, Workspace};
use crate::wire::Wire;

fn dialects() -> Vec<Dialect> {
    Catalogue::embedded().unwrap().iter().cloned().collect()
}

/// A provider of `dialect` at `url` whose schema subset does not matter here.
pub(crate) fn workspace(dialect: &Dialect, url: &str, stream: bool) -> Workspace {
    let settings = "settings = { region = \"eu-central-1\", deployment = \"d\", api_version = \"v\" }";
    let structured = if dialect.structured.json_object.is_some() { "json_object" } else { "none" };
    let provider = format!(
        "dialect = \"{}\"\nbase_url = \"{url}\"\nstructured = \"{structured}\"\nstream = {stream}\n{settings}",
        dialect.name
    );
    Workspace::new(&toml::Table::new(), &provider.parse().unwrap())
}

fn outgoing(contract: &Contract, provider: &Provider, dialect: &Dialect) -> Outgoing {
    let case: &Case = &contract.cases[0];
    let messages = [
        Message::new("system", "Answer in JSON."),
        Message::new("user", "hi"),
        Message::new("assistant", "yes"),
        Message::new("user", "again"),
    ];
    let ask = Ask {
        contract: contract.name(),
        schema: contract.schema.as_ref(),
        messages: &messages,
        input: &case.input,
        reference: "acme-0",
        stream: provider.stream,
    };
    build(provider, dialect, &ask).unwrap()
}

async fn answered(url: &str, dialect: &Dialect) -> Received {
    let workspace = workspace(dialect, url, false);
    let (provider, dialect) = workspace.provider("fallback");
    let request = outgoing(&workspace.contract().unwrap(), &provider, &dialect);
    let http = Http::new(Some("key-of-the-test".into())).unwrap();
    let id = CallId { provider: "p".into(), case: "c".into(), sample: "0".into(), attempt: 0 };
    match http.send(&id, &request, Duration::from_secs(20)).await {
        Exchange::Answered(received) => received,
        other => panic!("{}: {other:?}", dialect.name),
    }
}

async fn serve(status: u16, headers: &[(String, String)], body: &str) -> MockServer {
    let server = MockServer::start().await;
    let mut response =
        ResponseTemplate::new(status).set_body_raw(body.as_bytes().to_vec(), "application/json");
    for (name, value) in headers {
        response = response.append_header(name.as_str(), value.as_str());
    }
    Mock::given(method("POST")).respond_with(response).mount(&server).await;
    server
}

async fn body_of(dialect: &Dialect, body: &str) -> onejob_contracts::answer::Answer {
    let server = serve(200, &[], body).await;
    let received = answered(&server.uri(), dialect).await;
    read_answer(dialect, &serde_json::from_slice::<Value>(&received.body).unwrap())
}

#[tokio::test]
async fn a_finished_answer_is_read_by_every_dialect() {
    for dialect in dialects() {
        let answer = body_of(&dialect, &Wire::load(&dialect.name).success(INVOICE)).await;
        let text = answer.text.unwrap_or_else(|| panic!("{}: no text", dialect.name));
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value, serde_json::from_str::<Value>(INVOICE).unwrap(), "{}", dialect.name);
        if dialect.name != "plain" {
            assert_eq!(answer.usage.sum(), Some(60), "{}", dialect.name);
            assert_eq!(dialect.finish[answer.finish.as_ref().unwrap()].as_str(), "ok", "{}", dialect.name);
        }
        assert!(answer.refusal.is_none() && answer.in_band_error.is_none(), "{}", dialect.name);
    }
}

#[tokio::test]
async fn truncation_refusal_and_filter_are_told_apart() {
    for dialect in dialects() {
        let wire = Wire::load(&dialect.name);
        if let Some(body) = &wire.truncated {
            let finish = body_of(&dialect, body).await.finish.unwrap();
            assert_eq!(dialect.finish[&finish].as_str(), "truncated", "{}", dialect.name);
        }
        if let Some(body) = &wire.refusal {
            assert!(body_of(&dialect, body).await.refusal.is_some(), "{}", dialect.name);
        }
        if let Some(body) = &wire.blocked {
            assert!(body_of(&dialect, body).await.blocked.is_some(), "{}", dialect.name);
        }
        if let Some(body) = &wire.in_band {
            let finish = body_of(&dialect, body).await.finish.unwrap();
            assert_eq!(dialect.finish[&finish].as_str(), "failed", "{}", dialect.name);
        }
    }
}

#[tokio::test]
async fn tool_calls_give_their_arguments_as_json_text() {
    for dialect in dialects() {
        let Some(body) = Wire::load(&dialect.name).tool_call(INVOICE) else { continue };
        let answer = body_of(&dialect, &body).await;
        assert_eq!(answer.tool_calls.len(), 1, "{}", dialect.name);
        let arguments: Value = serde_json::from_str(&answer.tool_calls[0]).unwrap();
        assert_eq!(arguments, serde_json::from_str::<Value>(INVOICE).unwrap(), "{}", dialect.name);
        let class = dialect.finish[answer.finish.as_ref().unwrap()].as_str();
        let expected = if dialect.answer.tool_calls_end_ok { "ok" } else { "tool" };
        assert_eq!(class, expected, "{}", dialect.name);
    }
}

#[tokio::test]
async fn errors_and_rate_limits_are_classed_and_the_wait_is_read() {
    for dialect in dialects() {
        let wire = Wire::load(&dialect.name);
        for (error, limit) in [(wire.error, false), (wire.rate_limit, true)] {
            let error = error.unwrap_or_else(|| panic!("{}: no error on file", dialect.name));
            let headers: Vec<(String, String)> = error.headers.clone().into_iter().collect();
            let server = serve(error.status, &headers, &error.body).await;
            let received = answered(&server.uri(), &dialect).await;
            let read = read_error(&dialect, received.status, &received.headers, &received.body);
            assert_eq!(read.class.as_str(), error.class, "{}: {}", dialect.name, read.message);
            assert!(read.in_shape, "{}: not the error shape", dialect.name);
            if limit {
                assert!(read.class.is_retryable(), "{}", dialect.name);
                let wait =
                    retry_after(&dialect.retry, &received.headers, &received.body, jiff::Timestamp::now());
                assert_eq!(
                    wait.map_or(0, |wait| u64::try_from(wait.as_millis()).unwrap()),
                    error.wait_ms,
                    "{}",
                    dialect.name
                );
            }
        }
    }
}

#[cfg(feature = "bedrock")]
pub(crate) fn encoded(dialect: &Dialect, stream: &str) -> Vec<u8> {
    use aws_smithy_eventstream::frame::write_message_to;
    use aws_smithy_types::event_stream::{Header, HeaderValue, Message};

    if dialect.stream.as_ref().unwrap().framing != Framing::AwsEventStream {
        return stream.as_bytes().to_vec();
    }
    let mut bytes = Vec::new();
    for line in stream.lines() {
        let event: Value = serde_json::from_str(line).unwrap();
        let (kind, payload) = event.as_object().unwrap().iter().next().unwrap();
        let text = |text: &str| HeaderValue::String(text.to_owned().into());
        let message = Message::new(payload.to_string().into_bytes())
            .add_header(Header::new(":message-type", text("event")))
            .add_header(Header::new(":event-type", text(kind)));
        write_message_to(&message, &mut bytes).unwrap();
    }
    bytes
}

#[cfg(not(feature = "bedrock"))]
pub(crate) fn encoded(_dialect: &Dialect, stream: &str) -> Vec<u8> {
    stream.as_bytes().to_vec()
}

fn streaming() -> impl Iterator<Item = Dialect> {
    dialects().into_iter().filter(|dialect| {
        let shape = dialect.stream.as_ref();
        shape.is_some_and(|shape| cfg!(feature = "bedrock") || shape.framing != Framing::AwsEventStream)
    })
}

#[tokio::test]
async fn a_whole_stream_gives_the_same_facts_as_a_whole_answer() {
    for dialect in streaming() {
        let shape = dialect.stream.as_ref().unwrap();
        let bytes = encoded(&dialect, &Wire::load(&dialect.name).streamed(INVOICE));
        let answer = assemble(shape, &bytes, None);
        assert_eq!(answer.stream, Some(StreamEnd::Complete), "{}", dialect.name);
        assert_eq!(answer.text.as_deref(), Some(INVOICE), "{}", dialect.name);
        assert_eq!(dialect.finish[answer.finish.as_ref().unwrap()].as_str(), "ok", "{}", dialect.name);
        assert_eq!(answer.usage.sum(), Some(60), "{}", dialect.name);
    }
}

#[tokio::test]
async fn a_broken_stream_is_never_a_finished_answer() {
    for dialect in streaming() {
        let shape = dialect.stream.as_ref().unwrap();
        let bytes = encoded(&dialect, &Wire::load(&dialect.name).broken(INVOICE));
        for cut in [None, Some("connection closed")] {
            let answer = assemble(shape, &bytes, cut);
            assert!(matches!(answer.stream, Some(StreamEnd::Broken(_))), "{}: {answer:?}", dialect.name);
        }
        // Wherever the bytes end, no prefix of the stream passes for the whole.
        for length in (0..bytes.len()).step_by(61) {
            let answer = assemble(shape, &bytes[..length], None);
            assert!(!matches!(answer.stream, Some(StreamEnd::Complete)), "{} at byte {length}", dialect.name);
        }
    }
}

#[tokio::test]
async fn a_check_over_streams_passes_whole_and_fails_broken_on_a_real_socket() {
    for dialect in streaming() {
        let wire = Wire::load(&dialect.name);
        let whole = encoded(&dialect, &wire.streamed(INVOICE));
        let half = encoded(&dialect, &wire.broken(INVOICE));
        let good = Act::Answer { status: 200, headers: Vec::new(), body: whole };
        let expected = [(good, "PASS"), (Act::HalfStream(vec![half]), "FAIL(stream_truncated)")];
        for (act, verdict) in expected {
            let double = Double::start(vec![act]).await;
            let workspace = workspace(&dialect, &double.url, true);
            let contract = workspace.contract().unwrap();
            let (provider, dialect) = workspace.provider("fallback");
            let http = Arc::new(Http::new(None).unwrap());
            let report =
                check(&contract, &provider, &dialect, http, CheckOptions::default(), &Silent).await.unwrap();
            assert_eq!(report.verdict.to_string(), verdict, "{}: {}", dialect.name, report.reason);
        }
    }
}

#[tokio::test]
async fn a_check_over_whole_answers_passes_for_every_dialect_on_a_real_socket() {
    for dialect in dialects() {
        let double = Double::start(vec![Act::json(200, &Wire::load(&dialect.name).success(INVOICE))]).await;
        let workspace = workspace(&dialect, &double.url, false);
        let contract = workspace.contract().unwrap();
        let (provider, dialect) = workspace.provider("fallback");
        let http = Arc::new(Http::new(None).unwrap());
        let report =
            check(&contract, &provider, &dialect, http, CheckOptions::default(), &Silent).await.unwrap();
        assert!(report.verdict.is_pass(), "{}: {} {}", dialect.name, report.verdict, report.reason);
        assert_eq!(double.received(), 5, "{}", dialect.name);
    }
}

#[test]
fn requests_carry_prompt_model_schema_and_key_where_each_dialect_wants_them() {
    for dialect in dialects() {
        let workspace = workspace(&dialect, "http://127.0.0.1:9/base/", false);
        let contract = workspace.contract().unwrap();
        let (mut provider, dialect) = workspace.provider("fallback");
        provider.structured = onejob_contracts::provider::Structured::Best;
        provider.key_env = Some("SOME_KEY".into());
        let request = outgoing(&contract, &provider, &dialect);
        let text = request.body.to_string();
        let left = dialect_placeholders().into_iter().find(|name| text.contains(&format!("\"{{{name}}}\"")));
        assert_eq!(left, None, "{}: a placeholder is left: {text}", dialect.name);
        assert!(!request.url.contains('{') && !request.url.contains("//base"), "{}", request.url);
        let sees = if dialect.name == "plain" { "12.50 EUR" } else { "again" };
        assert!(text.contains(sees), "{}: the prompt is missing: {text}", dialect.name);
        if dialect.structured.json_schema.is_some() {
            assert!(text.contains("total_cents"), "{}: the schema is missing", dialect.name);
        }
        let named =
            request.headers.iter().any(|(name, value)| name == "idempotency-key" && value == "acme-0");
        assert!(named, "{}: the sender's name for the work is missing: {:?}", dialect.name, request.headers);
        let keyed = request.headers.iter().any(|(_, value)| value.contains("{key}"));
        let has_key = dialect.request.headers.values().any(|value| value.contains("{key}"));
        assert_eq!(keyed, has_key, "{}", dialect.name);
    }
}

fn dialect_placeholders() -> [&'static str; 10] {
    [
        "model",
        "messages",
        "system",
        "schema",
        "schema_text",
        "schema_name",
        "role",
        "text",
        "input",
        "reference",
    ]
}

#[test]
fn system_messages_go_where_the_dialect_takes_them() {
    let body = |name: &str| {
        let catalogue = Catalogue::embedded().unwrap();
        let dialect = catalogue.get(name).unwrap();
        let workspace = workspace(&dialect, "http://h", false);
        let (provider, dialect) = workspace.provider("fallback");
        outgoing(&workspace.contract().unwrap(), &provider, &dialect).body
    };
    assert_eq!(body("anthropic")["system"], json!([{"type": "text", "text": "Answer in JSON."}]));
    assert_eq!(body("anthropic")["messages"].as_array().unwrap().len(), 3);
    assert_eq!(body("gemini")["systemInstruction"], json!({"parts": [{"text": "Answer in JSON."}]}));
    assert_eq!(body("gemini")["contents"][1]["role"], "model");
    assert_eq!(body("bedrock-converse")["system"], json!([{"text": "Answer in JSON."}]));
    assert_eq!(body("openai-chat")["messages"][0]["role"], "system");
}

#[test]
fn a_gateway_of_ones_own_is_a_file_and_wins_over_an_embedded_one() {
    let folder = tempfile::tempdir().unwrap();
    let plain = include_str!("../../dialects/plain.toml");
    std::fs::write(folder.path().join("ours.toml"), plain.replace("name = \"plain\"", "name = \"ours\""))
        .unwrap();
    let catalogue = Catalogue::with_folder(folder.path()).unwrap();
    assert_eq!(catalogue.get("ours").unwrap().name, "ours");
    let unknown = catalogue.get("theirs").unwrap_err().to_string();
    assert!(unknown.contains("ours") && unknown.contains("--dialects"), "{unknown}");

    std::fs::write(folder.path().join("broken.toml"), plain.replace("$.result", "result[")).unwrap();
    let broken = Catalogue::with_folder(folder.path()).unwrap_err().to_string();
    assert!(broken.contains("broken.toml:") && broken.contains("JSONPath"), "{broken}");
}

/// What a format has no words for, and why.
const WITHOUT: &[(&str, &str, &str)] = &[
    ("bedrock-converse", "refusal", "it answers a refusal as ordinary text"),
    ("cohere", "refusal", "it answers a refusal as ordinary text"),
    ("ollama", "refusal", "it answers a refusal as ordinary text"),
    ("plain", "truncation", "a job service sends whole results"),
    ("plain", "refusal", "a job service has results and errors"),
    ("plain", "tool call", "a job service calls no tools"),
    ("plain", "streaming", "a job service sends whole results"),
    ("plain", "broken stream", "a job service sends whole results"),
];

#[test]
fn every_dialect_has_its_eight_round_trips_on_file() {
    let mut missing = Vec::new();
    for dialect in dialects() {
        let wire = Wire::load(&dialect.name);
        let told = [
            ("success", wire.success.is_some()),
            ("truncation", wire.truncated.is_some()),
            ("refusal", wire.refusal.is_some() || wire.blocked.is_some()),
            ("tool call", wire.tool_call.is_some()),
            ("error", wire.error.is_some()),
            ("rate limit", wire.rate_limit.is_some()),
            ("streaming", wire.stream.is_some() && dialect.stream.is_some()),
            ("broken stream", wire.break_before.is_some() && dialect.stream.is_some()),
        ];
        let there: Vec<&str> = told.iter().filter(|(_, there)| *there).map(|(name, _)| *name).collect();
        println!("{:<18} {} of {}: {}", dialect.name, there.len(), told.len(), there.join(", "));
        for (name, there) in told {
            let excused = WITHOUT.iter().any(|(one, what, _)| *one == dialect.name && *what == name);
            if there == excused {
                missing.push(format!(
                    "{}: {name} is {}",
                    dialect.name,
                    if there { "excused" } else { "missing" }
                ));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:?}");
}
