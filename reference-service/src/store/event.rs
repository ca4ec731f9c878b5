use sqlx::PgConnection;
use uuid::Uuid;

use super::{Store, StoreError};
use crate::domain::wire_enum;

wire_enum! {
    /// What the log of a job tells.
    pub(crate) enum EventKind {
        /// The key was new.
        Created => "created",
        /// A request for the same intent was told the same job.
        Replayed => "replayed",
        /// The same key with another payload was refused.
        ConflictRefused => "conflict-refused",
        /// An attempt was recorded.
        AttemptStarted => "attempt-started",
        /// Somebody asked for an attempt that would have been one too many.
        AttemptRefused => "attempt-refused",
        /// The write-ahead mark was committed; the provider is called next.
        EffectStarted => "effect-started",
        /// The provider took the work and reports later.
        ProviderAccepted => "provider-accepted",
        /// The provider said that it saw this job before.
        DuplicateReported => "duplicate-reported",
        /// The outcome of an attempt became unknown.
        AttemptUnknown => "attempt-unknown",
        /// An attempt definitely had no effect.
        AttemptFailed => "attempt-failed",
        /// A job moves to another provider: it has proven that it meets the contract.
        FailedOver => "failed-over",
        /// A job could have moved to another provider, and something was missing.
        FailoverRefused => "failover-refused",
        /// An attempt was given up from outside.
        AttemptCancelled => "attempt-cancelled",
        /// An attempt ended by evidence.
        AttemptResolved => "attempt-resolved",
        /// A lease ran out before the provider was called.
        LeaseLapsed => "lease-lapsed",
        /// The job went back to the queue.
        Requeued => "requeued",
        /// An attempt's result became the job's.
        ResultAccepted => "result-accepted",
        /// A result arrived after the job was decided over.
        ResultDiscarded => "result-discarded",
        /// The job failed for good.
        JobFailed => "job-failed",
        /// The job was cancelled.
        JobCancelled => "job-cancelled",
        /// A wish to cancel was noted.
        CancelRequested => "cancel-requested",
        /// A wish to cancel was refused.
        CancelRefused => "cancel-refused",
        /// A person should look.
        AttentionRaised => "attention-raised",
        /// A provider was asked what became of an attempt.
        Probed => "probed",
        /// A callback arrived for the first time.
        CallbackReceived => "callback-received",
        /// Retention removed the content of the job.
        Purged => "purged",
    }
}

impl Store {
    /// Appends to the log, in the transaction that does what it tells.
    pub(crate) async fn log(
        &self,
        tx: &mut PgConnection,
        job: Uuid,
        kind: EventKind,
        attempt: Option<i32>,
        detail: Option<&str>,
    ) -> Result<(), StoreError> {
        self.query("INSERT INTO job_events (job_id, kind, attempt, detail) VALUES ($1, $2, $3, $4)")
            .bind(job)
            .bind(kind.as_str())
            .bind(attempt)
            .bind(detail)
            .execute(tx)
            .await?;
        Ok(())
    }

    /// Tells the workers of all processes that there is something to do, once this transaction is committed.
    pub(crate) async fn wake_workers(&self, tx: &mut PgConnection) -> Result<(), StoreError> {
        self.query("SELECT pg_notify('onejob_work', '')::text").execute(tx).await?;
        Ok(())
    }
}
