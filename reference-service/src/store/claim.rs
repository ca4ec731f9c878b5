use futures::future::BoxFuture;
use sqlx::{PgConnection, Row as _};
use uuid::Uuid;

use super::transaction::transaction;
use super::{EventKind, JobRecord, Store, StoreError, Wait, job_columns};
use crate::Defect;
use crate::domain::{Cancel, FINGERPRINT_VERSION, Fingerprint, JobState, Mode};
use crate::reach::Occasion;

/// A job that somebody asks for.
#[derive(Debug, Clone)]
pub(crate) struct NewJob {
    /// Made by the server: whether a row is new is then whether it has this id.
    pub(crate) id: Uuid,
    pub(crate) owner: String,
    pub(crate) key: String,
    pub(crate) fingerprint: Fingerprint,
    pub(crate) kind: String,
    pub(crate) input: String,
    pub(crate) mode: Mode,
    pub(crate) providers: Vec<String>,
    pub(crate) traceparent: Option<String>,
    /// Microseconds since 1970; now when absent.
    pub(crate) run_at: Option<i64>,
}

/// What a claim came to.
#[derive(Debug)]
pub(crate) enum Claimed {
    /// The key was new.
    Created(Box<JobRecord>),
    /// The intent was known.
    Replayed(Box<JobRecord>),
    /// The key belongs to another intent.
    Conflict,
    /// The key belongs to a job whose content is gone.
    Expired,
}

/// A way to claim a key.
pub(crate) type Claim = for<'a> fn(&'a Store, &'a NewJob) -> BoxFuture<'a, Result<Claimed, StoreError>>;

/// What becomes of the key (owner, key) of a request whose body is refused.
pub(crate) type Refused = for<'a> fn(&'a Store, &'a str, &'a str) -> BoxFuture<'a, Result<(), StoreError>>;

/// Nothing: a refused request does not consume its key.
pub(crate) fn leave_alone<'a>(_: &'a Store, _: &'a str, _: &'a str) -> BoxFuture<'a, Result<(), StoreError>> {
    Box::pin(std::future::ready(Ok(())))
}

const BY_KEY: &str =
    concat!("SELECT ", job_columns!(), " FROM jobs j WHERE j.owner = $1 AND j.idempotency_key = $2");

impl NewJob {
    /// The record of the job right after its creation.
    pub(crate) fn record(&self, created_at: i64, run_at: i64) -> JobRecord {
        JobRecord {
            id: self.id,
            owner: self.owner.clone(),
            key: self.key.clone(),
            fingerprint: self.fingerprint.0.to_vec(),
            kind: self.kind.clone(),
            input: self.input.clone(),
            mode: self.mode,
            providers: self.providers.clone(),
            traceparent: self.traceparent.clone(),
            state: JobState::Queued,
            version: 1,
            completed_by: None,
            result: None,
            failure: None,
            cancel: Cancel::None,
            attention: None,
            run_at,
            purged: false,
            created_at,
            updated_at: created_at,
            attempts: Vec::new(),
        }
    }
}

/// The honest claim: the INSERT decides, and it alone, so it needs no transaction around it. It waits for a concurrent winner, and inserts after all if that one rolls
/// back. When it finds the key taken, a second statement with a newer snapshot sees whose it is; united in one
/// statement, the winner's row would be invisible.
pub(crate) fn insert_then_look<'a>(
    store: &'a Store,
    new: &'a NewJob,
) -> BoxFuture<'a, Result<Claimed, StoreError>> {
    Box::pin(async move {
        transaction!(store, Wait::Singly, |tx| {
            loop {
                if let Some(made) = store.insert_job(tx, new).await? {
                    break Claimed::Created(Box::new(made));
                }
                store.rules.reach.met(Occasion::Duplicate);
                if let Some(found) = store.find_by_key(tx, &new.owner, &new.key).await? {
                    break store.judge(tx, new, found).await?;
                }
                // The row went away between the two statements: the key is free again, so claim it.
            }
        })
    })
}

impl Store {
    /// One job per intent.
    pub(crate) async fn claim(&self, new: &NewJob) -> Result<Claimed, StoreError> {
        let reach = &self.rules.reach;
        reach.met(Occasion::Claim);
        if new.run_at.is_some() {
            reach.met(Occasion::ScheduledClaim);
        }
        if reach.wanted() {
            let content = format!("{} {:?}", new.owner, new.fingerprint);
            reach.renamed("intent", &format!("{} {}", new.owner, new.key), Defect::PayloadIsKey, &content);
        }
        let claiming = reach.begin(Occasion::ClaimCut);
        let claimed = (self.rules.claim)(self, new).await;
        if claimed.is_ok() {
            claiming.ended();
        }
        if let Ok(Claimed::Created(_)) = claimed {
            self.ring();
        }
        claimed
    }

    /// Runs the statement that makes a job.
    pub(super) async fn insert_job(
        &self,
        tx: &mut PgConnection,
        new: &NewJob,
    ) -> Result<Option<JobRecord>, StoreError> {
        let row = self
            .query(self.rules.sql.insert_job)
            .bind(new.id)
            .bind(&new.owner)
            .bind(&new.key)
            .bind(&new.fingerprint.0[..])
            .bind(FINGERPRINT_VERSION)
            .bind(&new.kind)
            .bind(&new.input)
            .bind(new.mode.as_str())
            .bind(&new.providers)
            .bind(&new.traceparent)
            .bind(new.run_at)
            .fetch_optional(tx)
            .await?;
        row.map(|row| Ok(new.record(row.try_get("created_at")?, row.try_get("run_at")?))).transpose()
    }

    /// The job of that owner and key.
    pub(crate) async fn find_by_key(
        &self,
        tx: &mut PgConnection,
        owner: &str,
        key: &str,
    ) -> Result<Option<JobRecord>, StoreError> {
        let row = self.query(BY_KEY).bind(owner).bind(key).fetch_optional(tx).await?;
        row.as_ref().map(JobRecord::from_row).transpose()
    }

    /// Compares what is asked for with the job that holds the key, and logs the outcome.
    pub(super) async fn judge(
        &self,
        tx: &mut PgConnection,
        new: &NewJob,
        found: JobRecord,
    ) -> Result<Claimed, StoreError> {
        if found.id == new.id {
            // Our own commit went through and only its acknowledgement got lost.
            return Ok(Claimed::Created(Box::new(found)));
        }
        if found.state == JobState::Failed {
            self.rules.reach.met(Occasion::DuplicateOfFailed);
        }
        let same = (self.rules.same_intent)(&found.fingerprint, &new.fingerprint);
        self.rules.reach.decided(&same, |rules| (rules.same_intent)(&found.fingerprint, &new.fingerprint));
        if !same {
            self.log(tx, found.id, EventKind::ConflictRefused, None, None).await?;
            return Ok(Claimed::Conflict);
        }
        if found.purged {
            return Ok(Claimed::Expired);
        }
        self.log(tx, found.id, EventKind::Replayed, None, None).await?;
        Ok(Claimed::Replayed(Box::new(found)))
    }
}
