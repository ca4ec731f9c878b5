use std::time::Duration;

use uuid::Uuid;

use super::transaction::transaction;
use super::{Beside, EventKind, Store, StoreError, Wait};

impl Store {
    /// Commits the write-ahead mark; false when the attempt was taken away meanwhile and nothing may be sent.
    pub(crate) async fn mark_effect(&self, job: Uuid, number: i32) -> Result<bool, StoreError> {
        // Run once and not again: when the news of the commit is lost, the mark may be there, and then the attempt is
        // treated like any other whose worker vanished.
        let marking = async {
            let mut session = self.begin(Wait::Singly).await?;
            let marked = self
                .query(
                    "WITH marked AS (UPDATE attempts SET state = 'running', effect_started_at = now() \
                        WHERE job_id = $1 AND number = $2 AND state = 'starting' RETURNING job_id, number) \
                     INSERT INTO job_events (job_id, kind, attempt) \
                     SELECT job_id, 'effect-started', number FROM marked",
                )
                .bind(job)
                .bind(number)
                .execute(&mut *session)
                .await?;
            session.commit().await?;
            Ok(marked.rows_affected() == 1)
        };
        tokio::time::timeout(self.limit, marking).await.unwrap_or(Err(StoreError::Silent))
    }

    /// Renews the lease of an attempt; false when it is no longer to be held.
    pub(crate) async fn heartbeat(
        &self,
        job: Uuid,
        number: i32,
        lease: Duration,
    ) -> Result<bool, StoreError> {
        transaction!(self, Wait::Singly, |tx| { self.hold(tx, job, number, lease).await? })
    }

    /// The outcome of an attempt is unknown from now on; false when it was decided before.
    pub(crate) async fn lose_track(
        &self,
        job: Uuid,
        number: i32,
        reason: &str,
        probe_in: Option<Duration>,
    ) -> Result<bool, StoreError> {
        transaction!(self, Wait::Patiently, |tx| {
            let mut lost = false;
            if let Some(record) = self.lock(tx, job).await?
                && let Some(attempt) = record.attempt(number)
                && let Ok(after) = crate::domain::lose_track(&record.job(), number, attempt.job_version)
            {
                let beside = Beside { detail: Some((number, reason)), probe_in, ..Beside::default() };
                self.save(tx, &record, &after, &beside).await?;
                self.log(tx, job, EventKind::AttemptUnknown, Some(number), Some(reason)).await?;
                lost = true;
            }
            lost
        })
    }

    /// Notes what a provider said without deciding anything.
    pub(crate) async fn note(
        &self,
        job: Uuid,
        number: i32,
        kind: EventKind,
        detail: Option<&str>,
        reference: Option<&str>,
    ) -> Result<(), StoreError> {
        transaction!(self, Wait::Patiently, |tx| {
            if let Some(reference) = reference {
                self.query("UPDATE attempts SET provider_reference = $3 WHERE job_id = $1 AND number = $2")
                    .bind(job)
                    .bind(number)
                    .bind(reference)
                    .execute(&mut *tx)
                    .await?;
            }
            self.log(tx, job, kind, Some(number), detail).await?;
        })
    }

    /// Probes an unknown attempt at the next opportunity.
    pub(crate) async fn probe_now(&self, job: Uuid, number: i32) -> Result<(), StoreError> {
        transaction!(self, Wait::Singly, |tx| {
            self.query("UPDATE attempts SET probe_at = now() WHERE job_id = $1 AND number = $2 AND state = 'unknown'")
                .bind(job)
                .bind(number)
                .execute(tx)
                .await?;
        })
    }
}
