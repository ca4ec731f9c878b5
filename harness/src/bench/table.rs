//! The tables that are raced on.

use sqlx::{AssertSqlSafe, PgConnection, Row as _};

use super::{Call, Decided};

const MAKE: &str = "\
CREATE TABLE IF NOT EXISTS bench_jobs (
    id           bigint  PRIMARY KEY,
    version      bigint  NOT NULL DEFAULT 1,
    state        text    NOT NULL DEFAULT 'running',
    completed_by integer,
    result       text,
    input        text    NOT NULL DEFAULT repeat('x', 200)
) WITH (fillfactor = 70);
CREATE TABLE IF NOT EXISTS bench_results (
    job          bigint  PRIMARY KEY,
    completed_by integer NOT NULL,
    result       text    NOT NULL
);
CREATE TABLE IF NOT EXISTS bench_keys (
    id    bigint PRIMARY KEY,
    owner text   NOT NULL,
    key   text   COLLATE \"C\" NOT NULL,
    input text   NOT NULL DEFAULT repeat('x', 200),
    UNIQUE (owner, key)
) WITH (fillfactor = 70);";

/// The tables of one database, and which of their rows were used.
#[derive(Debug, Clone, Copy, Default)]
pub struct Table {
    used: i64,
}

impl Table {
    /// Makes the tables, with `rows` decided jobs and as many taken keys in them: an index has a depth then, and the planner a
    /// reason to use it.
    pub async fn make(connection: &mut PgConnection, rows: i64) -> sqlx::Result<Self> {
        sqlx::raw_sql(MAKE).execute(&mut *connection).await?;
        for fill in [
            "INSERT INTO bench_jobs (id, version, state, completed_by, result) \
             SELECT n, 2, 'succeeded', 0, 'answer of 0' FROM generate_series(1, $1) n",
            "INSERT INTO bench_results (job, completed_by, result) \
             SELECT n, 0, 'answer of 0' FROM generate_series(1, $1) n",
            "INSERT INTO bench_keys (id, owner, key) SELECT n, 'bench', 'old-' || n FROM generate_series(1, $1) n",
        ] {
            sqlx::query(fill).bind(rows).execute(&mut *connection).await?;
        }
        // Two statements: VACUUM runs in no transaction, and several in one string are one.
        for table in ["bench_jobs", "bench_results", "bench_keys"] {
            let vacuum = format!("VACUUM (ANALYZE) {table}");
            sqlx::raw_sql(AssertSqlSafe(vacuum)).execute(&mut *connection).await?;
        }
        Ok(Self { used: rows })
    }

    /// Lays out undecided jobs; their numbers follow each other. Returns the number before the first.
    pub async fn jobs(&mut self, connection: &mut PgConnection, count: i64) -> sqlx::Result<i64> {
        let before = self.numbers(count);
        sqlx::query("INSERT INTO bench_jobs (id) SELECT generate_series($1 + 1, $1 + $2)")
            .bind(before)
            .bind(count)
            .execute(connection)
            .await?;
        Ok(before)
    }

    /// Numbers that nobody used yet. Returns the number before the first.
    pub fn numbers(&mut self, count: i64) -> i64 {
        let before = self.used;
        self.used += count;
        before
    }

    /// Who decided each of the jobs after `before`, and how often the row was decided.
    pub async fn decided(
        connection: &mut PgConnection,
        own_table: bool,
        before: i64,
        count: i64,
    ) -> sqlx::Result<Vec<Decided>> {
        let sql = if own_table {
            "SELECT job AS id, completed_by, 1::bigint AS times FROM bench_results WHERE job > $1 AND job <= $1 + $2"
        } else {
            "SELECT id, completed_by, version - 1 AS times FROM bench_jobs \
             WHERE id > $1 AND id <= $1 + $2 AND completed_by IS NOT NULL"
        };
        let rows = sqlx::query(sql).bind(before).bind(count).fetch_all(connection).await?;
        rows.iter()
            .map(|row| {
                let (by, times): (i32, i64) = (row.try_get("completed_by")?, row.try_get("times")?);
                Ok(Decided { job: row.try_get("id")?, by: by.unsigned_abs(), times: times.unsigned_abs() })
            })
            .collect()
    }

    /// The rows that calls with these numbers made: key and number of the call.
    pub async fn made(
        connection: &mut PgConnection,
        before: i64,
        count: i64,
    ) -> sqlx::Result<Vec<(String, i64)>> {
        let rows = sqlx::query("SELECT key, id FROM bench_keys WHERE id > $1 AND id <= $1 + $2")
            .bind(before)
            .bind(count)
            .fetch_all(connection)
            .await?;
        rows.iter().map(|row| Ok((row.try_get("key")?, row.try_get("id")?))).collect()
    }
}

/// The key of a call.
pub(super) fn key_of(before: i64, call: &Call) -> String {
    format!("{before}-{}", call.key)
}
