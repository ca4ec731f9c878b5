use std::str::FromStr;

use serde::Deserialize;
use serde_json::Value;
use sqlx::Row as _;
use sqlx::postgres::PgRow;
use uuid::Uuid;

use super::StoreError;
use crate::domain::{Attempt, AttemptState, Attention, Cancel, Job, JobState, Mode};

/// A job with its attempts, as one statement read them. Times are microseconds since 1970.
#[derive(Debug, Clone)]
pub(crate) struct JobRecord {
    pub(crate) id: Uuid,
    pub(crate) owner: String,
    pub(crate) key: String,
    pub(crate) fingerprint: Vec<u8>,
    pub(crate) kind: String,
    pub(crate) input: String,
    pub(crate) mode: Mode,
    pub(crate) providers: Vec<String>,
    pub(crate) traceparent: Option<String>,
    pub(crate) state: JobState,
    pub(crate) version: i64,
    pub(crate) completed_by: Option<i32>,
    pub(crate) result: Option<String>,
    pub(crate) failure: Option<String>,
    pub(crate) cancel: Cancel,
    pub(crate) attention: Option<Attention>,
    pub(crate) run_at: i64,
    pub(crate) purged: bool,
    pub(crate) created_at: i64,
    pub(crate) updated_at: i64,
    pub(crate) attempts: Vec<AttemptRecord>,
}

/// An attempt as it is stored.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct AttemptRecord {
    pub(crate) number: i32,
    pub(crate) provider: String,
    pub(crate) state: AttemptState,
    pub(crate) job_version: i64,
    pub(crate) worker: Option<String>,
    pub(crate) effect_started_at: Option<i64>,
    pub(crate) provider_reference: Option<String>,
    pub(crate) detail: Option<String>,
    pub(crate) started_at: i64,
    pub(crate) ended_at: Option<i64>,
}

/// The columns of a [`JobRecord`], to be followed by `FROM jobs j`. A subquery and not a second statement: both parts
/// then come from one snapshot.
macro_rules! job_columns {
    () => {
        "j.id, j.owner, j.idempotency_key, j.fingerprint, j.kind, j.input, j.mode, j.providers, j.traceparent, \
         j.state, j.version, j.completed_by, j.result, j.failure, j.cancel, j.attention, \
         (extract(epoch FROM j.run_at) * 1000000)::bigint AS run_at, j.purged_at IS NOT NULL AS purged, \
         (extract(epoch FROM j.created_at) * 1000000)::bigint AS created_at, \
         (extract(epoch FROM j.updated_at) * 1000000)::bigint AS updated_at, \
         (SELECT coalesce(json_agg(json_build_object( \
             'number', a.number, 'provider', a.provider, 'state', a.state, 'job_version', a.job_version, \
             'worker', a.worker, 'provider_reference', a.provider_reference, 'detail', a.detail, \
             'effect_started_at', (extract(epoch FROM a.effect_started_at) * 1000000)::bigint, \
             'started_at', (extract(epoch FROM a.started_at) * 1000000)::bigint, \
             'ended_at', (extract(epoch FROM a.ended_at) * 1000000)::bigint) ORDER BY a.number), '[]'::json)::text \
          FROM attempts a WHERE a.job_id = j.id) AS attempts"
    };
}
pub(crate) use job_columns;

fn word<T: FromStr<Err = String>>(row: &PgRow, column: &str) -> Result<T, StoreError> {
    row.try_get::<&str, _>(column)?.parse().map_err(|error| StoreError::Corrupt(format!("{column}: {error}")))
}

impl JobRecord {
    pub(crate) fn from_row(row: &PgRow) -> Result<Self, StoreError> {
        let attention: Option<&str> = row.try_get("attention")?;
        let attempts: &str = row.try_get("attempts")?;
        Ok(Self {
            id: row.try_get("id")?,
            owner: row.try_get("owner")?,
            key: row.try_get("idempotency_key")?,
            fingerprint: row.try_get("fingerprint")?,
            kind: row.try_get("kind")?,
            input: row.try_get("input")?,
            mode: word(row, "mode")?,
            providers: row.try_get("providers")?,
            traceparent: row.try_get("traceparent")?,
            state: word(row, "state")?,
            version: row.try_get("version")?,
            completed_by: row.try_get("completed_by")?,
            result: row.try_get("result")?,
            failure: row.try_get("failure")?,
            cancel: word(row, "cancel")?,
            attention: attention.map(str::parse).transpose().map_err(StoreError::Corrupt)?,
            run_at: row.try_get("run_at")?,
            purged: row.try_get("purged")?,
            created_at: row.try_get("created_at")?,
            updated_at: row.try_get("updated_at")?,
            attempts: serde_json::from_str(attempts)
                .map_err(|error| StoreError::Corrupt(format!("attempts: {error}")))?,
        })
    }

    /// What the rules need to know.
    pub(crate) fn job(&self) -> Job {
        Job {
            state: self.state,
            version: self.version,
            completed_by: self.completed_by,
            mode: self.mode,
            cancel: self.cancel,
            attention: self.attention,
            attempts: self
                .attempts
                .iter()
                .map(|attempt| Attempt {
                    number: attempt.number,
                    state: attempt.state,
                    job_version: attempt.job_version,
                    effect_started: attempt.effect_started_at.is_some(),
                })
                .collect(),
        }
    }

    /// The attempt of that number.
    pub(crate) fn attempt(&self, number: i32) -> Option<&AttemptRecord> {
        self.attempts.iter().find(|attempt| attempt.number == number)
    }

    /// The provider that the next attempt uses when nobody names one: the one behind the last attempt's in the
    /// chain, and the last one from then on.
    pub(crate) fn next_provider(&self) -> Option<&str> {
        let after = self.attempts.last().map_or(0, |last| {
            self.providers.iter().position(|name| *name == last.provider).map_or(0, |at| at + 1)
        });
        self.providers.get(after).or(self.providers.last()).map(String::as_str)
    }

    /// The provider behind that one in the chain.
    pub(crate) fn successor(&self, provider: &str) -> Option<&str> {
        let at = self.providers.iter().position(|name| name == provider)?;
        self.providers.get(at + 1).map(String::as_str)
    }

    /// The provider that policy uses: after a definite failure the same one again.
    pub(crate) fn same_provider(&self) -> Option<&str> {
        self.attempts.last().map(|last| last.provider.as_str()).or(self.providers.first().map(String::as_str))
    }

    /// A stored JSON text as a value.
    pub(crate) fn json(text: &str) -> Value {
        // Only valid JSON is ever stored; a damaged row is shown as the text that it is.
        serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
    }
}
