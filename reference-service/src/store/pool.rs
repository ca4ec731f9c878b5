use std::str::FromStr as _;
use std::sync::Arc;
use std::time::Duration;

use sqlx::postgres::{PgArguments, PgConnectOptions, PgListener, PgPoolOptions};
use sqlx::query::Query;
use sqlx::{AssertSqlSafe, PgPool, Postgres};
use tokio::sync::Notify;

use super::StoreError;
use super::session::Session;
use super::transaction::transaction;
use crate::reach::Occasion;
use crate::rules::Rules;
use crate::{Config, Error};

/// The channel on which new work is told.
pub(crate) const WORK_CHANNEL: &str = "onejob_work";

/// What a piece of work needs of the database.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Wait {
    /// A transaction that waits for locks only as long as a claim may.
    Briefly,
    /// A transaction that waits for locks as long as it takes: what a provider answered must not get lost.
    Patiently,
    /// Statements that are each complete in themselves: no round trips for a transaction around them.
    Singly,
}

/// The database, and the rules that decide what is written to it.
#[derive(Clone)]
pub(crate) struct Store {
    pub(crate) rules: Arc<Rules>,
    pool: PgPool,
    pooled: bool,
    /// Whether requests wait in this store, and not workers.
    impatient: bool,
    begin_briefly: Arc<str>,
    /// How long a transaction may take before its connection is given up.
    pub(super) limit: Duration,
    bell: Arc<Notify>,
}

impl Store {
    /// Prepares a pool for requests; connects only when first used.
    pub(crate) fn for_requests(config: &Config, rules: Arc<Rules>) -> Result<Self, Error> {
        Self::new(config, rules, config.api_connections, true)
    }

    /// Prepares a pool for workers. One of its own: requests that wait for a lock must not keep results from being
    /// written.
    pub(crate) fn for_workers(config: &Config, rules: Arc<Rules>) -> Result<Self, Error> {
        Self::new(config, rules, config.worker_connections, false)
    }

    fn new(config: &Config, rules: Arc<Rules>, connections: u32, impatient: bool) -> Result<Self, Error> {
        let mut options = PgConnectOptions::from_str(&config.database_url)
            .map_err(|error| Error::Config(format!("the database URL can't be read: {error}")))?
            .application_name("onejob");
        if config.pooled {
            rules.reach.met(Occasion::Pooled);
        }
        let pooled = config.pooled && rules.heeds_pooler;
        if pooled {
            // A pooler in transaction mode refuses the startup parameter, and mixes up named statements.
            options = options.extra_float_digits(None).statement_cache_capacity(0);
        }
        let wait = if impatient { config.lock_timeout.as_millis() } else { 0 };
        let more = if rules.waits_for_commits { "" } else { "; SET synchronous_commit = off" };
        // For statements outside of transactions, which say it themselves. They are written for READ COMMITTED,
        // whatever the default of the database is.
        let setup: Arc<str> = format!(
            "SET default_transaction_isolation = 'read committed'; SET lock_timeout = '{wait}ms'{more}"
        )
        .into();
        let pool = PgPoolOptions::new()
            .max_connections(connections)
            .acquire_timeout(Duration::from_secs(5))
            // What a burst opened is given back to the server soon.
            .idle_timeout(Duration::from_secs(30))
            // A ping on each acquire halves the throughput; broken connections are noticed and tried again instead.
            .test_before_acquire(false)
            .after_connect(move |connection, _| {
                let setup = Arc::clone(&setup);
                Box::pin(async move {
                    if !pooled {
                        // Made of a constant and a number.
                        sqlx::raw_sql(AssertSqlSafe(setup.to_string())).execute(connection).await?;
                    }
                    Ok(())
                })
            })
            .connect_lazy_with(options);
        let wait = config.lock_timeout.as_millis();
        Ok(Self {
            rules,
            pool,
            pooled,
            impatient,
            begin_briefly: format!(
                "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL lock_timeout = '{wait}ms'"
            )
            .into(),
            limit: config.database_timeout + if impatient { config.lock_timeout } else { Duration::ZERO },
            bell: Arc::default(),
        })
    }

    /// Gets a connection, and begins a transaction on it when one is needed. Behind a pooler it always is: elsewhere
    /// two statements, and even the two halves of one, may land on different servers.
    pub(crate) async fn begin(&self, wait: Wait) -> Result<Session, StoreError> {
        let wait = match wait {
            Wait::Singly if !self.pooled => return Ok(Session::single(self.pool.acquire().await?)),
            Wait::Singly if self.impatient => Wait::Briefly,
            Wait::Singly => Wait::Patiently,
            Wait::Patiently if !self.rules.waits_for_rows => Wait::Briefly,
            wait => wait,
        };
        let begin = match wait {
            Wait::Briefly => Arc::clone(&self.begin_briefly),
            _ => "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL lock_timeout = 0".into(),
        };
        Session::transaction(self.pool.acquire().await?, &begin).await
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

    /// Tells that there is new work. Never waits: [`Store::pass_on`] does the telling.
    pub(crate) fn ring(&self) {
        self.bell.notify_one();
    }

    /// Tells the workers of all processes whenever somebody rang. Not within the transactions that make the work,
    /// because commits of transactions that notify stand in line for one lock; and many rings become one
    /// notification. A ring that gets lost in a crash costs a worker's poll interval.
    pub(crate) async fn pass_on(self) {
        loop {
            self.bell.notified().await;
            if let Err(error) = self.notify().await {
                tracing::warn!(%error, "workers were not told of new work; they will find it");
            }
        }
    }

    async fn notify(&self) -> Result<(), StoreError> {
        transaction!(self, Wait::Singly, |tx| {
            self.query("SELECT pg_notify('onejob_work', '')::text").execute(tx).await?;
        })
    }

    /// Answers whether the database does.
    pub(crate) async fn ping(&self) -> Result<(), StoreError> {
        transaction!(self, Wait::Singly, |tx| {
            self.query("SELECT 1").execute(tx).await?;
        })
    }

    /// Runs a script of statements that take no parameters, as one transaction.
    pub(crate) async fn run(&self, script: String) -> Result<(), StoreError> {
        let mut session = self.begin(Wait::Patiently).await?;
        // Put together from constants of this module.
        sqlx::raw_sql(AssertSqlSafe(script)).execute(&mut *session).await?;
        session.commit().await
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
