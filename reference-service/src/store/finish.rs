use std::time::Duration;

use serde_json::{Value, json};
use sqlx::{PgConnection, Row as _};
use uuid::Uuid;

use super::transaction::transaction;
use super::{Beside, EventKind, JobRecord, Store, StoreError, Wait};
use crate::domain::{AttemptState, Discarded, JobState, RetryPolicy, wire_enum};

wire_enum! {
    /// Who brought a result.
    pub(crate) enum Source {
        /// The worker that made the call.
        Worker => "worker",
        /// The provider, by itself.
        Callback => "callback",
        /// The provider, asked.
        Probe => "probe",
        /// A person.
        Operator => "operator",
    }
}

/// What an attempt brings home.
#[derive(Debug, Clone)]
pub(crate) enum Outcome {
    /// The effect happened.
    Succeeded { result: Value, reference: Option<String> },
    /// It definitely did not.
    Failed { code: String, message: String, retry: bool, retry_after: Option<Duration> },
}

/// What became of what an attempt brought home.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Finished {
    /// It decided the job, or moved it on.
    Accepted(JobState),
    /// Somebody else had decided: kept for audit.
    Discarded,
    /// There is no such attempt.
    NotFound,
}

impl Store {
    /// Takes what an attempt brings home.
    pub(crate) async fn finish(
        &self,
        job: Uuid,
        number: i32,
        outcome: &Outcome,
        source: Source,
        policy: &RetryPolicy,
    ) -> Result<Finished, StoreError> {
        transaction!(self, Wait::Patiently, |tx| {
            self.finish_in(tx, job, number, outcome, source, policy).await?
        })
    }

    /// The same, once: a conflict with a concurrent transaction is the caller's to handle.
    pub(crate) async fn finish_once(
        &self,
        job: Uuid,
        number: i32,
        outcome: &Outcome,
        source: Source,
        policy: &RetryPolicy,
    ) -> Result<Finished, StoreError> {
        let mut session = self.begin(Wait::Patiently).await?;
        let finished = self.finish_in(&mut session, job, number, outcome, source, policy).await?;
        session.commit().await?;
        Ok(finished)
    }

    /// The same in a transaction that is under way. [`StoreError::Again`] asks to run it again on what is there now.
    pub(super) async fn finish_in(
        &self,
        tx: &mut PgConnection,
        job: Uuid,
        number: i32,
        outcome: &Outcome,
        source: Source,
        policy: &RetryPolicy,
    ) -> Result<Finished, StoreError> {
        match outcome {
            Outcome::Succeeded { result, reference } => {
                // Read without a lock: losers, who come in crowds, find out here and never queue for the row.
                let Some(record) = self.load(tx, job).await? else { return Ok(Finished::NotFound) };
                let Some(attempt) = record.attempt(number) else { return Ok(Finished::NotFound) };
                let read = attempt.job_version;
                if let Err(discarded) = (self.rules.succeed)(&record.job(), number, read) {
                    if record.completed_by == Some(number) && record.result == Some(result.to_string()) {
                        // This very result is what decided: only the news of it got lost, or it is told twice.
                        return Ok(Finished::Accepted(record.state));
                    }
                    return self.discard(tx, &record, number, outcome, source, discarded).await;
                }
                if !self.write_result(tx, &record, number, read, result, reference.as_deref()).await? {
                    return Err(StoreError::Again);
                }
                Ok(Finished::Accepted(JobState::Succeeded))
            }
            Outcome::Failed { code, message, retry, retry_after } => {
                let Some(record) = self.lock(tx, job).await? else { return Ok(Finished::NotFound) };
                let Some(attempt) = record.attempt(number) else { return Ok(Finished::NotFound) };
                if attempt.state == AttemptState::Failed && attempt.detail.as_deref() == Some(message) {
                    return Ok(Finished::Accepted(record.state));
                }
                let made = record.attempts.len();
                let again = *retry && policy.allows(made);
                let after = match crate::domain::fail(&record.job(), number, attempt.job_version, again) {
                    Ok(after) => after,
                    Err(discarded) => {
                        return self.discard(tx, &record, number, outcome, source, discarded).await;
                    }
                };
                let failure = (after.state == JobState::Failed)
                    .then(|| json!({ "code": code, "message": message }).to_string());
                let pause = (after.state == JobState::Queued).then(|| policy.pause(made, *retry_after));
                let beside = Beside { failure, detail: Some((number, message)), pause, probe_in: None };
                self.save(tx, &record, &after, &beside).await?;
                self.log(tx, job, EventKind::AttemptFailed, Some(number), Some(message)).await?;
                self.tell_state(tx, job, record.state, after.state, Some(message)).await?;
                Ok(Finished::Accepted(after.state))
            }
        }
    }

    /// The compare-and-swap, and with it everything that follows from a decided job. False when it touched no row.
    pub(super) async fn write_result(
        &self,
        tx: &mut PgConnection,
        record: &JobRecord,
        number: i32,
        read: i64,
        result: &Value,
        reference: Option<&str>,
    ) -> Result<bool, StoreError> {
        let decided = self
            .query(self.rules.sql.finish)
            .bind(record.id)
            .bind(read)
            .bind(result.to_string())
            .bind(number)
            .execute(&mut *tx)
            .await?
            .rows_affected();
        if decided == 0 {
            return Ok(false);
        }
        let moved = self
            .query(self.rules.sql.come_home)
            .bind(record.id)
            .bind(number)
            .bind(reference)
            .fetch_all(&mut *tx)
            .await?
            .iter()
            .map(|row| row.try_get::<i32, _>("number"))
            .collect::<Result<Vec<_>, _>>()?;
        if !moved.contains(&number) {
            return Ok(false);
        }
        self.log(tx, record.id, EventKind::ResultAccepted, Some(number), None).await?;
        Ok(true)
    }

    /// Keeps a result that came too late, for audit.
    pub(super) async fn discard(
        &self,
        tx: &mut PgConnection,
        record: &JobRecord,
        number: i32,
        outcome: &Outcome,
        source: Source,
        Discarded { read, now }: Discarded,
    ) -> Result<Finished, StoreError> {
        let (word, result) = match outcome {
            Outcome::Succeeded { result, .. } => ("succeeded", result.to_string()),
            Outcome::Failed { code, message, .. } => {
                ("failed", json!({ "code": code, "message": message }).to_string())
            }
        };
        self.query(
            "INSERT INTO attempt_reports (job_id, attempt, source, outcome, result, read_version, job_version) \
             VALUES ($1, $2, $3, $4, $5, $6, $7)",
        )
        .bind(record.id)
        .bind(number)
        .bind(source.as_str())
        .bind(word)
        .bind(result)
        .bind(read)
        .bind(now)
        .execute(&mut *tx)
        .await?;
        let detail = format!("the attempt read version {read}; the job is {} at version {now}", record.state);
        self.log(tx, record.id, EventKind::ResultDiscarded, Some(number), Some(&detail)).await?;
        Ok(Finished::Discarded)
    }

    /// Logs what a transition made of the job, and wakes the workers when it is theirs again.
    pub(super) async fn tell_state(
        &self,
        tx: &mut PgConnection,
        job: Uuid,
        before: JobState,
        after: JobState,
        detail: Option<&str>,
    ) -> Result<(), StoreError> {
        let kind = match after {
            JobState::Queued => EventKind::Requeued,
            JobState::Failed => EventKind::JobFailed,
            JobState::Cancelled => EventKind::JobCancelled,
            JobState::Running | JobState::Unknown | JobState::Succeeded => return Ok(()),
        };
        if before == after && after.is_terminal() {
            return Ok(());
        }
        self.log(tx, job, kind, None, detail).await?;
        if after == JobState::Queued {
            self.wake_workers(tx).await?;
        }
        Ok(())
    }
}
