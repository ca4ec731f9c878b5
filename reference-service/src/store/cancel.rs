use serde_json::{Value, json};
use sqlx::PgConnection;
use uuid::Uuid;

use super::transaction::transaction;
use super::{Beside, EventKind, JobRecord, Store, StoreError, Wait};
use crate::domain::{
    AttemptCancelRefusal, CancelOutcome, Evidence, IfMatch, JobState, ResolveRefusal, RetryPolicy,
    cancel_attempt, resolve,
};

/// What became of a decision from outside.
#[derive(Debug)]
pub(crate) enum Edit<R> {
    /// Done; the job as it is now.
    Done(Box<JobRecord>),
    /// Noted; the job as it is now.
    Noted(Box<JobRecord>),
    /// Refused; the job as it is.
    Refused(R, Box<JobRecord>),
    /// The caller means another version; the job as it is.
    Stale(Box<JobRecord>),
    /// There is no such job.
    NotFound,
}

/// Why a job can't be cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CancelRefusal {
    /// The outcome is unknown, and the caller did not accept that the effect may have happened.
    Unknown,
    /// The job is decided otherwise.
    Terminal,
}

/// What somebody says became of an attempt.
#[derive(Debug, Clone)]
pub(crate) enum Statement {
    Succeeded(Value),
    Failed,
    NotExecuted,
}

impl Store {
    /// Cancels a job.
    pub(crate) async fn cancel(
        &self,
        job: Uuid,
        accept_unknown_effect: bool,
        precondition: Option<&IfMatch>,
    ) -> Result<Edit<CancelRefusal>, StoreError> {
        transaction!(self, Wait::Briefly, |tx| {
            let Some(record) = self.lock(tx, job).await? else { return Ok(Edit::NotFound) };
            // Whoever asks again for what has come about is told so, whatever version they knew (RFC 9110, 13.1.1).
            let came_about = record.job().state == JobState::Cancelled;
            if !came_about && precondition.is_some_and(|wanted| !wanted.allows(record.version)) {
                return Ok(Edit::Stale(Box::new(record)));
            }
            match (self.rules.cancel_job)(&record.job(), accept_unknown_effect) {
                CancelOutcome::Already => Edit::Done(Box::new(record)),
                CancelOutcome::Unknown => {
                    self.log(tx, job, EventKind::CancelRefused, None, Some("the outcome is unknown")).await?;
                    Edit::Refused(CancelRefusal::Unknown, Box::new(record))
                }
                CancelOutcome::Terminal => {
                    self.log(tx, job, EventKind::CancelRefused, None, Some("the job is decided")).await?;
                    Edit::Refused(CancelRefusal::Terminal, Box::new(record))
                }
                CancelOutcome::Requested(after) => {
                    self.save(tx, &record, &after, &Beside::default()).await?;
                    self.log(tx, job, EventKind::CancelRequested, None, None).await?;
                    Edit::Noted(self.again(tx, record).await?)
                }
                CancelOutcome::Cancelled(after) => {
                    self.save(tx, &record, &after, &Beside::default()).await?;
                    self.log(tx, job, EventKind::JobCancelled, None, None).await?;
                    for statement in self.rules.after_cancel {
                        self.query(statement).bind(job).execute(&mut *tx).await?;
                    }
                    Edit::Done(self.again(tx, record).await?)
                }
            }
        })
    }

    /// Gives an attempt up from outside.
    pub(crate) async fn cancel_attempt(
        &self,
        job: Uuid,
        number: i32,
        evidence: &str,
        precondition: &IfMatch,
    ) -> Result<Edit<AttemptCancelRefusal>, StoreError> {
        transaction!(self, Wait::Briefly, |tx| {
            let Some(record) = self.lock(tx, job).await? else { return Ok(Edit::NotFound) };
            if !precondition.allows(record.version) {
                return Ok(Edit::Stale(Box::new(record)));
            }
            match cancel_attempt(&record.job(), number) {
                Err(refusal) => Edit::Refused(refusal, Box::new(record)),
                Ok(after) => {
                    let beside = Beside { detail: Some((number, evidence)), ..Beside::default() };
                    self.save(tx, &record, &after, &beside).await?;
                    self.log(tx, job, EventKind::AttemptCancelled, Some(number), Some(evidence)).await?;
                    self.tell_end(tx, &record, after.state).await?;
                    Edit::Done(self.again(tx, record).await?)
                }
            }
        })
    }

    /// Ends an unknown attempt by evidence. Without a precondition the evidence stands for itself: the provider's.
    pub(crate) async fn resolve(
        &self,
        job: Uuid,
        number: i32,
        statement: &Statement,
        evidence: &str,
        precondition: Option<&IfMatch>,
        policy: &RetryPolicy,
    ) -> Result<Edit<ResolveRefusal>, StoreError> {
        transaction!(self, Wait::Briefly, |tx| {
            let Some(record) = self.lock(tx, job).await? else { return Ok(Edit::NotFound) };
            if precondition.is_some_and(|wanted| !wanted.allows(record.version)) {
                return Ok(Edit::Stale(Box::new(record)));
            }
            let made = record.attempts.len();
            let meant = match statement {
                Statement::Succeeded(_) => Evidence::Succeeded,
                Statement::Failed => Evidence::Failed,
                Statement::NotExecuted => Evidence::NotExecuted { again: policy.allows(made) },
            };
            match resolve(&record.job(), number, meant) {
                Err(refusal) => Edit::Refused(refusal, Box::new(record)),
                Ok(after) => {
                    self.log(tx, job, EventKind::AttemptResolved, Some(number), Some(evidence)).await?;
                    if let Statement::Succeeded(result) = statement {
                        let read = record.attempt(number).map_or(0, |attempt| attempt.job_version);
                        if !self.write_result(tx, &record, number, read, result, None).await? {
                            return Err(StoreError::Again);
                        }
                    } else {
                        let failure = (after.state == JobState::Failed)
                            .then(|| json!({ "code": "resolved-failed", "message": evidence }).to_string());
                        let pause = (after.state == JobState::Queued).then(|| policy.pause(made, None));
                        let beside =
                            Beside { failure, detail: Some((number, evidence)), pause, probe_in: None };
                        self.save(tx, &record, &after, &beside).await?;
                        self.tell_end(tx, &record, after.state).await?;
                    }
                    Edit::Done(self.again(tx, record).await?)
                }
            }
        })
    }

    async fn tell_end(
        &self,
        tx: &mut PgConnection,
        before: &JobRecord,
        after: JobState,
    ) -> Result<(), StoreError> {
        self.tell_state(tx, before.id, before.state, after, None).await
    }

    async fn again(&self, tx: &mut PgConnection, before: JobRecord) -> Result<Box<JobRecord>, StoreError> {
        Ok(Box::new(self.load(tx, before.id).await?.unwrap_or(before)))
    }
}
