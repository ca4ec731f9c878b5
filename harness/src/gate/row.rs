//! One row of the service's database, held as a forgotten transaction holds it.

use std::time::Duration;

use sqlx::{AssertSqlSafe, Connection as _, PgConnection, postgres::PgConnectOptions};

use super::LockError;

/// The backends that wait for ours, and those that wait behind them.
const WAITING: &str = "\
    WITH RECURSIVE waiters AS MATERIALIZED ( \
        SELECT DISTINCT pid FROM pg_locks WHERE NOT granted AND pid <> pg_backend_pid() \
    ), queue(pid) AS ( \
        SELECT pid FROM waiters WHERE pg_backend_pid() = ANY (pg_blocking_pids(pid)) \
        UNION \
        SELECT w.pid FROM waiters w JOIN queue q ON q.pid = ANY (pg_blocking_pids(w.pid)) \
    ) SELECT count(*) FROM queue";

/// A row that nobody else can write to until the lock is opened.
///
/// It has a connection of its own. Dropping it closes that connection, at which Postgres rolls back: the row is free.
#[derive(Debug)]
pub(crate) struct RowLock {
    connection: PgConnection,
}

impl RowLock {
    /// Locks the row of a job by the target's own statement, whose `$1` is the job's id.
    ///
    /// # Errors
    /// [`LockError`]: no connection, no such row, a statement that Postgres refuses, or not within that time.
    pub(crate) async fn arm(url: &str, sql: &str, job: &str, within: Duration) -> Result<Self, LockError> {
        let options: PgConnectOptions = url.parse().map_err(LockError::Connect)?;
        let options = options.application_name("onejob lock gate");
        let connecting = PgConnection::connect_with(&options);
        let mut connection = tokio::time::timeout(within, connecting)
            .await
            .unwrap_or_else(|_| Err(sqlx::Error::Io(std::io::ErrorKind::TimedOut.into())))
            .map_err(LockError::Connect)?;
        let patience = within.as_millis().max(1);
        // Made of a number.
        let begin = format!(
            "BEGIN; SET LOCAL lock_timeout = {patience}; SET LOCAL idle_in_transaction_session_timeout = 0"
        );
        sqlx::raw_sql(AssertSqlSafe(begin)).execute(&mut connection).await?;
        // The statement is the target file's own, whose author may do anything to the database anyway.
        let rows = sqlx::query(AssertSqlSafe(sql)).bind(job).fetch_all(&mut connection).await;
        match rows {
            Ok(rows) if rows.is_empty() => Err(LockError::NoRow { job: job.to_owned() }),
            Ok(_) => Ok(Self { connection }),
            Err(source) => Err(LockError::Row { job: job.to_owned(), source }),
        }
    }

    /// How many wait for it at this moment.
    ///
    /// # Errors
    /// [`LockError::Broken`].
    pub(crate) async fn waiting(&mut self) -> Result<u32, LockError> {
        let waiting: i64 = sqlx::query_scalar(WAITING).fetch_one(&mut self.connection).await?;
        Ok(u32::try_from(waiting).unwrap_or(u32::MAX))
    }

    /// Frees the row.
    ///
    /// # Errors
    /// [`LockError::Broken`]; the row is free all the same, because the connection is gone.
    pub(crate) async fn open(mut self) -> Result<(), LockError> {
        sqlx::raw_sql("COMMIT").execute(&mut self.connection).await?;
        Ok(())
    }
}
