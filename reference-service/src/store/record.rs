use std::str::FromStr;

use onejob_contracts::gate::Trigger;
use serde::Deserialize;
use serde_json::Value;
use sqlx::Row as _;
use sqlx::postgres::PgRow;
use uuid::Uuid;

use super::StoreError;
use crate::domain::{Attempt, AttemptState, Attention, Cancel, Job, JobState, Mode};
use crate::failover::read_cause;

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
    /// The provider that it moved from by itself, and on what; see [`AttemptRecord::moved`].
    pub(crate) moved_from: Option<String>,
    pub(crate) moved_on: Option<String>,
    pub(crate) started_at: i64,
    pub(crate) ended_at: Option<i64>,
}

impl AttemptRecord {
    /// By what right it is at its provider, where nobody asked for it.
    pub(crate) fn moved(&self) -> Option<Moved> {
        Some(Moved { from: self.moved_from.clone()?, on: read_cause(self.moved_on.as_deref()?) })
    }

    /// It was to go to another provider, and when its turn came the proof for that no longer held.
    fn was_turned_away(&self) -> bool {
        self.moved_from.is_some() && self.state == AttemptState::Failed && self.effect_started_at.is_none()
    }
}

/// A job's own move to another provider: what the gate was asked, and is asked again before each call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Moved {
    /// The provider that failed.
    pub(crate) from: String,
    /// How.
    pub(crate) on: Trigger,
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
             'moved_from', a.moved_from, 'moved_on', a.moved_on, \
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

    /// The provider that policy uses: after a definite failure the same one again, and the one before when the last
    /// attempt was not let go to where it had moved.
    pub(crate) fn same_provider(&self) -> Option<&str> {
        let Some(last) = self.attempts.last() else { return self.providers.first().map(String::as_str) };
        match &last.moved_from {
            Some(from) if last.was_turned_away() => Some(from),
            _ => Some(&last.provider),
        }
    }

    /// By what right policy's next attempt is at `provider`: by that of the attempt there before.
    pub(crate) fn moved_to(&self, provider: &str) -> Option<Moved> {
        self.attempts.iter().rev().find(|attempt| attempt.provider == provider)?.moved()
    }

    /// A stored JSON text as a value.
    pub(crate) fn json(text: &str) -> Value {
        // Only valid JSON is ever stored; a damaged row is shown as the text that it is.
        serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
    }
}
