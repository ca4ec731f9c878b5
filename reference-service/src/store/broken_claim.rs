//! Ways to claim a key that public services used, and that let two intents through or none.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use futures::future::BoxFuture;
use sqlx::Row as _;
use uuid::Uuid;

use super::transaction::transaction;
use super::{Claimed, EventKind, NewJob, Store, StoreError, Wait};
use crate::domain::{Fingerprint, Mode};

/// Looks whether the key is there, and inserts when it is not. Between the two, anybody may do the same.
pub(crate) fn look_then_insert<'a>(
    store: &'a Store,
    new: &'a NewJob,
) -> BoxFuture<'a, Result<Claimed, StoreError>> {
    Box::pin(async move {
        transaction!(store, Wait::Briefly, |tx| {
            match store.find_by_key(tx, &new.owner, &new.key).await? {
                Some(found) => store.judge(tx, new, found).await?,
                None => match store.insert_job(tx, new).await? {
                    Some(made) => Claimed::Created(Box::new(made)),
                    None => Claimed::Conflict,
                },
            }
        })
    })
}

/// The same behind a lock that lives in this process: fine until there is a second one.
pub(crate) fn look_then_insert_in_memory<'a>(
    store: &'a Store,
    new: &'a NewJob,
) -> BoxFuture<'a, Result<Claimed, StoreError>> {
    static ONE_AT_A_TIME: OnceLock<Arc<tokio::sync::Mutex<()>>> = OnceLock::new();
    Box::pin(async move {
        let lock = Arc::clone(ONE_AT_A_TIME.get_or_init(Arc::default));
        let _held = lock.lock().await;
        look_then_insert(store, new).await
    })
}

/// Looks for a job with the same content, and takes it for the same intent whatever its key.
pub(crate) fn look_for_payload_then_insert<'a>(
    store: &'a Store,
    new: &'a NewJob,
) -> BoxFuture<'a, Result<Claimed, StoreError>> {
    Box::pin(async move {
        let twin = transaction!(store, Wait::Briefly, |tx| {
            let row = store
                .query("SELECT idempotency_key FROM jobs WHERE owner = $1 AND fingerprint = $2 ORDER BY id LIMIT 1")
                .bind(&new.owner)
                .bind(&new.fingerprint.0[..])
                .fetch_optional(&mut *tx)
                .await?;
            row.map(|row| row.try_get::<String, _>("idempotency_key")).transpose()?
        })?;
        let known = NewJob { key: twin.unwrap_or_else(|| new.key.clone()), ..new.clone() };
        super::insert_then_look(store, &known).await
    })
}

/// Locks the key, makes the job, and unlocks the key: three steps, each for itself.
pub(crate) fn lock_then_insert<'a>(
    store: &'a Store,
    new: &'a NewJob,
) -> BoxFuture<'a, Result<Claimed, StoreError>> {
    lock_around(store, new, Duration::ZERO)
}

/// The same with something that takes its time while the key is locked, as a look at another service would.
pub(crate) fn lock_think_then_insert<'a>(
    store: &'a Store,
    new: &'a NewJob,
) -> BoxFuture<'a, Result<Claimed, StoreError>> {
    lock_around(store, new, Duration::from_millis(100))
}

fn lock_around<'a>(
    store: &'a Store,
    new: &'a NewJob,
    thinking: Duration,
) -> BoxFuture<'a, Result<Claimed, StoreError>> {
    Box::pin(async move {
        let locked = transaction!(store, Wait::Singly, |tx| {
            store
                .query(
                    "INSERT INTO key_locks (owner, idempotency_key) VALUES ($1, $2) ON CONFLICT DO NOTHING",
                )
                .bind(&new.owner)
                .bind(&new.key)
                .execute(&mut *tx)
                .await?
                .rows_affected()
        })?;
        if locked == 0 {
            return Err(StoreError::Locked);
        }
        tokio::time::sleep(thinking).await;
        let claimed = super::insert_then_look(store, new).await;
        transaction!(store, Wait::Singly, |tx| {
            store
                .query("DELETE FROM key_locks WHERE owner = $1 AND idempotency_key = $2")
                .bind(&new.owner)
                .bind(&new.key)
                .execute(&mut *tx)
                .await?;
        })?;
        claimed
    })
}

/// A time that no worker lives to see.
const NEVER: i64 = 32_503_680_000_000_000;

/// Makes the job without its time, which a timer of this process remembers.
pub(crate) fn insert_then_remember<'a>(
    store: &'a Store,
    new: &'a NewJob,
) -> BoxFuture<'a, Result<Claimed, StoreError>> {
    Box::pin(async move {
        let Some(due) = new.run_at else { return super::insert_then_look(store, new).await };
        let parked = NewJob { run_at: Some(NEVER), ..new.clone() };
        let mut claimed = super::insert_then_look(store, &parked).await?;
        if let Claimed::Created(made) = &mut claimed {
            made.run_at = due;
            let (store, id) = (store.clone(), made.id);
            tokio::spawn(async move {
                let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
                let left = due.saturating_sub(super::micros(now));
                tokio::time::sleep(Duration::from_micros(u64::try_from(left).unwrap_or_default())).await;
                unpark(&store, id, Some(due)).await
            });
        }
        Ok(claimed)
    })
}

/// Gives a parked job its time: now, where there is none.
async fn unpark(store: &Store, id: Uuid, run_at: Option<i64>) -> Result<(), StoreError> {
    transaction!(store, Wait::Patiently, |tx| {
        store
            .query(
                "UPDATE jobs SET run_at = \
                 coalesce('epoch'::timestamptz + $2::bigint * interval '1 microsecond', now()) WHERE id = $1",
            )
            .bind(id)
            .bind(run_at)
            .execute(&mut *tx)
            .await?;
    })?;
    store.ring();
    Ok(())
}

/// Remembers keys in this process: whoever asks another process, or this one after a restart, is new.
pub(crate) fn remember_in_memory<'a>(
    store: &'a Store,
    new: &'a NewJob,
) -> BoxFuture<'a, Result<Claimed, StoreError>> {
    static KNOWN: OnceLock<tokio::sync::Mutex<BTreeSet<(String, String)>>> = OnceLock::new();
    Box::pin(async move {
        let mut known = KNOWN.get_or_init(tokio::sync::Mutex::default).lock().await;
        let key = (new.owner.clone(), new.key.clone());
        if known.contains(&key) {
            return look_then_insert(store, new).await;
        }
        let made = transaction!(store, Wait::Briefly, |tx| {
            match store.insert_job(tx, new).await? {
                Some(made) => Claimed::Created(Box::new(made)),
                None => Claimed::Conflict,
            }
        })?;
        known.insert(key);
        Ok(made)
    })
}

/// Makes the job and puts it into the queue in a second transaction. Dying between the two strands it.
pub(crate) fn insert_then_enqueue<'a>(
    store: &'a Store,
    new: &'a NewJob,
) -> BoxFuture<'a, Result<Claimed, StoreError>> {
    Box::pin(async move {
        let parked = NewJob { run_at: Some(NEVER), ..new.clone() };
        let claimed = super::insert_then_look(store, &parked).await?;
        if let Claimed::Created(_) = claimed {
            unpark(store, new.id, new.run_at).await?;
        }
        Ok(claimed)
    })
}

/// Answers before the commit.
pub(crate) fn answer_then_commit<'a>(
    store: &'a Store,
    new: &'a NewJob,
) -> BoxFuture<'a, Result<Claimed, StoreError>> {
    /// Long enough that a client which reads right away sees nothing.
    const FLUSH: Duration = Duration::from_millis(250);
    Box::pin(async move {
        let mut session = store.begin(Wait::Briefly).await?;
        let claimed = match store.insert_job(&mut session, new).await? {
            Some(made) => Claimed::Created(Box::new(made)),
            None => match store.find_by_key(&mut session, &new.owner, &new.key).await? {
                Some(found) => store.judge(&mut session, new, found).await?,
                None => Claimed::Conflict,
            },
        };
        tokio::spawn(async move {
            tokio::time::sleep(FLUSH).await;
            session.commit().await
        });
        Ok(claimed)
    })
}

/// A replay of a job that failed makes a new one: the failure was cached as if it were an HTTP error.
pub(crate) fn failed_frees_key<'a>(
    store: &'a Store,
    new: &'a NewJob,
) -> BoxFuture<'a, Result<Claimed, StoreError>> {
    Box::pin(async move {
        transaction!(store, Wait::Briefly, |tx| {
            store
                .query(
                    "UPDATE jobs SET idempotency_key = 'freed-' || id \
                     WHERE owner = $1 AND idempotency_key = $2 AND state = 'failed'",
                )
                .bind(&new.owner)
                .bind(&new.key)
                .execute(&mut *tx)
                .await?;
        })?;
        super::insert_then_look(store, new).await
    })
}

/// A request whose body is invalid claims its key nevertheless.
pub(crate) fn claim_for_nothing<'a>(
    store: &'a Store,
    owner: &'a str,
    key: &'a str,
) -> BoxFuture<'a, Result<(), StoreError>> {
    Box::pin(async move {
        let new = NewJob {
            id: Uuid::now_v7(),
            owner: owner.to_owned(),
            key: key.to_owned(),
            fingerprint: Fingerprint([0; 32]),
            kind: "invalid".to_owned(),
            input: "null".to_owned(),
            mode: Mode::Exclusive,
            providers: Vec::new(),
            traceparent: None,
            run_at: None,
        };
        if let Claimed::Created(made) = super::insert_then_look(store, &new).await? {
            transaction!(store, Wait::Patiently, |tx| {
                store
                    .query("UPDATE jobs SET state = 'failed', settled_at = now() WHERE id = $1")
                    .bind(made.id)
                    .execute(&mut *tx)
                    .await?;
                store.log(tx, made.id, EventKind::JobFailed, None, Some("the body was invalid")).await?;
            })?;
        }
        Ok(())
    })
}
