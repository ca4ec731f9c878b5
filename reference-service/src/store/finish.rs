use std::time::Duration;

use onejob_contracts::gate::Trigger;
use serde_json::{Value, json};
use sqlx::{PgConnection, Row as _};
use uuid::Uuid;

use super::start::Going;
use super::transaction::transaction;
use super::{Beside, EventKind, JobRecord, Moved, Store, StoreError, Wait};
use crate::domain::{AttemptState, Discarded, JobState, RetryPolicy, wire_enum};
use crate::reach::Occasion;
use crate::rules::Rules;

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
    Failed {
        code: String,
        message: String,
        retry: bool,
        retry_after: Option<Duration>,
        /// What was decided about going on elsewhere.
        moving: Move,
    },
}

/// Whether a job whose attempt failed goes on at the next provider of its chain.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Move {
    /// There is none, or jobs never move on their own.
    NotAsked,
    /// It may.
    Allowed {
        /// To whom.
        to: String,
        /// On what.
        on: Trigger,
        /// By what right.
        by: String,
    },
    /// It may not.
    Refused(Unmoved),
}

/// Why a job stays where it is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Unmoved {
    /// Who could have taken over.
    pub(crate) to: String,
    /// A word for machines.
    pub(crate) code: &'static str,
    /// What is missing, in a sentence.
    pub(crate) reason: String,
}

impl std::fmt::Display for Unmoved {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "not moved to `{}` ({}): {}", self.to, self.code, self.reason)
    }
}

/// What became of what an attempt brought home.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Finished {
    /// It decided the job, or moved it on.
    Accepted(JobState),
    /// The job goes on at another provider.
    Moved,
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
                let counts = |rules: &Rules| (rules.succeed)(&record.job(), number, read).map(drop);
                let counted = counts(&self.rules);
                self.rules.reach.decided(&counted, counts);
                if let Err(discarded) = counted {
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
            Outcome::Failed { .. } => self.fail_in(tx, job, number, outcome, source, policy).await,
        }
    }

    async fn fail_in(
        &self,
        tx: &mut PgConnection,
        job: Uuid,
        number: i32,
        outcome: &Outcome,
        source: Source,
        policy: &RetryPolicy,
    ) -> Result<Finished, StoreError> {
        let Outcome::Failed { code, message, retry, retry_after, moving } = outcome else {
            return Ok(Finished::NotFound);
        };
        let Some(record) = self.lock(tx, job).await? else { return Ok(Finished::NotFound) };
        let Some(attempt) = record.attempt(number) else { return Ok(Finished::NotFound) };
        let told_before = attempt.detail.as_deref().is_some_and(|detail| detail.starts_with(message));
        if attempt.state == AttemptState::Failed && told_before {
            return Ok(Finished::Accepted(record.state));
        }
        let made = record.attempts.len();
        let (to, unmoved) = match moving {
            Move::NotAsked => (None, None),
            Move::Allowed { to, on, by } if policy.allows(made) => (Some((to, *on, by)), None),
            Move::Allowed { to, .. } => (None, Some(used_up(to, made))),
            Move::Refused(unmoved) => (None, Some(unmoved.clone())),
        };
        let again = policy.allows(made) && (*retry || to.is_some());
        let after = match crate::domain::fail(&record.job(), number, attempt.job_version, again) {
            Ok(after) => after,
            Err(discarded) => {
                return self.discard(tx, &record, number, outcome, source, discarded).await;
            }
        };
        let to = to.filter(|_| after.state == JobState::Queued);
        let failure =
            (after.state == JobState::Failed).then(|| failure(code, message, unmoved.as_ref()).to_string());
        let pause =
            (after.state == JobState::Queued && to.is_none()).then(|| policy.pause(made, *retry_after));
        let detail = match &unmoved {
            Some(unmoved) => format!("{message}; {unmoved}"),
            None => message.clone(),
        };
        let beside = Beside { failure, detail: Some((number, &detail)), pause, probe_in: None };
        self.save(tx, &record, &after, &beside).await?;
        self.log(tx, job, EventKind::AttemptFailed, Some(number), Some(message)).await?;
        if let Some(unmoved) = &unmoved {
            let detail = unmoved.to_string();
            self.log(tx, job, EventKind::FailoverRefused, Some(number), Some(&detail)).await?;
        }
        if let Some((to, on, by)) = to {
            let from = &attempt.provider;
            let moved = Moved { from: from.clone(), on };
            let detail = format!("from `{from}` to `{to}` by {by}");
            self.log(tx, job, EventKind::FailedOver, Some(number), Some(&detail)).await?;
            return self.go_on_at(tx, job, to, &moved).await;
        }
        self.tell_state(tx, job, record.state, after.state, Some(message)).await?;
        Ok(Finished::Accepted(after.state))
    }

    /// Records the attempt at the next provider in the transaction that ends the one before: there is no moment at
    /// which the job waits for somebody to decide once more, on what may have changed meanwhile.
    async fn go_on_at(
        &self,
        tx: &mut PgConnection,
        job: Uuid,
        provider: &str,
        moved: &Moved,
    ) -> Result<Finished, StoreError> {
        let Some(record) = self.load(tx, job).await? else { return Ok(Finished::NotFound) };
        match self.may_start(&record.job(), |rules| rules.start) {
            Ok(after) => {
                let going = Going { provider, moved: Some(moved), holder: None };
                self.add_attempt(tx, &record, &after, going).await?;
                self.wake_workers(tx).await?;
                Ok(Finished::Moved)
            }
            // A queued job without a live attempt can always go on.
            Err(_) => Err(StoreError::Changed(record.state)),
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
            self.rules.reach.met(Occasion::LostRace);
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
            self.rules.reach.met(Occasion::LostRace);
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

fn used_up(to: &str, made: usize) -> Unmoved {
    Unmoved {
        to: to.to_owned(),
        code: "attempts_used_up",
        reason: format!("all {made} attempts that the job may make on its own are made"),
    }
}

fn failure(code: &str, message: &str, unmoved: Option<&Unmoved>) -> Value {
    let mut failure = json!({ "code": code, "message": message });
    if let Some(unmoved) = unmoved {
        failure["failover"] = json!({ "to": unmoved.to, "code": unmoved.code, "reason": unmoved.reason });
    }
    failure
}
