//! Locks that are held from outside, until they are healed: a table, or the row of one job.

use std::{sync::Arc, time::Duration};

use tokio::{sync::oneshot, time::sleep};

use super::{InForce, Terms};
use crate::{
    engine::{round::job_told, world::World},
    fail::Fault,
    gate::{LockError, LockGate, RowLock},
    history::Kind,
};

/// How long the service's own transactions may keep our lock from being taken.
const LOCK_WITHIN: Duration = Duration::from_secs(5);
/// How often Postgres is asked who waits for a lock.
const WHO_WAITS_EVERY: Duration = Duration::from_millis(2);

/// A lock of ours in the service's database.
enum Lock {
    /// Nobody writes to the table; only those that insert into it count where that is said, because a worker that
    /// writes to it for other reasons is no request.
    Table { gate: LockGate, only_inserts: bool },
    /// Nobody writes to one row.
    Row(RowLock),
}

impl Lock {
    async fn waiting(&mut self) -> Result<u32, LockError> {
        match self {
            Self::Table { gate, only_inserts: true } => Ok(gate.waiting_to_insert().await?.all()),
            Self::Table { gate, only_inserts: false } => Ok(gate.waiting().await?.all()),
            Self::Row(row) => row.waiting().await,
        }
    }

    async fn open(self) -> Result<(), LockError> {
        match self {
            Self::Table { gate, .. } => gate.open().await.map(drop),
            Self::Row(row) => row.open().await,
        }
    }
}

/// Locks the table that every creation and every decision writes to.
pub(super) async fn table(world: &Arc<World>, round: u32, terms: &Terms<'_>) -> Result<(), Fault> {
    let (url, section) = database(world, terms)?;
    let only_inserts = terms.get("inserting", "true")?.unwrap_or(false);
    let gate = LockGate::arm(url, &section.jobs_table, LOCK_WITHIN).await?;
    let what = format!("table {}", section.jobs_table);
    stand(world, round, terms, Lock::Table { gate, only_inserts }, what).await
}

/// Locks the row of the job that an earlier step was told of.
pub(super) async fn row(world: &Arc<World>, round: u32, terms: &Terms<'_>) -> Result<(), Fault> {
    let (url, section) = database(world, terms)?;
    let sql = section.lock_job.as_deref().ok_or_else(|| {
        terms.wrong("nothing says how a job's row is locked", "give `lock_job` under `[target.database]`")
    })?;
    let step: String = terms.must("job", "start")?;
    let job = world.recorder.look(|events| job_told(events, round, &step)).ok_or_else(|| {
        terms.wrong(
            format!("no answer to `{step}` has told of a job yet"),
            "lock the row after a step that was answered with a job, and name that step",
        )
    })?;
    let lock = RowLock::arm(url, sql, &job, LOCK_WITHIN).await?;
    stand(world, round, terms, Lock::Row(lock), format!("the row of job {job}")).await
}

fn database<'w>(
    world: &'w World,
    terms: &Terms<'_>,
) -> Result<(&'w str, &'w crate::target::Database), Fault> {
    let both = world.database_url.as_deref().zip(world.target.target.database.as_ref());
    both.ok_or_else(|| terms.wrong("the target's database isn't ours to lock", "give `[target.database]`"))
}

async fn stand(
    world: &Arc<World>,
    round: u32,
    terms: &Terms<'_>,
    lock: Lock,
    what: String,
) -> Result<(), Fault> {
    let waiters: u32 = terms.get("waiters", "2")?.unwrap_or(1);
    let fault = terms.name.to_owned();
    let detail = format!("{what} is locked against writes");
    world.recorder.record(round, Kind::FaultApplied { fault: fault.clone(), detail });
    let (open, opened) = oneshot::channel();
    let hit = {
        let (world, fault) = (world.clone(), fault.clone());
        move |waiting: u32| {
            let detail = format!("{waiting} wait for {what}");
            world.recorder.record(round, Kind::FaultHit { fault, detail });
        }
    };
    let keeper = tokio::spawn(keep(lock, waiters, hit, opened));
    world.standing.lock().await.0.insert(fault, InForce::Locked(open, keeper));
    Ok(())
}

/// Holds a lock until it is to be opened. It hits when as many backends wait for it as were asked for.
async fn keep(
    mut lock: Lock,
    waiters: u32,
    hit: impl FnOnce(u32),
    mut opened: oneshot::Receiver<()>,
) -> Result<(), LockError> {
    let waiting = loop {
        let waiting = lock.waiting().await?;
        if waiting >= waiters {
            break Some(waiting);
        }
        // Postgres can't tell anybody that a backend begins to wait, so it is asked again and again.
        tokio::select! {
            biased;
            _ = &mut opened => break None,
            () = sleep(WHO_WAITS_EVERY) => {}
        }
    };
    if let Some(waiting) = waiting {
        hit(waiting);
        // Whoever forgets the lock lifts it.
        let _ = opened.await;
    }
    lock.open().await
}
