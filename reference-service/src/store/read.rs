use sqlx::{PgConnection, Row as _};
use uuid::Uuid;

use super::transaction::transaction;
use super::{JobRecord, Store, StoreError, Wait, job_columns};
use crate::domain::JobState;
use crate::reach::Occasion;

const BY_ID: &str = concat!("SELECT ", job_columns!(), " FROM jobs j WHERE j.id = $1");
const LIST: &str = concat!(
    "SELECT ",
    job_columns!(),
    " FROM jobs j WHERE j.owner = $1 AND ($2::uuid IS NULL OR j.id < $2) AND ($3::text IS NULL OR j.state = $3) \
     AND j.purged_at IS NULL ORDER BY j.id DESC LIMIT $4"
);

/// One line of a job's log.
#[derive(Debug)]
pub(crate) struct EventRecord {
    pub(crate) seq: i64,
    pub(crate) at: i64,
    pub(crate) kind: String,
    pub(crate) attempt: Option<i32>,
    pub(crate) detail: Option<String>,
}

/// A result that arrived and was not used.
#[derive(Debug)]
pub(crate) struct ReportRecord {
    pub(crate) attempt: i32,
    pub(crate) at: i64,
    pub(crate) source: String,
    pub(crate) outcome: String,
    pub(crate) result: Option<String>,
    pub(crate) read_version: i64,
    pub(crate) job_version: i64,
}

/// Unknown jobs: how many, and for how long the oldest.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct UnknownJobs {
    pub(crate) count: i64,
    pub(crate) oldest_seconds: f64,
}

impl Store {
    /// Reads a job in a transaction that is under way.
    pub(super) async fn load(
        &self,
        tx: &mut PgConnection,
        id: Uuid,
    ) -> Result<Option<JobRecord>, StoreError> {
        let row = self.query(BY_ID).bind(id).fetch_optional(tx).await?;
        row.as_ref().map(JobRecord::from_row).transpose()
    }

    /// Locks a job, then reads it. Two statements: after a wait for the lock, the snapshot of the first one is older
    /// than what the lock's last holder wrote.
    pub(super) async fn lock(
        &self,
        tx: &mut PgConnection,
        id: Uuid,
    ) -> Result<Option<JobRecord>, StoreError> {
        self.query("SELECT 1 FROM jobs WHERE id = $1 FOR UPDATE").bind(id).execute(&mut *tx).await?;
        self.load(tx, id).await
    }

    /// The job of an owner.
    pub(crate) async fn job_of(&self, owner: &str, id: Uuid) -> Result<Option<JobRecord>, StoreError> {
        transaction!(self, Wait::Singly, |tx| {
            let row = self.query(self.rules.sql.load_owned).bind(id).bind(owner).fetch_optional(tx).await?;
            if row.is_none() {
                self.rules.reach.met(Occasion::NotFound);
            }
            row.as_ref().map(JobRecord::from_row).transpose()?
        })
    }

    /// The job that holds a key of an owner.
    pub(crate) async fn job_by_key(&self, owner: &str, key: &str) -> Result<Option<JobRecord>, StoreError> {
        transaction!(self, Wait::Singly, |tx| { self.find_by_key(tx, owner, key).await? })
    }

    /// Jobs of an owner, newest first, older than `before`.
    pub(crate) async fn list(
        &self,
        owner: &str,
        before: Option<Uuid>,
        state: Option<JobState>,
        limit: i64,
    ) -> Result<Vec<JobRecord>, StoreError> {
        transaction!(self, Wait::Singly, |tx| {
            self.query(LIST)
                .bind(owner)
                .bind(before)
                .bind(state.map(JobState::as_str))
                .bind(limit)
                .fetch_all(tx)
                .await?
                .iter()
                .map(JobRecord::from_row)
                .collect::<Result<Vec<_>, _>>()?
        })
    }

    /// The log of a job, from behind `after` on.
    pub(crate) async fn events(&self, job: Uuid, after: i64) -> Result<Vec<EventRecord>, StoreError> {
        transaction!(self, Wait::Singly, |tx| {
            self.query(
                "SELECT seq, (extract(epoch FROM at) * 1000000)::bigint AS at, kind, attempt, detail \
                 FROM job_events WHERE job_id = $1 AND seq > $2 ORDER BY seq LIMIT 10000",
            )
            .bind(job)
            .bind(after)
            .fetch_all(tx)
            .await?
            .iter()
            .map(|row| {
                Ok(EventRecord {
                    seq: row.try_get("seq")?,
                    at: row.try_get("at")?,
                    kind: row.try_get("kind")?,
                    attempt: row.try_get("attempt")?,
                    detail: row.try_get("detail")?,
                })
            })
            .collect::<Result<Vec<_>, StoreError>>()?
        })
    }

    /// Results of a job that arrived and were not used.
    pub(crate) async fn reports(&self, job: Uuid) -> Result<Vec<ReportRecord>, StoreError> {
        transaction!(self, Wait::Singly, |tx| {
            self.query(
                "SELECT attempt, (extract(epoch FROM at) * 1000000)::bigint AS at, source, outcome, result, \
                 read_version, job_version FROM attempt_reports WHERE job_id = $1 ORDER BY id LIMIT 1000",
            )
            .bind(job)
            .fetch_all(tx)
            .await?
            .iter()
            .map(|row| {
                Ok(ReportRecord {
                    attempt: row.try_get("attempt")?,
                    at: row.try_get("at")?,
                    source: row.try_get("source")?,
                    outcome: row.try_get("outcome")?,
                    result: row.try_get("result")?,
                    read_version: row.try_get("read_version")?,
                    job_version: row.try_get("job_version")?,
                })
            })
            .collect::<Result<Vec<_>, StoreError>>()?
        })
    }

    /// Unknown jobs, for the metrics.
    pub(crate) async fn unknown_jobs(&self) -> Result<UnknownJobs, StoreError> {
        transaction!(self, Wait::Singly, |tx| {
            let row = self
                .query(
                    "SELECT count(*) AS count, \
                     coalesce(extract(epoch FROM now() - min(unknown_since)), 0)::float8 AS oldest \
                     FROM jobs WHERE state = 'unknown'",
                )
                .fetch_one(tx)
                .await?;
            UnknownJobs { count: row.try_get("count")?, oldest_seconds: row.try_get("oldest")? }
        })
    }
}
