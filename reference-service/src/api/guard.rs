use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use super::problem::{Problem, ProblemType};
use super::state::App;
use crate::metrics::Counter;

/// Lets only so many requests in at once. One more is turned away before anything of it is read, so its key is free.
pub(super) async fn admit(State(app): State<App>, request: Request, next: Next) -> Response {
    if let Ok(_place) = app.in_flight.try_acquire() {
        return next.run(request).await;
    }
    app.metrics.count(Counter::Overloaded);
    Problem::new(
        ProblemType::Overloaded,
        "the service works at its limit and has not looked at this request; retry with the same key",
    )
    .retry_after_a_second()
    .into_response()
}
