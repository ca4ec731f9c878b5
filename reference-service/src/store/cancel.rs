use serde_json::{Value, json};
use sqlx::PgConnection;
use uuid::Uuid;

use super::transaction::transaction;
use super::{Beside, EventKind, JobRecord, Store, StoreError, Wait};
use crate::domain::{
    AttemptCancelRefusal, AttemptState, CancelOutcome, Evidence, IfMatch, JobState, ResolveRefusal,
    RetryPolicy, resolve,
};
use crate::reach::Occasion;

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
            self.note_decision_over(&record);
            // Whoever asks again for what has come about is told so, whatever version they knew (RFC 9110, 13.1.1).
            let came_about = record.job().state == JobState::Cancelled;
            if !came_about && !self.allowed(precondition, &record) {
                return Ok(Edit::Stale(Box::new(record)));
            }
            let outcome = (self.rules.cancel_job)(&record.job(), accept_unknown_effect);
            let reach = &self.rules.reach;
            reach.decided(&outcome, |rules| (rules.cancel_job)(&record.job(), accept_unknown_effect));
            match outcome {
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
                    self.rules.reach.met(Occasion::Cancelled);
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
            self.note_decision_over(&record);
            if !self.allowed(Some(precondition), &record) {
                return Ok(Edit::Stale(Box::new(record)));
            }
            let given_up = (self.rules.cancel_attempt)(&record.job(), number);
            self.rules.reach.decided(&given_up, |rules| (rules.cancel_attempt)(&record.job(), number));
            match given_up {
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
            if !self.allowed(precondition, &record) {
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

    /// Whether the caller means this version of the job, or doesn't say which one he means.
    fn allowed(&self, precondition: Option<&IfMatch>, record: &JobRecord) -> bool {
        let Some(wanted) = precondition else { return true };
        let allowed = (self.rules.allows)(wanted, record.version);
        self.rules.reach.met(Occasion::Precondition);
        self.rules.reach.decided(&allowed, |rules| (rules.allows)(wanted, record.version));
        allowed
    }

    /// Notes that somebody decides over a job from outside while its provider may be at work.
    pub(super) fn note_decision_over(&self, record: &JobRecord) {
        if record.attempts.iter().any(|attempt| attempt.state == AttemptState::Running) {
            self.rules.reach.met(Occasion::DecidedWhileOut);
        }
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
