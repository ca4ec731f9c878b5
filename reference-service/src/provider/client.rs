use std::error::Error as _;
use std::time::Duration;

use reqwest::header::{CONTENT_TYPE, RETRY_AFTER};
use serde_json::json;

use onejob_contracts::attempt::Outcome;

use super::wire;
use crate::contracts::Askers;
use crate::domain::{Answer, Unanswered};
use crate::rules::Found;
use crate::{Error, Provider};

/// The largest answer that is read, in bytes.
const LARGEST_ANSWER: usize = 1024 * 1024;

/// How long a probe may take.
const PROBE_TIMEOUT: Duration = Duration::from_secs(5);

/// One call of a provider.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    /// Whom.
    pub(crate) provider: String,
    /// Where to.
    pub(crate) url: String,
    /// What the provider knows the work by, stable across attempts.
    pub(crate) reference: String,
    /// The number of the attempt, for people.
    pub(crate) attempt: i32,
    /// What to do.
    pub(crate) kind: String,
    /// With what.
    pub(crate) input: serde_json::Value,
    /// W3C trace context.
    pub(crate) traceparent: String,
}

/// Speaks to providers. Never sends anything twice by itself, and uses a fresh connection for each call: on one from
/// a pool that the other side is just closing, nobody could say whether a request was read.
#[derive(Debug, Clone)]
pub(crate) struct ProviderClient {
    http: reqwest::Client,
    askers: Askers,
}

impl ProviderClient {
    /// Prepares for calls of these providers.
    pub(crate) fn new(providers: &[Provider], askers: Askers) -> Result<Self, Error> {
        // Fails only when somebody installed a provider before, and then that one is used.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = reqwest::Client::builder();
        if providers.iter().all(|provider| provider.url.starts_with("http://")) {
            // Reading the system's certificates takes longer than all the rest of starting up.
            builder = builder.tls_certs_only([]);
        }
        let http = builder
            .pool_max_idle_per_host(0)
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .http1_only()
            .no_proxy()
            .connect_timeout(Duration::from_secs(5))
            .build()
            .map_err(|error| Error::Config(format!("the HTTP client can't be set up: {error}")))?;
        Ok(Self { http, askers })
    }

    /// Calls once and waits for the answer, `patience` at most: nobody wants to know of it later.
    pub(crate) async fn call(&self, call: &Call, patience: Duration) -> Answer {
        if let Some(outcome) = self.askers.ask(call, patience).await {
            return match outcome {
                Outcome::NeverSent(reason) => Answer::None(Unanswered::NeverSent(reason)),
                Outcome::Unknown(reason) => Answer::None(Unanswered::Lost(reason)),
                outcome => Answer::Read(outcome),
            };
        }
        let body = json!({
            "client_reference": call.reference,
            "attempt": call.attempt,
            "kind": call.kind,
            "input": call.input,
        });
        let sent = self
            .http
            .post(&call.url)
            .header(CONTENT_TYPE, "application/json")
            .header("idempotency-key", &call.reference)
            .header("x-attempt", call.attempt)
            .header("traceparent", &call.traceparent)
            .body(body.to_string())
            .send()
            .await;
        let response = match sent {
            Ok(response) => response,
            Err(error) => return Answer::None(unanswered(&error)),
        };
        let code = response.status().as_u16();
        let retry_after =
            wire::read_retry_after(response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()));
        match read(response).await {
            Ok(bytes) => Answer::Status { code, retry_after, body: wire::read_answer(&bytes) },
            Err(reason) => Answer::None(Unanswered::Lost(reason)),
        }
    }

    /// Asks what became of a client reference.
    pub(crate) async fn probe(&self, url: &str, reference: &str) -> Found {
        let mut url = match reqwest::Url::parse(url) {
            Ok(url) => url,
            Err(error) => return Found::NoAnswer(error.to_string()),
        };
        url.query_pairs_mut().append_pair("client_reference", reference);
        let answer = async {
            let response = self.http.get(url).send().await.map_err(|error| chain(&error))?;
            let status = response.status().as_u16();
            read(response).await.map(|bytes| wire::read_probe(status, &bytes))
        };
        match tokio::time::timeout(PROBE_TIMEOUT, answer).await {
            Ok(Ok(found)) => found,
            Ok(Err(reason)) => Found::NoAnswer(reason),
            Err(_) => Found::NoAnswer("no answer in time".to_owned()),
        }
    }
}

/// Only an error of the connection's own making says that nothing was sent. A timeout while the body is written does
/// not: it may have arrived.
fn unanswered(error: &reqwest::Error) -> Unanswered {
    let reason = chain(error);
    if error.is_builder() || error.is_connect() {
        Unanswered::NeverSent(reason)
    } else {
        Unanswered::Lost(reason)
    }
}

/// The error with its causes, and without the URL, which may hold a secret.
fn chain(error: &reqwest::Error) -> String {
    let mut told =
        if error.is_connect() { "can't connect".to_owned() } else { "the call broke off".to_owned() };
    let mut cause = error.source();
    while let Some(inner) = cause {
        told = format!("{told}: {inner}");
        cause = inner.source();
    }
    told
}

async fn read(mut response: reqwest::Response) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) if bytes.len() + chunk.len() > LARGEST_ANSWER => {
                return Err(format!("the answer is larger than {LARGEST_ANSWER} bytes"));
            }
            Ok(Some(chunk)) => bytes.extend_from_slice(&chunk),
            Ok(None) => return Ok(bytes),
            Err(error) => return Err(chain(&error)),
        }
    }
}
