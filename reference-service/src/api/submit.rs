use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;
use uuid::Uuid;

use super::auth::Caller;
use super::problem::{Problem, ProblemType};
use super::state::App;
use super::{body, view};
use crate::Profile;
use crate::domain::{Fingerprint, IdempotencyKey, Intent, Json, Mode};
use crate::metrics::Counter;
use crate::rules::Rules;
use crate::store::{Claimed, JobRecord, NewJob, StoreError};

/// The longest name of a kind, in characters.
const LONGEST_KIND: usize = 100;

/// The longest chain of providers.
const MOST_PROVIDERS: usize = 16;

/// What a client asks for.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Wanted {
    kind: String,
    // With `Option`, a missing input would pass for null.
    #[serde(deserialize_with = "any")]
    input: Value,
    mode: Option<Mode>,
    providers: Option<Vec<String>>,
    run_at: Option<String>,
}

fn any<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
    Value::deserialize(deserializer)
}

fn invalid(detail: impl Into<String>) -> Problem {
    Problem::new(ProblemType::InvalidBody, detail)
}

impl Wanted {
    pub(super) fn read(value: Value) -> Result<Self, Problem> {
        let wanted: Self = body::shape(value)?;
        let length = wanted.kind.chars().count();
        if length == 0 || length > LONGEST_KIND {
            return Err(invalid(format!("`kind` must have 1 to {LONGEST_KIND} characters")));
        }
        if wanted.kind.contains('\0') {
            return Err(invalid("`kind` must not contain the character U+0000"));
        }
        Ok(wanted)
    }

    /// Checks what only the configuration knows, and fills in the defaults.
    pub(super) fn into_job(
        self,
        app: &App,
        caller: &Caller,
        key: &IdempotencyKey,
        fingerprint: Fingerprint,
        spelling: fn(&Rules, &str) -> String,
        traceparent: Option<String>,
    ) -> Result<NewJob, Problem> {
        let known: Vec<&str> = app.config.providers.iter().map(|provider| provider.name.as_str()).collect();
        let providers = match self.providers {
            None => known.iter().map(|name| (*name).to_owned()).collect(),
            Some(chain) if chain.is_empty() || chain.len() > MOST_PROVIDERS => {
                return Err(invalid(format!(
                    "`providers` must name 1 to {MOST_PROVIDERS} providers, or be left out"
                )));
            }
            Some(chain) => {
                if let Some(stranger) = chain.iter().find(|name| !known.contains(&name.as_str())) {
                    return Err(invalid(format!(
                        "there is no provider `{stranger}`; there are {}",
                        known.join(", ")
                    )));
                }
                chain
            }
        };
        let run_at = self
            .run_at
            .map(|told| {
                told.parse::<Timestamp>()
                    .map(Timestamp::as_microsecond)
                    .map_err(|error| invalid(format!("`run_at` is no RFC 3339 time: {error}")))
            })
            .transpose()?;
        let spell = |rules: &Rules| {
            let key = (rules.key)(key.as_str());
            if run_at.is_some() { (rules.scheduled_key)(&key) } else { spelling(rules, &key) }
        };
        let rules = &app.store.rules;
        rules.reach.named("key", key.as_str(), spell);
        Ok(NewJob {
            id: Uuid::now_v7(),
            owner: caller.owner.clone(),
            key: spell(rules),
            fingerprint,
            kind: self.kind,
            input: self.input.to_string(),
            mode: self.mode.unwrap_or(Mode::Exclusive),
            providers,
            traceparent,
            run_at,
        })
    }
}

/// What a claim came to, for the client.
pub(super) enum Submitted {
    Created(Box<JobRecord>),
    Replayed(Box<JobRecord>),
}

impl Submitted {
    pub(super) fn respond(&self) -> Response {
        match self {
            Self::Created(job) => view::job_response(StatusCode::CREATED, job, &view::job(job)),
            Self::Replayed(job) => {
                let mut response = view::job_response(StatusCode::OK, job, &view::job(job));
                response
                    .headers_mut()
                    .insert(HeaderName::from_static("idempotent-replayed"), HeaderValue::from_static("true"));
                response
            }
        }
    }
}

/// Claims the key. The claim goes on when the client disconnects: a request is never left half done.
pub(super) async fn submit(app: &App, new: NewJob) -> Result<Submitted, Problem> {
    let store = app.store.clone();
    let claimed = if store.rules.outlives_client {
        let claimed = tokio::spawn(async move { store.claim(&new).await }).await;
        claimed.map_err(|_| Problem::new(ProblemType::Internal, "the claim was interrupted"))?
    } else {
        store.claim(&new).await
    };
    let count = |counter| app.metrics.count(counter);
    match claimed {
        Ok(Claimed::Created(job)) => {
            count(Counter::ClaimCreated);
            tracing::debug!(job = %job.id, "a new intent");
            Ok(Submitted::Created(job))
        }
        Ok(Claimed::Replayed(job)) => {
            count(Counter::ClaimReplayed);
            tracing::debug!(job = %job.id, "a known intent");
            Ok(Submitted::Replayed(job))
        }
        Ok(Claimed::Conflict) => {
            count(Counter::ClaimConflict);
            let status = match app.config.profile {
                Profile::Job => 409,
                Profile::Ietf => 422,
            };
            Err(Problem::new(
                ProblemType::KeyConflict,
                "this key was used for another request, whose job is unchanged; use a new key for a new intent",
            )
            .status(status))
        }
        Ok(Claimed::Expired) => {
            count(Counter::ClaimExpired);
            Err(Problem::new(
                ProblemType::KeyExpired,
                "the job of this key was decided and purged; nothing was executed again; \
                 use a new key only if you mean a new intent",
            ))
        }
        Err(StoreError::Locked) => {
            count(Counter::ClaimInFlight);
            let detail = "a request with this key is being processed; retry with the same key";
            Err(Problem::new(ProblemType::RequestInFlight, detail).retry_after_a_second())
        }
        Err(error) => {
            count(Counter::DatabaseErrors);
            Err(error.into())
        }
    }
}

/// The request's trace, to be passed on to the provider.
pub(super) fn trace_of(headers: &axum::http::HeaderMap) -> Option<String> {
    headers
        .get("traceparent")
        .and_then(|value| value.to_str().ok())
        .filter(|text| text.len() <= 256)
        .map(str::to_owned)
}

/// All lines of the key's header.
pub(super) fn key_of(app: &App, headers: &axum::http::HeaderMap) -> Result<IdempotencyKey, Problem> {
    let name = HeaderName::from_static("idempotency-key");
    let lines: Vec<&[u8]> = headers.get_all(name).iter().map(HeaderValue::as_bytes).collect();
    let rules = &app.store.rules;
    let key = (rules.read_key)(&lines);
    rules.reach.decided(&key, |rules| (rules.read_key)(&lines));
    Ok(key?)
}

/// The `If-Match` header, if there is one.
pub(super) fn precondition(headers: &axum::http::HeaderMap) -> Option<crate::domain::IfMatch> {
    headers
        .get(header::IF_MATCH)
        .map(|value| crate::domain::IfMatch::parse(value.to_str().unwrap_or_default()))
}

/// Reads a body.
pub(super) fn read(app: &App, raw: &[u8]) -> Result<Json, Problem> {
    let rules = &app.store.rules;
    let read = (rules.read)(raw);
    rules.reach.decided(&read, |rules| (rules.read)(raw));
    Ok(read?)
}

/// What makes two requests one intent.
pub(super) fn fingerprint(app: &App, intent: &Intent<'_>, raw: &[u8]) -> Fingerprint {
    let rules = &app.store.rules;
    let fingerprint = (rules.fingerprint)(intent, raw);
    if rules.reach.wanted() {
        let hex = |fingerprint: Fingerprint| format!("{fingerprint:?}");
        rules.reach.named("fingerprint", &hex(fingerprint), |rules| hex((rules.fingerprint)(intent, raw)));
    }
    fingerprint
}
