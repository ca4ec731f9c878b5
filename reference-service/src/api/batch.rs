use axum::extract::{MatchedPath, Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Value, json};

use super::auth::Caller;
use super::problem::{Problem, ProblemType};
use super::state::App;
use super::submit::{self, Submitted, Wanted};
use super::{body, view};
use crate::domain::{IdempotencyKey, Intent, Json};
use crate::store::NewJob;

/// How many jobs one request may make.
const LARGEST_BATCH: usize = 100;

fn invalid(detail: impl Into<String>) -> Problem {
    Problem::new(ProblemType::InvalidBody, detail)
}

/// `POST /v1/jobs:batch`: several jobs, each under a key of its own, each claimed on its own.
pub(super) async fn create(
    State(app): State<App>,
    caller: Caller,
    route: MatchedPath,
    request: Request,
) -> Result<Response, Problem> {
    let (parts, stream) = request.into_parts();
    let media_type = body::json_media_type(&parts.headers)?.to_owned();
    let raw = body::read_body(stream, &app.config).await?;
    let items = items(submit::read(&app, &raw)?, body::value(&raw)?)?;
    let trace = submit::trace_of(&parts.headers);
    let read = |json: &Json, value: Value| -> Result<NewJob, Problem> {
        let Value::Object(mut members) = value else { return Err(invalid("a job must be an object")) };
        let key = match members.shift_remove("idempotency_key") {
            None => return Err(crate::domain::KeyRefusal::Missing.into()),
            Some(Value::String(told)) => IdempotencyKey::parse(told.as_bytes())?,
            Some(_) => return Err(crate::domain::KeyRefusal::Malformed.into()),
        };
        let wanted = Wanted::read(Value::Object(members))?;
        let intent = Intent {
            method: parts.method.as_str(),
            route: route.as_str(),
            path: parts.uri.path(),
            query: parts.uri.query().unwrap_or_default(),
            media_type: &media_type,
            body: json,
        };
        let canonical = crate::domain::canonical(json);
        let fingerprint = submit::fingerprint(&app, &intent, canonical.as_bytes());
        wanted.into_job(&app, &caller, &key, fingerprint, |rules, key| (rules.batch_key)(key), trace.clone())
    };
    let news: Vec<Result<NewJob, Problem>> =
        items.into_iter().map(|(json, value)| read(&json, value)).collect();

    let mut answers = Vec::with_capacity(news.len());
    for new in news {
        let submitted = match new {
            Ok(new) => submit::submit(&app, new).await,
            Err(problem) => Err(problem),
        };
        answers.push(match submitted {
            Ok(Submitted::Created(job)) => {
                json!({ "status": 201, "replayed": false, "job": view::job(&job) })
            }
            Ok(Submitted::Replayed(job)) => {
                json!({ "status": 200, "replayed": true, "job": view::job(&job) })
            }
            Err(problem) => json!({ "status": problem.code(), "problem": problem.document() }),
        });
    }
    Ok(view::json_response(StatusCode::OK, &json!({ "items": answers })))
}

/// What the item asks for. Its key names the intent and is no part of it, as the header of a single request is none.
fn without_key(item: Json) -> Json {
    match item {
        Json::Object(mut members) => {
            members.retain(|(name, _)| name != "idempotency_key");
            Json::Object(members)
        }
        other => other,
    }
}

/// The jobs of the batch, each as it was received and as a value.
fn items(json: Json, value: Value) -> Result<Vec<(Json, Value)>, Problem> {
    let wrong =
        || invalid(format!("send `{{\"jobs\": [...]}}` with 1 to {LARGEST_BATCH} jobs and nothing else"));
    let (Json::Object(members), Value::Object(mut values)) = (json, value) else { return Err(wrong()) };
    let mut members = members.into_iter();
    let (Some((name, Json::Array(jsons))), None) = (members.next(), members.next()) else {
        return Err(wrong());
    };
    let Some(Value::Array(values)) = values.shift_remove(&name) else { return Err(wrong()) };
    if name != "jobs" || jsons.is_empty() || jsons.len() > LARGEST_BATCH {
        return Err(wrong());
    }
    Ok(jsons.into_iter().map(without_key).zip(values).collect())
}
