use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use serde::Deserialize;
use serde_json::{Value, json};

use super::auth::Caller;
use super::jobs::{owned, stale, terminal};
use super::problem::{Problem, ProblemType};
use super::state::App;
use super::{body, submit, view};
use crate::domain::{AttemptCancelRefusal, IfMatch, ResolveRefusal, StartRefusal};
use crate::metrics::Counter;
use crate::store::{Edit, JobRecord, Started, Statement};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    provider: Option<String>,
}

/// `POST /v1/jobs/{id}/attempts`
pub(super) async fn start(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
    request: Request,
) -> Result<Response, Problem> {
    let (parts, stream) = request.into_parts();
    let wanted: Wanted = body::read_optional(&parts.headers, stream, &app.config).await?;
    let id = owned(&app, &caller, &id).await?.id;
    let store = app.store.clone();
    let started = tokio::spawn(async move { store.start_attempt(id, wanted.provider.as_deref()).await })
        .await
        .map_err(|_| Problem::new(ProblemType::Internal, "the request was interrupted"))??;
    match started {
        Started::Yes(number, job) => {
            let body = json!({ "attempt": view::attempt_of(&job, number), "job": view::job(&job) });
            Ok(view::job_response(StatusCode::ACCEPTED, &job, &body))
        }
        Started::No(refusal, job) => {
            app.metrics.count(Counter::AttemptsRefused);
            Err(refused(refusal, &job))
        }
        Started::UnknownProvider(job) => {
            let detail = format!("the job knows no such provider; it knows {}", job.providers.join(", "));
            Err(Problem::new(ProblemType::InvalidBody, detail))
        }
        Started::NotFound => Err(Problem::job_not_found()),
    }
}

fn refused(refusal: StartRefusal, job: &JobRecord) -> Problem {
    match refusal {
        StartRefusal::Live(number) => Problem::new(
            ProblemType::AttemptLive,
            format!("attempt {number} is being carried out; wait for what it brings"),
        )
        .with("attempt", json!(number))
        .with("job", view::job(job)),
        StartRefusal::Unknown(number) => Problem::new(
            ProblemType::AttemptUnknown,
            format!(
                "the effect of attempt {number} may have happened; resolve or cancel it first, by evidence"
            ),
        )
        .with("attempt", json!(number))
        .with("job", view::job(job)),
        StartRefusal::Terminal | StartRefusal::Awaiting => terminal(job),
    }
}

fn attempt_not_found() -> Problem {
    Problem::new(ProblemType::AttemptNotFound, "the job has no attempt with this number")
}

/// Deciding over an attempt is deciding over what was read: without a version it would be a guess.
fn demanded(headers: &HeaderMap) -> Result<IfMatch, Problem> {
    submit::precondition(headers).ok_or_else(|| {
        Problem::new(ProblemType::IfMatchRequired, "read the job and send its ETag as `If-Match`")
    })
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct GivenUp {
    evidence: Option<String>,
}

/// `POST /v1/jobs/{id}/attempts/{n}/cancel`
pub(super) async fn cancel(
    State(app): State<App>,
    caller: Caller,
    Path((id, number)): Path<(String, String)>,
    request: Request,
) -> Result<Response, Problem> {
    caller.must_be_operator()?;
    let (parts, stream) = request.into_parts();
    let told: GivenUp = body::read_optional(&parts.headers, stream, &app.config).await?;
    let evidence = told.evidence.unwrap_or_else(|| "given up from outside".to_owned());
    must_be_storable(&evidence)?;
    let id = owned(&app, &caller, &id).await?.id;
    let number: i32 = number.parse().map_err(|_| attempt_not_found())?;
    let precondition = demanded(&parts.headers)?;
    match app.store.cancel_attempt(id, number, &evidence, &precondition).await? {
        Edit::Done(job) | Edit::Noted(job) => Ok(view::job_response(StatusCode::OK, &job, &view::job(&job))),
        Edit::Stale(job) => Err(stale(&job)),
        Edit::NotFound => Err(Problem::job_not_found()),
        Edit::Refused(AttemptCancelRefusal::NoSuchAttempt, _) => Err(attempt_not_found()),
        Edit::Refused(AttemptCancelRefusal::Terminal, job) => Err(terminal(&job)),
        Edit::Refused(AttemptCancelRefusal::Over(state), job) => {
            Err(Problem::new(ProblemType::AttemptOver, format!("the attempt is {state} already"))
                .with("job", view::job(&job)))
        }
        Edit::Refused(AttemptCancelRefusal::UnderWay, job) => Err(Problem::new(
            ProblemType::AttemptLive,
            "the provider is being called; an attempt can be given up once its outcome is unknown",
        )
        .with("job", view::job(&job))),
    }
}

/// Postgres stores no U+0000 in a text.
fn must_be_storable(evidence: &str) -> Result<(), Problem> {
    if evidence.trim().is_empty() || evidence.contains('\0') {
        return Err(Problem::new(ProblemType::InvalidBody, "`evidence` must say how the outcome is known"));
    }
    Ok(())
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Resolution {
    outcome: String,
    evidence: String,
    result: Option<Value>,
}

impl Resolution {
    fn statement(&self) -> Result<Statement, Problem> {
        let invalid = |detail: &str| Err(Problem::new(ProblemType::InvalidBody, detail));
        must_be_storable(&self.evidence)?;
        match (self.outcome.as_str(), &self.result) {
            ("succeeded", result) => Ok(Statement::Succeeded(result.clone().unwrap_or_default())),
            (_, Some(_)) => invalid("only an attempt that succeeded has a `result`"),
            ("failed", None) => Ok(Statement::Failed),
            ("not_executed", None) => Ok(Statement::NotExecuted),
            _ => invalid("`outcome` must be `succeeded`, `failed` or `not_executed`"),
        }
    }
}

/// `POST /v1/jobs/{id}/attempts/{n}/resolve`
pub(super) async fn resolve(
    State(app): State<App>,
    caller: Caller,
    Path((id, number)): Path<(String, String)>,
    request: Request,
) -> Result<Response, Problem> {
    caller.must_be_operator()?;
    let (parts, stream) = request.into_parts();
    let resolution: Resolution = body::read_optional(&parts.headers, stream, &app.config).await?;
    let id = owned(&app, &caller, &id).await?.id;
    let number: i32 = number.parse().map_err(|_| attempt_not_found())?;
    let precondition = demanded(&parts.headers)?;
    let statement = resolution.statement()?;
    let policy = app.config.retry_policy();
    let edit =
        app.store.resolve(id, number, &statement, &resolution.evidence, Some(&precondition), &policy).await?;
    match edit {
        Edit::Done(job) | Edit::Noted(job) => Ok(view::job_response(StatusCode::OK, &job, &view::job(&job))),
        Edit::Stale(job) => Err(stale(&job)),
        Edit::NotFound => Err(Problem::job_not_found()),
        Edit::Refused(ResolveRefusal::NoSuchAttempt, _) => Err(attempt_not_found()),
        Edit::Refused(ResolveRefusal::Terminal, job) => Err(terminal(&job)),
        Edit::Refused(ResolveRefusal::NotUnknown(state), job) => Err(Problem::new(
            ProblemType::AttemptNotUnknown,
            format!("the attempt is {state}; only an unknown one can be resolved"),
        )
        .with("job", view::job(&job))),
    }
}
