use std::time::Duration;

use sqlx::Row as _;
use uuid::Uuid;

use super::transaction::transaction;
use super::{Beside, EventKind, Store, StoreError, Wait, micros};
use crate::domain::{JobState, Lapse};
use crate::reach::Occasion;

/// What a job leaves behind beside its own row.
const CONTENT: [&str; 4] = [
    "DELETE FROM attempts WHERE job_id = $1",
    "DELETE FROM attempt_reports WHERE job_id = $1",
    "DELETE FROM callback_events WHERE job_id = $1",
    "DELETE FROM job_events WHERE job_id = $1",
];

/// What a sweep over lapsed leases did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Swept {
    pub(crate) requeued: u32,
    pub(crate) unknown: u32,
}

impl Store {
    /// Takes attempts away from workers that fell silent.
    pub(crate) async fn sweep_leases(&self, probe_in: Option<Duration>) -> Result<Swept, StoreError> {
        let lapsed: Vec<(Uuid, i32)> = transaction!(self, Wait::Singly, |tx| {
            self.query(self.rules.sql.lapsed)
                .fetch_all(tx)
                .await?
                .iter()
                .map(|row| Ok((row.try_get("job_id")?, row.try_get("number")?)))
                .collect::<Result<Vec<_>, StoreError>>()?
        })?;
        let mut swept = Swept::default();
        for (job, number) in lapsed {
            let result = match self.sweep_lease(job, number, probe_in).await {
                // Somebody who stands still holds this one; the others don't wait for it.
                Err(StoreError::Locked) => continue,
                result => result?,
            };
            match result {
                Some(JobState::Queued) => swept.requeued += 1,
                Some(_) => swept.unknown += 1,
                None => {}
            }
        }
        Ok(swept)
    }

    async fn sweep_lease(
        &self,
        job: Uuid,
        number: i32,
        probe_in: Option<Duration>,
    ) -> Result<Option<JobState>, StoreError> {
        const STILL_LAPSED: &str = "SELECT lease_until < clock_timestamp() AS lapsed FROM attempts \
             WHERE job_id = $1 AND number = $2 AND lease_until IS NOT NULL FOR UPDATE";
        transaction!(self, Wait::Briefly, |tx| {
            let record = self.lock(tx, job).await?;
            // The worker may have renewed its lease while the job was being locked; its row is locked too now.
            let lapsed = self.query(STILL_LAPSED).bind(job).bind(number).fetch_optional(&mut *tx).await?;
            let lapsed = lapsed.map(|row| row.try_get::<bool, _>("lapsed")).transpose()?.unwrap_or(false);
            let record = match record {
                // Read again: the write-ahead mark may have come between.
                Some(_) if lapsed => self.load(tx, job).await?,
                _ => None,
            };
            let mut swept = None;
            if let Some(record) = record {
                self.note_decision_over(&record);
                let lapse = (self.rules.lapse)(&record.job(), number);
                self.rules.reach.decided(&lapse, |rules| (rules.lapse)(&record.job(), number));
                let (kind, after) = match lapse {
                    Lapse::Requeued(after) => (EventKind::LeaseLapsed, Some(after)),
                    Lapse::Unknown(after) => (EventKind::AttemptUnknown, Some(after)),
                    Lapse::Nothing => (EventKind::LeaseLapsed, None),
                };
                if let Some(after) = after {
                    let reason = "the lease of its worker ran out";
                    let beside = Beside { detail: Some((number, reason)), probe_in, ..Beside::default() };
                    self.save(tx, &record, &after, &beside).await?;
                    self.log(tx, job, kind, Some(number), Some(reason)).await?;
                    self.tell_state(tx, job, record.state, after.state, Some(reason)).await?;
                    swept = Some(after.state);
                }
            }
            swept
        })
    }

    /// Asks for a person's attention where an outcome has been unknown for too long.
    pub(crate) async fn escalate(&self, older_than: Duration) -> Result<u64, StoreError> {
        transaction!(self, Wait::Singly, |tx| {
            let raised = self
                .query(self.rules.sql.escalate)
                .bind(micros(older_than))
                .execute(tx)
                .await?
                .rows_affected();
            if raised > 0 {
                self.rules.reach.met(Occasion::Overdue);
            }
            raised
        })
    }

    /// Removes the content of jobs that were decided long enough ago; their keys stay behind.
    pub(crate) async fn purge(&self, older_than: Duration) -> Result<u64, StoreError> {
        transaction!(self, Wait::Patiently, |tx| {
            self.rules.reach.met(Occasion::Purge);
            let expired =
                self.query(self.rules.sql.expired).bind(micros(older_than)).fetch_all(&mut *tx).await?;
            let mut purged = 0;
            for row in expired {
                let id: Uuid = row.try_get("id")?;
                self.rules.reach.met(Occasion::Purged);
                if self.query(self.rules.sql.bury).bind(id).execute(&mut *tx).await?.rows_affected() == 1 {
                    for statement in CONTENT {
                        self.query(statement).bind(id).execute(&mut *tx).await?;
                    }
                    self.log(tx, id, EventKind::Purged, None, None).await?;
                    purged += 1;
                }
            }
            purged
        })
    }
}
