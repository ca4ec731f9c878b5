use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use tracing::{Instrument as _, field};

use super::problem::{Problem, ProblemType};
use super::state::App;
use crate::metrics::Counter;

/// Lets only so many requests in at once. One more is turned away before anything of it is read, so its key is free.
pub(super) async fn admit(
    State(app): State<App>,
    route: MatchedPath,
    request: Request,
    next: Next,
) -> Response {
    let Ok(_place) = app.in_flight.try_acquire() else {
        app.metrics.count(Counter::Overloaded);
        return Problem::new(
            ProblemType::Overloaded,
            "the service works at its limit and has not looked at this request; retry with the same key",
        )
        .retry_after_a_second()
        .into_response();
    };
    let (method, began) = (request.method().clone(), Instant::now());
    let span = tracing::info_span!("request", %method, route = route.as_str(), owner = field::Empty);
    let response = next.run(request).instrument(span.clone()).await;
    let took = began.elapsed();
    span.in_scope(|| tracing::debug!(status = response.status().as_u16(), ?took, "answered"));
    response
}
