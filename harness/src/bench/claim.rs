//! Callers who claim keys, some of them taken.
//!
//! Calls are numbered and dealt in turn: the `turn`-th call of a caller has the number `turn * callers + caller`, and calls whose
//! numbers follow each other share a key. So they are out at the same time, and the same keys are asked for however fast
//! anybody is.

use std::{sync::Arc, time::Instant};

use sqlx::{PgConnection, Row as _, error::DatabaseError};
use tokio::sync::Barrier;

use super::{
    Attempt, Block, ClaimForm, End,
    block::nanos,
    contender::{MOST_RETRIES, asks_again, flush_statistics},
    form::ClaimShape,
    table::key_of,
};

/// What SERIALIZABLE may end a racing insert in, instead of asking for another try.
const TAKEN: &str = "23505";

/// How calls are dealt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Calls {
    /// Callers.
    pub callers: u32,
    /// Calls that share a key.
    pub per_key: i64,
}

/// One call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call {
    /// Its number, from 0.
    pub number: i64,
    /// The number of its key.
    pub key: i64,
}

/// What a call was told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// How it went; `job` is the number that the call would give a job of its own.
    pub attempt: Attempt,
    /// With which key.
    pub key: String,
    /// The job that it was told of.
    pub id: Option<i64>,
}

impl Calls {
    /// Calls of which this share, in percent, finds its key taken. `None` where no whole number of calls a key gives it.
    #[must_use]
    pub fn sharing(callers: u32, percent: f64) -> Option<Self> {
        let per_key = 100.0 / (100.0 - percent);
        let whole = per_key.round();
        #[expect(clippy::cast_possible_truncation, reason = "checked to be small and whole")]
        ((0.0..100.0).contains(&percent) && whole <= 100_000.0 && (per_key - whole).abs() < 1e-6)
            .then_some(Self { callers, per_key: whole as i64 })
    }

    /// A caller's call.
    #[must_use]
    pub fn call(&self, caller: u32, turn: i64) -> Call {
        let number = turn * i64::from(self.callers) + i64::from(caller);
        Call { number, key: number / self.per_key }
    }
}

/// Lets callers go through their turns; `block.count` is the turns of each. They come back with what they were told.
pub async fn call_all(
    callers: Vec<PgConnection>,
    form: ClaimForm,
    calls: Calls,
    block: Block,
) -> (Vec<PgConnection>, Vec<Told>) {
    let start = Arc::new(Barrier::new(callers.len()));
    let began = Instant::now();
    let running: Vec<_> = (0_u32..)
        .zip(callers)
        .map(|(number, connection)| {
            let start = Arc::clone(&start);
            let caller = Caller { number, connection, calls, shape: form.shape() };
            tokio::spawn(async move {
                start.wait().await;
                caller.run(block, began).await
            })
        })
        .collect();
    let (mut back, mut all) = (Vec::new(), Vec::new());
    for task in running {
        match task.await {
            Ok((connection, told)) => {
                back.push(connection);
                all.extend(told);
            }
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            // Only an ending runtime gives tasks up.
            Err(_) => {}
        }
    }
    (back, all)
}

struct Caller {
    number: u32,
    connection: PgConnection,
    calls: Calls,
    shape: ClaimShape,
}

impl Caller {
    async fn run(mut self, block: Block, began: Instant) -> (PgConnection, Vec<Told>) {
        let mut all = Vec::new();
        for turn in 0..block.count {
            let call = self.calls.call(self.number, turn);
            let due = block.load.due(call.number);
            if let Some(due) = due {
                tokio::time::sleep_until((began + due).into()).await;
            }
            if began.elapsed() > block.within {
                break;
            }
            let key = key_of(block.before, &call);
            let id = block.before + 1 + call.number;
            let began_ns = nanos(began.elapsed());
            let (answer, retries) = self.claim(id, &key).await;
            let end = match answer {
                Ok(Some(found)) if found == id => End::Won,
                Ok(_) => End::Lost,
                Err(()) => End::Unknown,
            };
            let attempt = Attempt {
                contender: self.number,
                job: id,
                due_ns: due.map_or(began_ns, nanos),
                began_ns,
                ended_ns: nanos(began.elapsed()),
                end,
                retries,
            };
            all.push(Told { attempt, key, id: answer.unwrap_or_default() });
        }
        flush_statistics(&mut self.connection).await;
        (self.connection, all)
    }

    /// One call. An error is an answer that never came.
    async fn claim(&mut self, id: i64, key: &str) -> (Result<Option<i64>, ()>, u32) {
        for retries in 0..MOST_RETRIES {
            match self.once(id, key).await {
                Ok(found) => return (Ok(found), retries),
                Err(error) => {
                    if self.shape.begin.is_none() {
                        return (Err(()), retries);
                    }
                    let again = asks_again(&error)
                        || error.as_database_error().and_then(DatabaseError::code).as_deref() == Some(TAKEN);
                    if sqlx::raw_sql("ROLLBACK").execute(&mut self.connection).await.is_err() || !again {
                        return (Err(()), retries);
                    }
                }
            }
        }
        (Err(()), MOST_RETRIES)
    }

    async fn once(&mut self, id: i64, key: &str) -> sqlx::Result<Option<i64>> {
        let ClaimShape { begin, lock, first, insert, then } = self.shape;
        let connection = &mut self.connection;
        if let Some(begin) = begin {
            sqlx::raw_sql(begin).execute(&mut *connection).await?;
        }
        if let Some(lock) = lock {
            sqlx::query(lock).bind(key).execute(&mut *connection).await?;
        }
        let mut found = match first {
            Some(first) => sqlx::query(first).bind(key).fetch_optional(&mut *connection).await?,
            None => None,
        };
        if found.is_none() {
            found = sqlx::query(insert).bind(id).bind(key).fetch_optional(&mut *connection).await?;
        }
        if let (None, Some(then)) = (&found, then) {
            found = sqlx::query(then).bind(key).fetch_optional(&mut *connection).await?;
        }
        let found = found.map(|row| row.try_get("id")).transpose()?;
        if begin.is_some() {
            sqlx::raw_sql("COMMIT").execute(&mut *connection).await?;
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn the_share_of_taken_keys_is_what_was_asked_for_whatever_the_callers() {
        for (percent, per_key) in [(0.0, 1), (50.0, 2), (99.0, 100)] {
            for callers in [1, 2, 64] {
                let calls = Calls::sharing(callers, percent).expect("a whole number of calls");
                assert_eq!(calls.per_key, per_key);
                let mut keys: BTreeMap<i64, i64> = BTreeMap::new();
                for turn in 0..100 {
                    for caller in 0..callers {
                        *keys.entry(calls.call(caller, turn).key).or_default() += 1;
                    }
                }
                assert!(keys.values().all(|asked| *asked == per_key), "{percent} {callers}");
            }
        }
        for wrong in [100.0, 70.0, -1.0, f64::NAN] {
            assert_eq!(Calls::sharing(8, wrong), None, "{wrong}");
        }
    }
}
