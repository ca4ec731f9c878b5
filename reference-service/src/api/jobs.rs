use axum::extract::{MatchedPath, Path, Query, Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::auth::Caller;
use super::problem::{Problem, ProblemType};
use super::state::App;
use super::submit::{self, Wanted};
use super::{body, view};
use crate::domain::{IdempotencyKey, Intent, JobState};
use crate::reach::Occasion;
use crate::store::{CancelRefusal, Edit, JobRecord};

/// How many jobs a page has at most, and unless asked otherwise.
const MOST_ON_PAGE: i64 = 200;
const PAGE: i64 = 50;

/// `POST /v1/jobs`
pub(super) async fn create(
    State(app): State<App>,
    caller: Caller,
    route: MatchedPath,
    request: Request,
) -> Result<Response, Problem> {
    let (parts, stream) = request.into_parts();
    let key = submit::key_of(&app, &parts.headers)?;
    let media_type = body::json_media_type(&parts.headers)?;
    let raw = body::read_body(stream, &app.config).await?;
    let read = (|| {
        let json = submit::read(&app, &raw)?;
        let wanted = Wanted::read(body::value(&raw)?)?;
        let intent = Intent {
            method: parts.method.as_str(),
            route: route.as_str(),
            path: parts.uri.path(),
            query: parts.uri.query().unwrap_or_default(),
            media_type,
            body: &json,
        };
        let fingerprint = submit::fingerprint(&app, &intent, &raw);
        let trace = submit::trace_of(&parts.headers);
        wanted.into_job(&app, &caller, &key, fingerprint, |_, key| key.to_owned(), trace)
    })();
    let rules = &app.store.rules;
    match read {
        Ok(new) => {
            let waiting = rules.reach.begin(Occasion::ClientGone);
            let submitted = submit::submit(&app, new).await;
            waiting.ended();
            Ok(submitted?.respond())
        }
        Err(problem) => {
            rules.reach.met(Occasion::RefusedBody);
            (rules.refused)(&app.store, &caller.owner, key.as_str()).await?;
            Err(problem)
        }
    }
}

/// Reads the id in a path; what is no id names no job.
pub(super) fn job_id(told: &str) -> Result<Uuid, Problem> {
    told.parse().map_err(|_| Problem::job_not_found())
}

/// The caller's job of that id.
pub(super) async fn owned(app: &App, caller: &Caller, told: &str) -> Result<JobRecord, Problem> {
    let id = job_id(told)?;
    let record = app.store.job_of(&caller.owner, id).await?.filter(|record| !record.purged);
    record.ok_or_else(Problem::job_not_found)
}

/// `GET /v1/jobs/{id}`
pub(super) async fn read(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    let record = owned(&app, &caller, &id).await?;
    Ok(view::job_response(StatusCode::OK, &record, &view::job(&record)))
}

/// What `GET /v1/jobs` understands.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Search {
    idempotency_key: Option<String>,
    cursor: Option<String>,
    state: Option<String>,
    limit: Option<i64>,
}

/// `GET /v1/jobs`
pub(super) async fn list(
    State(app): State<App>,
    caller: Caller,
    search: Result<Query<Search>, axum::extract::rejection::QueryRejection>,
) -> Result<Response, Problem> {
    let invalid = |detail: String| Problem::new(ProblemType::InvalidQuery, detail);
    let Query(search) = search.map_err(|error| invalid(error.body_text()))?;
    if let Some(told) = search.idempotency_key {
        let key = IdempotencyKey::parse(told.as_bytes())?;
        let rules = &app.store.rules;
        rules.reach.named("key", key.as_str(), |rules| (rules.key)(key.as_str()));
        let key = (rules.key)(key.as_str());
        let found = app.store.job_by_key(&caller.owner, &key).await?.filter(|record| !record.purged);
        let jobs: Vec<Value> = found.iter().map(view::job).collect();
        return Ok(view::json_response(StatusCode::OK, &json!({ "jobs": jobs, "next": null })));
    }
    let before = search
        .cursor
        .map(|told| {
            told.parse::<Uuid>().map_err(|_| invalid("`cursor` must come from an earlier page".to_owned()))
        })
        .transpose()?;
    let state = search.state.map(|told| told.parse::<JobState>().map_err(invalid)).transpose()?;
    let limit = search.limit.unwrap_or(PAGE);
    if !(1..=MOST_ON_PAGE).contains(&limit) {
        return Err(invalid(format!("`limit` must be 1 to {MOST_ON_PAGE}")));
    }
    let jobs = app.store.list(&caller.owner, before, state, limit).await?;
    let full = i64::try_from(jobs.len()).is_ok_and(|count| count == limit);
    let next = jobs.last().filter(|_| full).map(|last| last.id);
    let jobs: Vec<Value> = jobs.iter().map(view::job).collect();
    Ok(view::json_response(StatusCode::OK, &json!({ "jobs": jobs, "next": next })))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CancelWish {
    #[serde(default)]
    accept_unknown_effect: bool,
}

/// `POST /v1/jobs/{id}/cancel`
pub(super) async fn cancel(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
    request: Request,
) -> Result<Response, Problem> {
    let (parts, stream) = request.into_parts();
    let wish: CancelWish = body::read_optional(&parts.headers, stream, &app.config).await?;
    let id = owned(&app, &caller, &id).await?.id;
    let precondition = submit::precondition(&parts.headers);
    match app.store.cancel(id, wish.accept_unknown_effect, precondition.as_ref()).await? {
        Edit::Done(job) => Ok(view::job_response(StatusCode::OK, &job, &view::job(&job))),
        Edit::Noted(job) => Ok(view::job_response(StatusCode::ACCEPTED, &job, &view::job(&job))),
        Edit::Stale(job) => Err(stale(&job)),
        Edit::NotFound => Err(Problem::job_not_found()),
        Edit::Refused(CancelRefusal::Unknown, job) => Err(Problem::new(
            ProblemType::JobUnknown,
            "the effect may have happened; find out first, or cancel with `accept_unknown_effect: true`",
        )
        .with("job", view::job(&job))),
        Edit::Refused(CancelRefusal::Terminal, job) => Err(terminal(&job)),
    }
}

/// The precondition names another version.
pub(super) fn stale(job: &JobRecord) -> Problem {
    let detail = format!("the job is at version {}; read it again and decide again", job.version);
    Problem::new(ProblemType::VersionStale, detail).with("job", view::job(job))
}

/// The job is decided.
pub(super) fn terminal(job: &JobRecord) -> Problem {
    Problem::new(ProblemType::JobTerminal, format!("the job is {} and never changes again", job.state))
        .with("job", view::job(job))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Since {
    after: Option<i64>,
}

/// `GET /v1/jobs/{id}/events`
pub(super) async fn events(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
    since: Result<Query<Since>, axum::extract::rejection::QueryRejection>,
) -> Result<Response, Problem> {
    let Query(since) = since.map_err(|error| Problem::new(ProblemType::InvalidQuery, error.body_text()))?;
    let id = owned(&app, &caller, &id).await?.id;
    let events: Vec<Value> =
        app.store.events(id, since.after.unwrap_or(0)).await?.iter().map(view::event).collect();
    Ok(view::json_response(StatusCode::OK, &json!({ "events": events })))
}

/// `GET /v1/jobs/{id}/reports`
pub(super) async fn reports(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    let id = owned(&app, &caller, &id).await?.id;
    let reports: Vec<Value> = app.store.reports(id).await?.iter().map(view::report).collect();
    Ok(view::json_response(StatusCode::OK, &json!({ "reports": reports })))
}
