use sqlx::postgres::{PgConnection, PgPool};

use super::PostgresError;
use super::link::{Link, query_error};

/// How many characters of a database's name tell the run: `onejob_` and eight hexadecimal digits.
const RUN_LENGTH: usize = 15;

/// Marks a run as alive on a server that others use too: one connection whose application name is the run's. It ends
/// with this process in whatever way, so that a later run can tell databases whose owner has died.
pub(super) struct Keeper {
    _connection: PgConnection,
}

impl Keeper {
    pub(super) async fn new(link: &Link, run: &str) -> Result<Self, PostgresError> {
        debug_assert_eq!(run.len(), RUN_LENGTH, "the sweep reads the run off the name");
        let options = link.options().clone().application_name(run);
        Ok(Self { _connection: link.connect_as(&options).await? })
    }
}

/// Drops the databases of runs that are dead. Those of living runs, and what belongs to other roles, stay.
pub(super) async fn sweep(pool: &PgPool) -> Result<Vec<String>, PostgresError> {
    // A run's keeper is there before its first database: whatever is listed without one is dead.
    let names: Vec<String> = sqlx::query_scalar(
        "SELECT db.datname::text FROM pg_database db JOIN pg_roles ON pg_roles.oid = db.datdba \
         WHERE rolname = current_user AND db.datname ~ '^onejob_[0-9a-f]{8}_' AND NOT EXISTS \
         (SELECT FROM pg_stat_activity WHERE application_name = left(db.datname::text, $1))",
    )
    .bind(i32::try_from(RUN_LENGTH).unwrap_or(i32::MAX))
    .fetch_all(pool)
    .await
    .map_err(query_error("looking for databases that a killed run left"))?;
    for name in &names {
        drop_database(pool, name).await?;
    }
    Ok(names)
}

/// Drops one database and every connection to it; fine when it isn't there.
pub(super) async fn drop_database(pool: &PgPool, name: &str) -> Result<(), PostgresError> {
    let statement = format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", quote(name));
    sqlx::raw_sql(sqlx::AssertSqlSafe(statement))
        .execute(pool)
        .await
        .map(drop)
        .map_err(query_error(format!("dropping the database {name}")))
}

/// A name as SQL wants it.
pub(super) fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
