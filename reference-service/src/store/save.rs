use std::time::Duration;

use sqlx::PgConnection;

use super::{JobRecord, Store, StoreError, micros};
use crate::domain::{AttemptState, Job};
use crate::reach::Occasion;

/// What a transition writes beside the states.
#[derive(Debug, Default)]
pub(crate) struct Beside<'a> {
    /// Why the job failed, as JSON.
    pub(crate) failure: Option<String>,
    /// What is known of the attempt that moved: number and a sentence.
    pub(crate) detail: Option<(i32, &'a str)>,
    /// How long a requeued job waits.
    pub(crate) pause: Option<Duration>,
    /// When an attempt that became unknown is probed first.
    pub(crate) probe_in: Option<Duration>,
}

impl Store {
    /// Writes the difference between a job that was read under its lock and what the rules made of it. New attempts
    /// are inserted by whoever knows their provider.
    pub(super) async fn save(
        &self,
        tx: &mut PgConnection,
        before: &JobRecord,
        after: &Job,
        beside: &Beside<'_>,
    ) -> Result<(), StoreError> {
        if after.attempts.iter().any(|attempt| attempt.state == AttemptState::Unknown) {
            self.rules.reach.met(Occasion::UnknownAttempt);
        }
        let written = self
            .query(
                "UPDATE jobs SET state = $3, version = $4, completed_by = $5, cancel = $6, attention = $7, \
                    failure = coalesce($8, failure), \
                    run_at = CASE WHEN $9::bigint IS NULL THEN run_at \
                                  ELSE now() + $9 * interval '1 microsecond' END, \
                    unknown_since = CASE WHEN $3 = 'unknown' THEN coalesce(unknown_since, now()) END, \
                    settled_at = CASE WHEN $10 THEN coalesce(settled_at, now()) END, updated_at = now() \
                 WHERE id = $1 AND version = $2",
            )
            .bind(before.id)
            .bind(before.version)
            .bind(after.state.as_str())
            .bind(after.version)
            .bind(after.completed_by)
            .bind(after.cancel.as_str())
            .bind(after.attention.map(crate::domain::Attention::as_str))
            .bind(&beside.failure)
            .bind(beside.pause.map(micros))
            .bind(after.state.is_terminal())
            .execute(&mut *tx)
            .await?;
        if written.rows_affected() != 1 {
            return Err(StoreError::Changed(before.state));
        }
        for attempt in &after.attempts {
            let Some(old) = before.attempt(attempt.number) else { continue };
            if old.state == attempt.state && old.job_version == attempt.job_version {
                continue;
            }
            let detail =
                beside.detail.filter(|(number, _)| *number == attempt.number).map(|(_, detail)| detail);
            let written = self
                .query(
                    "UPDATE attempts SET state = $3, job_version = $4, detail = coalesce($5, detail), \
                        lease_until = CASE WHEN $3 IN ('starting', 'running') THEN lease_until END, \
                        probe_at = CASE WHEN $3 = 'unknown' THEN now() + $6::bigint * interval '1 microsecond' END, \
                        ended_at = CASE WHEN $7 THEN NULL ELSE coalesce(ended_at, now()) END \
                     WHERE job_id = $1 AND number = $2 AND state = $8",
                )
                .bind(before.id)
                .bind(attempt.number)
                .bind(attempt.state.as_str())
                .bind(attempt.job_version)
                .bind(detail)
                .bind(beside.probe_in.map(micros))
                .bind(attempt.state.is_live())
                .bind(old.state.as_str())
                .execute(&mut *tx)
                .await?;
            if written.rows_affected() != 1 {
                // Only the write-ahead mark moves an attempt without the job's lock: decide again on what is there.
                return Err(StoreError::Again);
            }
        }
        Ok(())
    }
}
