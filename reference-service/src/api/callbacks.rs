use std::time::SystemTime;

use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::problem::{Problem, ProblemType};
use super::state::App;
use super::{body, view};
use crate::metrics::Counter;
use crate::provider::storable;
use crate::signature::Signed;
use crate::store::{Finished, Move, Outcome, Taken};

#[derive(Debug, Deserialize)]
struct Told {
    code: String,
    #[serde(default)]
    message: String,
}

#[derive(Debug, Deserialize)]
struct Report {
    client_reference: String,
    attempt: i32,
    status: String,
    result: Option<Value>,
    reference: Option<String>,
    error: Option<Told>,
}

impl Report {
    fn outcome(&self) -> Result<Outcome, Problem> {
        match (self.status.as_str(), &self.error) {
            ("succeeded", None) => Ok(Outcome::Succeeded {
                result: self.result.clone().unwrap_or_default(),
                reference: self.reference.as_deref().map(storable),
            }),
            ("failed", error) => Ok(Outcome::Failed {
                code: error
                    .as_ref()
                    .map_or_else(|| "provider-failed".to_owned(), |told| storable(&told.code)),
                message: error.as_ref().map(|told| storable(&told.message)).unwrap_or_default(),
                retry: false,
                retry_after: None,
                moving: Move::NotAsked,
            }),
            _ => Err(Problem::new(
                ProblemType::InvalidBody,
                "`status` must be `succeeded` or `failed`, to match",
            )),
        }
    }
}

fn header<'a>(headers: &'a HeaderMap, name: &str) -> &'a str {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

fn refused(app: &App, detail: impl Into<String>) -> Problem {
    app.metrics.count(Counter::CallbacksRefused);
    Problem::new(ProblemType::CallbackRefused, detail)
}

/// `POST /v1/callbacks/{provider}`: a provider reports by itself. Answered 200 whenever the event was taken, now or
/// earlier, so that the provider stops sending it.
pub(super) async fn take(
    State(app): State<App>,
    Path(name): Path<String>,
    request: Request,
) -> Result<Response, Problem> {
    let (parts, stream) = request.into_parts();
    let raw = body::read_body(stream, &app.config).await?;
    let secret = app.config.provider(&name).and_then(|provider| provider.callback_secret.as_deref());
    // The same answer for a provider that does not exist: callers without a secret learn no names.
    let secret = secret.ok_or_else(|| refused(&app, "callbacks of this provider are not taken"))?;
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
    let signed = Signed {
        secret,
        id: header(&parts.headers, "webhook-id"),
        timestamp: header(&parts.headers, "webhook-timestamp"),
        signature: header(&parts.headers, "webhook-signature"),
        body: &raw,
        now,
        window: app.config.callback_window,
    };
    if signed.id.is_empty() || signed.id.len() > 255 {
        return Err(refused(
            &app,
            "send 1 to 255 characters as `webhook-id`, the same for each delivery of an event",
        ));
    }
    let rules = &app.store.rules;
    let authentic = (rules.authentic)(&signed);
    rules.reach.decided(&authentic, |rules| (rules.authentic)(&signed));
    authentic.map_err(|refusal| refused(&app, refusal.to_string()))?;

    crate::domain::parse(&raw)?;
    let report: Report = body::shape(body::value(&raw)?)?;
    let outcome = report.outcome()?;
    let unknown =
        || Problem::new(ProblemType::CallbackUnknown, "no attempt with this reference and number is yours");
    let job: Uuid = report.client_reference.parse().map_err(|_| unknown())?;
    let (store, event, number) = (app.store.clone(), signed.id.to_owned(), report.attempt);
    let policy = app.config.retry_policy();
    let taken =
        tokio::spawn(async move { store.take_callback(&name, &event, job, number, &outcome, &policy).await })
            .await
            .map_err(|_| Problem::new(ProblemType::Internal, "the callback was interrupted"))??;
    let said = match taken {
        Taken::First(Finished::NotFound) => return Err(unknown()),
        Taken::First(Finished::Accepted(_) | Finished::Moved) => "accepted",
        Taken::First(Finished::Discarded) => {
            app.metrics.count(Counter::ResultsDiscarded);
            "discarded"
        }
        Taken::Again => {
            app.metrics.count(Counter::CallbacksRepeated);
            return Ok(view::json_response(StatusCode::OK, &json!({ "outcome": "repeated" })));
        }
    };
    app.metrics.count(Counter::CallbacksTaken);
    Ok(view::json_response(StatusCode::OK, &json!({ "outcome": said })))
}
