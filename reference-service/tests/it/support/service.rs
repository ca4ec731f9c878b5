use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use onejob_reference::{Config, Error, Principal, Provider, Token, serve};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;

use super::{Double, database};

/// An answer of the service.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: reqwest::header::HeaderMap,
    pub(crate) body: Value,
}

impl Answer {
    pub(crate) fn id(&self) -> String {
        self.body["id"].as_str().unwrap_or_else(|| panic!("a job: {self:?}")).to_owned()
    }

    /// The last part of the problem type.
    pub(crate) fn problem(&self) -> &str {
        assert_eq!(self.header("content-type"), Some("application/problem+json"), "{self:?}");
        self.body["type"].as_str().and_then(|told| told.strip_prefix("/problems/")).unwrap_or("none")
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    pub(crate) fn replayed(&self) -> bool {
        self.header("idempotent-replayed") == Some("true")
    }
}

/// A running service with a provider named `primary`, and one named `fallback` that is the same double.
pub(crate) struct Service {
    pub(crate) address: SocketAddr,
    pub(crate) config: Config,
    pub(crate) double: Arc<Double>,
    http: reqwest::Client,
    stop: watch::Sender<bool>,
    served: Option<JoinHandle<Result<(), Error>>>,
}

impl Service {
    pub(crate) async fn start() -> Self {
        Self::with(|_| {}).await
    }

    /// Starts with a changed configuration. Deadlines are short; each may be changed.
    pub(crate) async fn with(change: impl FnOnce(&mut Config)) -> Self {
        let double = Double::start().await;
        let mut config = Config {
            database_url: database().await,
            tokens: vec![
                Token::new("alice", "alice-secret", Principal::User),
                Token::new("alice", "alice-operator", Principal::Operator),
                Token::new("bob", "bob-secret", Principal::User),
                Token::new("bob", "bob-operator", Principal::Operator),
            ],
            providers: vec![Provider::new("primary", double.url()), Provider::new("fallback", double.url())],
            attempt_timeout: Duration::from_secs(10),
            lease: Duration::from_secs(10),
            drain: Duration::from_secs(5),
            retry_pause: Duration::from_millis(1),
            migrate: false,
            ..Config::default()
        };
        change(&mut config);
        Self::run(config, double).await
    }

    /// Another process on the same database and with the same provider.
    pub(crate) async fn replica(&self, change: impl FnOnce(&mut Config)) -> Self {
        let mut config = self.config.clone();
        change(&mut config);
        Self::run(config, Arc::clone(&self.double)).await
    }

    async fn run(config: Config, double: Arc<Double>) -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let (ready, address) = oneshot::channel();
        let (stop, mut stopped) = watch::channel(false);
        let served = tokio::spawn(serve(config.clone(), ready, async move {
            let _ = stopped.wait_for(|stop| *stop).await;
        }));
        let started = tokio::time::timeout(Duration::from_secs(20), address).await.expect("ready in time");
        let Ok(address) = started else { panic!("the service did not start: {:?}", served.await) };
        let http = reqwest::Client::builder().no_proxy().build().expect("a client");
        Self { address, config, double, http, stop, served: Some(served) }
    }

    /// Drains the service and gives back what it ended with.
    pub(crate) async fn stop(mut self) -> Result<(), Error> {
        // It may have been told before.
        let _ = self.stop.send(true);
        self.served.take().expect("it runs").await.expect("no panic")
    }

    pub(crate) fn begin_stop(&self) {
        self.stop.send(true).expect("the service listens");
    }

    /// Ends the service as a crash would: nothing more is written.
    pub(crate) fn kill(&mut self) {
        if let Some(served) = self.served.take() {
            served.abort();
        }
    }

    pub(crate) fn request(&self, method: Method, path: &str, token: &str) -> reqwest::RequestBuilder {
        self.http.request(method, format!("http://{}{path}", self.address)).bearer_auth(token)
    }

    pub(crate) async fn send(&self, request: reqwest::RequestBuilder) -> Answer {
        let response = request.timeout(Duration::from_secs(20)).send().await.expect("an answer");
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let text = response.text().await.expect("a whole answer");
        let body = serde_json::from_str(&text).unwrap_or(Value::String(text));
        Answer { status, headers, body }
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send(self.request(Method::GET, path, "alice-operator")).await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Answer {
        self.send(self.request(Method::POST, path, "alice-operator").json(body)).await
    }

    /// Posts under a precondition.
    pub(crate) async fn post_if(&self, path: &str, version: i64, body: &Value) -> Answer {
        let request = self.request(Method::POST, path, "alice-operator").json(body);
        self.send(request.header("if-match", format!("\"{version}\""))).await
    }

    pub(crate) fn submission(&self, key: &str, body: &Value) -> reqwest::RequestBuilder {
        self.request(Method::POST, "/v1/jobs", "alice-secret").header("idempotency-key", key).json(body)
    }

    pub(crate) async fn submit(&self, key: &str, body: &Value) -> Answer {
        self.send(self.submission(key, body)).await
    }

    /// Submits a job and gives its id.
    pub(crate) async fn job(&self, key: &str) -> String {
        let answer = self.submit(key, &input(1)).await;
        assert_eq!(answer.status, 201, "{answer:?}");
        answer.id()
    }

    pub(crate) async fn read(&self, id: &str) -> Value {
        let answer = self.get(&format!("/v1/jobs/{id}")).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.body
    }

    /// Reads a job until it is in that state.
    pub(crate) async fn until(&self, id: &str, state: &str) -> Value {
        eventually(&format!("the job is {state}"), async || {
            let job = self.read(id).await;
            (job["state"] == state).then_some(job)
        })
        .await
    }

    pub(crate) async fn events(&self, id: &str) -> Vec<String> {
        let answer = self.get(&format!("/v1/jobs/{id}/events")).await;
        let events = answer.body["events"].as_array().unwrap_or_else(|| panic!("events: {answer:?}")).clone();
        events.iter().map(|event| event["kind"].as_str().expect("a kind").to_owned()).collect()
    }

    pub(crate) async fn reports(&self, id: &str) -> Vec<Value> {
        let answer = self.get(&format!("/v1/jobs/{id}/reports")).await;
        answer.body["reports"].as_array().unwrap_or_else(|| panic!("reports: {answer:?}")).clone()
    }

    /// Waits until the log tells of something.
    pub(crate) async fn until_event(&self, id: &str, kind: &str) {
        eventually(&format!("the log tells of {kind}"), async || {
            self.events(id).await.iter().any(|told| told == kind).then_some(())
        })
        .await;
    }

    pub(crate) async fn metric(&self, line: &str) -> f64 {
        let text = self.get("/metrics").await.body;
        let text = text.as_str().expect("a text");
        let found = text.lines().find_map(|one| one.strip_prefix(line)?.strip_prefix(' '));
        found.unwrap_or_else(|| panic!("no metric {line} in {text}")).parse().expect("a number")
    }
}

/// Looks until something is there, for at most 15 seconds.
pub(crate) async fn eventually<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let looking = async {
        let mut ticks = tokio::time::interval(Duration::from_millis(5));
        loop {
            ticks.tick().await;
            if let Some(found) = look().await {
                return found;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(15), looking).await.unwrap_or_else(|_| panic!("never: {what}"))
}

/// A body that asks for a job.
pub(crate) fn input(amount: i64) -> Value {
    json!({ "kind": "charge", "input": { "amount": amount } })
}
