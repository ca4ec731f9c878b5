//! Somebody who tries to decide jobs, over a connection held all the time.

use sqlx::{Connection as _, PgConnection, Row as _, postgres::PgConnectOptions};

use super::{End, Shape};

/// What Postgres says when a transaction has to run again.
const AGAIN: [&str; 2] = ["40001", "40P01"];
/// What it says when a lock is taken and NOWAIT was asked for.
const LOCKED: &str = "55P03";
/// More than that many aborts in a row end an attempt: nothing is measured by a loop that doesn't end.
pub(super) const MOST_RETRIES: u32 = 10_000;

/// Opens a connection for a contender or a caller.
pub async fn open(options: &PgConnectOptions) -> sqlx::Result<PgConnection> {
    let mut connection =
        PgConnection::connect_with(&options.clone().application_name("onejob bench")).await?;
    // A server's own default may be another.
    sqlx::raw_sql("SET default_transaction_isolation = 'read committed'; SET lock_timeout = '20s'")
        .execute(&mut connection)
        .await?;
    Ok(connection)
}

/// Somebody who tries to decide jobs.
#[derive(Debug)]
pub struct Contender {
    /// Which, from 0.
    pub number: u32,
    pub(super) connection: PgConnection,
    /// Why an attempt came to no answer.
    pub(super) broke: Option<sqlx::Error>,
}

/// How a piece of a transaction ended.
enum Cut {
    Again,
    Busy,
    Failed,
}

impl Contender {
    /// A contender over this connection.
    #[must_use]
    pub fn new(number: u32, connection: PgConnection) -> Self {
        Self { number, connection, broke: None }
    }

    /// Tries to decide one job. Also how often the database aborted it.
    pub async fn attempt(&mut self, shape: &Shape, job: i64) -> (End, u32) {
        for retries in 0..MOST_RETRIES {
            match self.once(shape, job).await {
                Ok(end) => return (end, retries),
                Err(error) => {
                    let cut = sort(&error);
                    if shape.begin.is_some()
                        && let Err(broken) = sqlx::raw_sql("ROLLBACK").execute(&mut self.connection).await
                    {
                        self.broke = Some(broken);
                        return (End::Unknown, retries);
                    }
                    match cut {
                        Cut::Again => {}
                        Cut::Busy => return (End::Busy, retries),
                        Cut::Failed => {
                            self.broke = Some(error);
                            return (End::Unknown, retries);
                        }
                    }
                }
            }
        }
        (End::Unknown, MOST_RETRIES)
    }

    async fn once(&mut self, shape: &Shape, job: i64) -> sqlx::Result<End> {
        let me = i32::try_from(self.number).unwrap_or(i32::MAX);
        let connection = &mut self.connection;
        if let Some(begin) = shape.begin {
            sqlx::raw_sql(begin).execute(&mut *connection).await?;
        }
        if let Some(lock) = shape.lock {
            sqlx::query(lock).bind(job).execute(&mut *connection).await?;
        }
        let open = match shape.look {
            None => true,
            Some(look) => sqlx::query(look).bind(job).fetch_one(&mut *connection).await?.try_get("open")?,
        };
        let won = if !open {
            false
        } else if shape.answers {
            sqlx::query(shape.decide).bind(job).bind(me).fetch_one(&mut *connection).await?.try_get("won")?
        } else {
            let done = sqlx::query(shape.decide).bind(job).bind(me).execute(&mut *connection).await?;
            done.rows_affected() == 1
        };
        if shape.begin.is_some() {
            let end = if won || !shape.loser_rolls_back { "COMMIT" } else { "ROLLBACK" };
            sqlx::raw_sql(end).execute(&mut *connection).await?;
        }
        Ok(if won { End::Won } else { End::Lost })
    }

    /// Makes the server count what this connection did so far.
    pub(super) async fn flush_statistics(&mut self) {
        flush_statistics(&mut self.connection).await;
    }
}

/// Makes the server count what a connection did so far. Before version 15 nothing can: counts are a second late there.
pub(super) async fn flush_statistics(connection: &mut PgConnection) {
    drop(sqlx::query("SELECT pg_stat_force_next_flush()").execute(connection).await);
}

/// Whether the database asks for another try.
pub(super) fn asks_again(error: &sqlx::Error) -> bool {
    matches!(sort(error), Cut::Again)
}

fn sort(error: &sqlx::Error) -> Cut {
    match error.as_database_error().and_then(|error| error.code().map(String::from)) {
        Some(code) if AGAIN.contains(&code.as_str()) => Cut::Again,
        Some(code) if code == LOCKED => Cut::Busy,
        _ => Cut::Failed,
    }
}
