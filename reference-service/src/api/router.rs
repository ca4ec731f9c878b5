use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::{get, post};

use super::problem::{Problem, ProblemType};
use super::state::App;
use super::{attempts, batch, callbacks, guard, jobs, operations};

/// The routes of a process.
pub(crate) fn router(app: App) -> Router {
    let mut router = Router::new()
        .route("/healthz", get(operations::health))
        .route("/readyz", get(operations::ready))
        .route("/metrics", get(operations::metrics));
    if app.config.role.answers() {
        let api = Router::new()
            .route("/v1/jobs", post(jobs::create).get(jobs::list))
            .route("/v1/jobs:batch", post(batch::create))
            .route("/v1/jobs/{id}", get(jobs::read))
            .route("/v1/jobs/{id}/cancel", post(jobs::cancel))
            .route("/v1/jobs/{id}/events", get(jobs::events))
            .route("/v1/jobs/{id}/reports", get(jobs::reports))
            .route("/v1/jobs/{id}/attempts", post(attempts::start))
            .route("/v1/jobs/{id}/attempts/{number}/cancel", post(attempts::cancel))
            .route("/v1/jobs/{id}/attempts/{number}/resolve", post(attempts::resolve))
            .route("/v1/callbacks/{provider}", post(callbacks::take))
            .route_layer(from_fn_with_state(app.clone(), guard::admit));
        router = router.merge(api);
    }
    router
        .fallback(|| async {
            Problem::new(ProblemType::RouteNotFound, "see the documentation for what there is")
        })
        .method_not_allowed_fallback(|| async {
            Problem::new(ProblemType::MethodNotAllowed, "the `Allow` header says which methods there are")
        })
        .with_state(app)
}
