//! A provider whose answers the test gives.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method};
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json};
use tokio::sync::{Mutex, mpsc, oneshot};

/// A call that arrived and waits for its answer. Dropped, the connection is closed without one.
pub(crate) struct Received {
    pub(crate) probe: bool,
    pub(crate) headers: HeaderMap,
    pub(crate) path: String,
    pub(crate) query: String,
    pub(crate) body: Value,
    answer: oneshot::Sender<Response>,
}

impl Received {
    pub(crate) fn answer(self, status: u16, body: &Value) {
        self.answer_with(status, &[], body);
    }

    pub(crate) fn answer_with(self, status: u16, headers: &[(&str, &str)], body: &Value) {
        let mut response =
            (axum::http::StatusCode::from_u16(status).expect("a status"), body.to_string()).into_response();
        for (name, value) in headers {
            response.headers_mut().insert(
                axum::http::HeaderName::from_bytes(name.as_bytes()).expect("a header name"),
                value.parse().expect("a header value"),
            );
        }
        // The service may have hung up, which some tests are about.
        let _ = self.answer.send(response);
    }

    /// Begins an answer of events and breaks off.
    pub(crate) fn break_off(self, events: &'static str) {
        let broken = std::io::Error::other("broken off");
        let parts = futures::stream::iter([Ok(Bytes::from_static(events.as_bytes())), Err(broken)]);
        let _ = self.answer.send(Response::new(axum::body::Body::from_stream(parts)));
    }

    pub(crate) fn succeed(self, result: &Value) {
        self.answer(200, &json!({ "result": result }));
    }

    pub(crate) fn attempt(&self) -> i64 {
        self.body["attempt"].as_i64().expect("an attempt number")
    }

    pub(crate) fn reference(&self) -> &str {
        self.body["client_reference"].as_str().expect("a client reference")
    }
}

/// The provider.
pub(crate) struct Double {
    address: SocketAddr,
    calls: Mutex<mpsc::UnboundedReceiver<Received>>,
}

impl Double {
    pub(crate) async fn start() -> Arc<Self> {
        let (sender, calls) = mpsc::unbounded_channel();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let router = Router::new().fallback(receive).with_state(sender);
        tokio::spawn(axum::serve(listener, router).into_future());
        Arc::new(Self { address, calls: Mutex::new(calls) })
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// The next call.
    pub(crate) async fn next(&self) -> Received {
        let mut calls = self.calls.lock().await;
        let call = tokio::time::timeout(Duration::from_secs(10), calls.recv()).await;
        call.expect("a call within 10 s").expect("the provider runs")
    }

    /// Whether a call is there that nobody looked at.
    pub(crate) async fn has_more(&self) -> bool {
        !self.calls.lock().await.is_empty()
    }
}

type Sender = mpsc::UnboundedSender<Received>;

async fn receive(State(calls): State<Sender>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let raw: Bytes = axum::body::to_bytes(body, usize::MAX).await.expect("the whole body");
    let (answer, answered) = oneshot::channel();
    let received = Received {
        probe: parts.method == Method::GET,
        headers: parts.headers,
        path: parts.uri.path().to_owned(),
        query: parts.uri.query().unwrap_or_default().to_owned(),
        body: serde_json::from_slice(&raw).unwrap_or_default(),
        answer,
    };
    calls.send(received).expect("the test listens");
    if let Ok(response) = answered.await {
        return response;
    }
    // Breaks the connection off in the middle of the answer.
    let broken = std::io::Error::other("broken off");
    let parts = futures::stream::iter([Ok(Bytes::from_static(b"{")), Err(broken)]);
    Response::new(axum::body::Body::from_stream(parts))
}
