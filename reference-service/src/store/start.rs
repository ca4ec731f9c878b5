use std::time::{Duration, SystemTime};

use sqlx::{PgConnection, Row as _};
use uuid::Uuid;

use super::transaction::transaction;
use super::{AttemptRecord, Beside, EventKind, JobRecord, Moved, Store, StoreError, Wait, micros};
use crate::domain::{Job, StartRefusal};
use crate::failover::spell_cause;
use crate::reach::Occasion;
use crate::rules::{Rules, StartRule};

/// The provider of an attempt whose job has no chain.
pub(crate) const NO_PROVIDER: &str = "none";

/// An attempt that a worker holds.
#[derive(Debug, Clone)]
pub(crate) struct Work {
    pub(crate) job: JobRecord,
    pub(crate) number: i32,
    pub(crate) provider: String,
    /// By what right it is there, where nobody asked for it.
    pub(crate) moved: Option<Moved>,
}

/// Where a new attempt goes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Going<'a> {
    /// The provider.
    pub(super) provider: &'a str,
    /// By what right, where nobody asked for it.
    pub(super) moved: Option<&'a Moved>,
    /// The worker that holds it already, and for how long.
    pub(super) holder: Option<(&'a str, Duration)>,
}

impl<'a> Going<'a> {
    /// Somebody asked for it.
    fn to(provider: &'a str) -> Self {
        Self { provider, moved: None, holder: None }
    }
}

/// What became of the wish for another attempt.
#[derive(Debug)]
pub(crate) enum Started {
    /// The attempt of that number is recorded.
    Yes(i32, Box<JobRecord>),
    /// Refused, with the job as it is.
    No(StartRefusal, Box<JobRecord>),
    /// The job names no such provider.
    UnknownProvider(Box<JobRecord>),
    /// There is no such job.
    NotFound,
}

impl Store {
    /// Records an attempt on behalf of somebody who asked for it. A worker claims it later.
    pub(crate) async fn start_attempt(
        &self,
        job: Uuid,
        provider: Option<&str>,
    ) -> Result<Started, StoreError> {
        transaction!(self, Wait::Briefly, |tx| {
            match self.lock(tx, job).await? {
                None => Started::NotFound,
                Some(record) => match self.may_start(&record.job(), |rules| rules.start) {
                    Err(refusal) => {
                        let detail = format!("{refusal:?}");
                        self.log(tx, job, EventKind::AttemptRefused, None, Some(&detail)).await?;
                        Started::No(refusal, Box::new(record))
                    }
                    Ok(after) => {
                        let chosen =
                            provider.or_else(|| record.next_provider()).unwrap_or(NO_PROVIDER).to_owned();
                        if provider.is_some() && !record.providers.contains(&chosen) {
                            Started::UnknownProvider(Box::new(record))
                        } else {
                            let number = self.add_attempt(tx, &record, &after, Going::to(&chosen)).await?;
                            self.wake_workers(tx).await?;
                            let now = self.load(tx, job).await?.unwrap_or(record);
                            Started::Yes(number, Box::new(now))
                        }
                    }
                },
            }
        })
    }

    /// Asks the rules whether an attempt may start.
    pub(super) fn may_start(&self, job: &Job, rule: fn(&Rules) -> StartRule) -> Result<Job, StartRefusal> {
        let started = rule(&self.rules)(job);
        // Versions are for whoever compares them, which is noted where it happens.
        let but_versions = |started: Result<Job, StartRefusal>| {
            started.map(|mut job| {
                job.version = 0;
                job.attempts.iter_mut().for_each(|attempt| attempt.job_version = 0);
                job
            })
        };
        if self.rules.reach.wanted() {
            let honestly = but_versions(started.clone());
            self.rules.reach.decided(&honestly, |rules| but_versions(rule(rules)(job)));
        }
        started
    }

    /// Takes the next job from the queue.
    pub(crate) async fn pick_up(&self, worker: &str, lease: Duration) -> Result<Option<Work>, StoreError> {
        transaction!(self, Wait::Patiently, |tx| {
            let due = self.query(self.rules.sql.next_in_queue).fetch_optional(&mut *tx).await?;
            let mut work = None;
            if let Some(row) = due
                && let Some(record) = self.load(tx, row.try_get("id")?).await?
                && let Ok(after) = self.may_start(&record.job(), |rules| rules.pick_up)
            {
                let provider = record.same_provider().unwrap_or(NO_PROVIDER).to_owned();
                let moved = record.moved_to(&provider);
                let going =
                    Going { provider: &provider, moved: moved.as_ref(), holder: Some((worker, lease)) };
                let number = self.add_attempt(tx, &record, &after, going).await?;
                work = Some(Work { job: record, number, provider, moved });
            }
            work
        })
    }

    /// Takes an attempt that somebody asked for and no worker holds yet.
    pub(crate) async fn claim_attempt(
        &self,
        worker: &str,
        lease: Duration,
    ) -> Result<Option<Work>, StoreError> {
        // Should the second statement fail, the lease lapses and the job goes back into the queue: nothing was sent.
        transaction!(self, Wait::Singly, |tx| {
            let row = self
                .query(
                    "UPDATE attempts SET worker = $1, lease_until = now() + $2::bigint * interval '1 microsecond' \
                     WHERE (job_id, number) IN ( \
                        SELECT job_id, number FROM attempts WHERE state = 'starting' AND lease_until IS NULL \
                        ORDER BY started_at LIMIT 1 FOR UPDATE SKIP LOCKED) \
                     RETURNING job_id, number, provider",
                )
                .bind(worker)
                .bind(micros(lease))
                .fetch_optional(&mut *tx)
                .await?;
            let mut work = None;
            if let Some(row) = row
                && let Some(job) = self.load(tx, row.try_get("job_id")?).await?
            {
                let number = row.try_get("number")?;
                let moved = job.attempt(number).and_then(AttemptRecord::moved);
                work = Some(Work { job, number, provider: row.try_get("provider")?, moved });
            }
            work
        })
    }

    /// How long until the next job in the queue is due; `None` when nothing waits.
    pub(crate) async fn next_due(&self) -> Result<Option<Duration>, StoreError> {
        transaction!(self, Wait::Singly, |tx| {
            let row = self
                .query(
                    "SELECT (extract(epoch FROM min(run_at) - now()) * 1000000)::bigint AS due \
                     FROM jobs WHERE state = 'queued' AND attention IS NULL",
                )
                .fetch_one(tx)
                .await?;
            row.try_get::<Option<i64>, _>("due")?
                .map(|due| Duration::from_micros(u64::try_from(due).unwrap_or_default()))
        })
    }

    /// Renews a lease; false when the attempt is no longer to be held.
    pub(super) async fn hold(
        &self,
        tx: &mut PgConnection,
        job: Uuid,
        number: i32,
        lease: Duration,
    ) -> Result<bool, StoreError> {
        let own_clock = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        self.rules.reach.met(Occasion::Heartbeat);
        if self.rules.reach.wanted() {
            let row = self
                .query("SELECT abs((extract(epoch FROM now()) * 1000000)::bigint - $1) > 1000000 AS off")
                .bind(micros(own_clock))
                .fetch_one(&mut *tx)
                .await?;
            if row.try_get("off")? {
                self.rules.reach.met(Occasion::ClockOff);
            }
        }
        let held = self
            .query(self.rules.sql.lease)
            .bind(job)
            .bind(number)
            .bind(micros(lease))
            .bind(micros(own_clock))
            .execute(tx)
            .await?;
        Ok(held.rows_affected() == 1)
    }

    /// Inserts the attempt that the rules added, and moves the job.
    pub(super) async fn add_attempt(
        &self,
        tx: &mut PgConnection,
        before: &JobRecord,
        after: &Job,
        Going { provider, moved, holder }: Going<'_>,
    ) -> Result<i32, StoreError> {
        if !before.attempts.is_empty() {
            self.rules.reach.met(Occasion::SecondAttempt);
        }
        let (number, version) =
            after.attempts.last().map_or((1, before.version), |added| (added.number, added.job_version));
        self.save(tx, before, after, &Beside::default()).await?;
        if let Some(between) = self.rules.between_job_and_attempt {
            sqlx::raw_sql(between).execute(&mut *tx).await?;
        }
        self.query(
            "INSERT INTO attempts \
                (job_id, number, exclusive, provider, job_version, worker, lease_until, moved_from, moved_on) \
             VALUES ($1, $2, $3, $4, $5, $6, now() + $7::bigint * interval '1 microsecond', $8, $9)",
        )
        .bind(before.id)
        .bind(number)
        .bind(before.mode == crate::domain::Mode::Exclusive)
        .bind(provider)
        .bind(version)
        .bind(holder.map(|(worker, _)| worker))
        .bind(holder.map(|(_, lease)| micros(lease)))
        .bind(moved.map(|moved| &moved.from))
        .bind(moved.map(|moved| spell_cause(moved.on)))
        .execute(&mut *tx)
        .await?;
        self.log(tx, before.id, EventKind::AttemptStarted, Some(number), Some(provider)).await?;
        Ok(number)
    }
}
