use std::str::FromStr as _;
use std::sync::Arc;
use std::time::Duration;

use sqlx::postgres::{PgArguments, PgConnectOptions, PgListener, PgPoolOptions};
use sqlx::query::Query;
use sqlx::{AssertSqlSafe, PgPool, Postgres, Transaction};

use super::StoreError;
use crate::rules::Rules;
use crate::{Config, Error};

/// The channel on which new work is told.
pub(crate) const WORK_CHANNEL: &str = "onejob_work";

/// How long a transaction waits for a lock that somebody else holds.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Wait {
    /// As long as a claim may wait.
    Briefly,
    /// As long as it takes: what a provider answered must not get lost.
    Patiently,
}

/// The database, and the rules that decide what is written to it.
#[derive(Clone)]
pub(crate) struct Store {
    pub(crate) rules: Arc<Rules>,
    pool: PgPool,
    pooled: bool,
    begin_briefly: Arc<str>,
}

impl Store {
    /// Prepares a pool; connects only when first used.
    pub(crate) fn new(config: &Config, rules: Arc<Rules>, connections: u32) -> Result<Self, Error> {
        let mut options = PgConnectOptions::from_str(&config.database_url)
            .map_err(|error| Error::Config(format!("the database URL can't be read: {error}")))?
            .application_name("onejob");
        if config.pooled {
            // A pooler in transaction mode refuses the startup parameter, and mixes up named statements.
            options = options.extra_float_digits(None).statement_cache_capacity(0);
        }
        let pool = PgPoolOptions::new()
            .max_connections(connections)
            .acquire_timeout(Duration::from_secs(5))
            // A ping on each acquire halves the throughput; broken connections are noticed and tried again instead.
            .test_before_acquire(false)
            .connect_lazy_with(options);
        let wait = config.lock_timeout.as_millis();
        Ok(Self {
            rules,
            pool,
            pooled: config.pooled,
            begin_briefly: format!("BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL lock_timeout = '{wait}ms'").into(),
        })
    }

    /// Begins a transaction whose isolation does not depend on the database's default: the statements here are
    /// written for READ COMMITTED, where each one sees what was committed before it.
    pub(crate) async fn begin(&self, wait: Wait) -> Result<Transaction<'static, Postgres>, StoreError> {
        Ok(match wait {
            // Made of a constant and a number.
            Wait::Briefly => self.pool.begin_with(AssertSqlSafe(self.begin_briefly.to_string())).await?,
            Wait::Patiently => self.pool.begin_with("BEGIN ISOLATION LEVEL READ COMMITTED").await?,
        })
    }

    /// A query that is prepared once per connection, unless a pooler forbids it.
    pub(crate) fn query(&self, sql: &'static str) -> Query<'static, Postgres, PgArguments> {
        sqlx::query(sql).persistent(!self.pooled)
    }

    /// Listens for new work; `None` behind a pooler, where nobody could be notified.
    pub(crate) async fn listen(&self) -> Result<Option<PgListener>, StoreError> {
        if self.pooled {
            return Ok(None);
        }
        let mut listener = PgListener::connect_with(&self.pool).await?;
        listener.listen(WORK_CHANNEL).await?;
        Ok(Some(listener))
    }

    /// Answers whether the database does.
    pub(crate) async fn ping(&self) -> Result<(), StoreError> {
        let mut transaction = self.begin(Wait::Briefly).await?;
        self.query("SELECT 1").execute(&mut *transaction).await?;
        transaction.commit().await?;
        Ok(())
    }

    /// Runs a script of statements that take no parameters, as one transaction.
    pub(crate) async fn run(&self, script: String) -> Result<(), StoreError> {
        let mut transaction = self.begin(Wait::Patiently).await?;
        // Put together from constants of this module.
        sqlx::raw_sql(AssertSqlSafe(script)).execute(&mut *transaction).await?;
        transaction.commit().await?;
        Ok(())
    }

    /// Closes all connections.
    pub(crate) async fn close(&self) {
        self.pool.close().await;
    }

    /// Connections that are open, and those of them that nobody uses.
    pub(crate) fn connections(&self) -> (u32, usize) {
        (self.pool.size(), self.pool.num_idle())
    }
}

/// The number of microseconds, as Postgres takes it.
pub(crate) fn micros(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}
