use std::str::FromStr as _;
use std::sync::Arc;

use sqlx::migrate::Migrator;
use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _, PgConnection, Row as _};

use crate::{Config, Error};

static MIGRATOR: Migrator = sqlx::migrate!("./migrations");

/// Brings the schema of a database up to date. Safe to call from several processes at once.
pub async fn migrate(database_url: &str) -> Result<(), Error> {
    let mut connection = connect(database_url, false).await?;
    MIGRATOR.run_direct(None, &mut connection, false).await.map_err(|source| Error::Migration { source })?;
    connection.close().await.map_err(|source| Error::Database { source })
}

/// Makes sure that the database answers and has the schema that this program knows. One connection of its own, whose
/// errors come at once: a pool would go on trying.
pub(crate) async fn prepare(config: Arc<Config>) -> Result<(), Error> {
    let database = |source| Error::Database { source };
    let mut connection = connect(&config.database_url, config.pooled).await?;
    let expected = i64::try_from(MIGRATOR.iter().count()).unwrap_or(i64::MAX);
    let mut found = applied(&mut connection).await.map_err(database)?;
    if found < expected && config.migrate {
        MIGRATOR
            .run_direct(None, &mut connection, false)
            .await
            .map_err(|source| Error::Migration { source })?;
        found = applied(&mut connection).await.map_err(database)?;
    }
    connection.close().await.map_err(database)?;
    // A newer schema is fine: migrations first add, and remove only what no running program uses.
    if found < expected { Err(Error::NotMigrated { found, expected }) } else { Ok(()) }
}

async fn connect(database_url: &str, pooled: bool) -> Result<PgConnection, Error> {
    let mut options = PgConnectOptions::from_str(database_url)
        .map_err(|error| Error::Config(format!("the database URL can't be read: {error}")))?;
    if pooled {
        options = options.extra_float_digits(None).statement_cache_capacity(0);
    }
    options.connect().await.map_err(|source| Error::Database { source })
}

/// How many migrations the database has. Unnamed statements in a transaction, so that it works behind a pooler.
async fn applied(connection: &mut PgConnection) -> Result<i64, sqlx::Error> {
    let mut transaction = connection.begin().await?;
    let row = sqlx::query("SELECT to_regclass('_sqlx_migrations') IS NOT NULL")
        .persistent(false)
        .fetch_one(&mut *transaction)
        .await?;
    let mut applied = 0;
    if row.try_get(0)? {
        let row = sqlx::query("SELECT count(*) FROM _sqlx_migrations WHERE success")
            .persistent(false)
            .fetch_one(&mut *transaction)
            .await?;
        applied = row.try_get(0)?;
    }
    transaction.commit().await?;
    Ok(applied)
}
