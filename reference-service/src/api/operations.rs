use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};

use super::state::App;
use crate::worker::Phase;

/// `GET /healthz`: the process runs.
pub(super) async fn health() -> &'static str {
    "ok\n"
}

/// `GET /readyz`: it takes requests, and the database answers.
pub(super) async fn ready(State(app): State<App>) -> (StatusCode, &'static str) {
    if app.stop.is(Phase::Draining) {
        return (StatusCode::SERVICE_UNAVAILABLE, "draining\n");
    }
    match app.store.ping().await {
        Ok(()) => (StatusCode::OK, "ready\n"),
        Err(_) => (StatusCode::SERVICE_UNAVAILABLE, "the database can't be reached\n"),
    }
}

/// `GET /metrics`
pub(super) async fn metrics(State(app): State<App>) -> Response {
    // Without the database the counters of this process are still worth reading.
    let unknown = app.store.unknown_jobs().await.ok();
    let text = app.metrics.render(unknown, app.store.connections());
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], text).into_response()
}
