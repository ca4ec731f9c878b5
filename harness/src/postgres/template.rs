use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures::future::join_all;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use super::databases::Shared;
use super::lent::quote;
use super::link::query_error;
use super::{Database, PostgresError};

/// A connection that was told to go is gone in a moment; one that isn't would make every clone fail.
const ALONE_WITHIN: Duration = Duration::from_secs(5);

/// A migrated database that others are cloned from.
#[derive(Clone)]
pub struct Template {
    shared: Arc<Shared>,
    sealed: Arc<Sealed>,
}

/// What is known of a template without the server it is on, which keeps the templates itself.
pub(super) struct Sealed {
    database: String,
    stock: Arc<Stock>,
    maker: tokio::sync::Mutex<Option<JoinHandle<()>>>,
}

#[derive(Default)]
struct Stock {
    ready: Mutex<VecDeque<String>>,
    changed: Notify,
    closed: AtomicBool,
}

impl Template {
    pub(super) fn new(shared: Arc<Shared>, sealed: Arc<Sealed>) -> Self {
        Self { shared, sealed }
    }

    /// A clone of the template: one that is ready, or one that is made now.
    pub async fn fresh(&self) -> Result<Database, PostgresError> {
        let stock = &self.sealed.stock;
        let ready = stock.lock().pop_front();
        stock.changed.notify_one();
        let name = match ready {
            Some(name) => name,
            None => clone_of(&self.shared, &self.sealed.database).await?,
        };
        Ok(self.shared.hand_out(name))
    }

    /// How many clones are ready to be handed out.
    #[must_use]
    pub fn ready(&self) -> usize {
        self.sealed.stock.lock().len()
    }
}

impl fmt::Debug for Template {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Template({})", self.sealed.database)
    }
}

impl Sealed {
    /// Creates the database, lets it be filled, closes it to connections and begins with its clones.
    pub(super) async fn make<F, Fut, E>(
        shared: &Arc<Shared>,
        name: &str,
        ahead: usize,
        migrate: F,
    ) -> Result<Self, PostgresError>
    where
        F: FnOnce(String) -> Fut,
        Fut: Future<Output = Result<(), E>>,
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let database = format!("{}_t", shared.next_name());
        shared.create(&database, None).await?;
        migrate(shared.server.url_of(&database))
            .await
            .map_err(|error| PostgresError::Migration { template: name.to_owned(), cause: error.into() })?;
        seal(shared, &database).await?;
        let stock = Arc::new(Stock::default());
        let maker = keep_stock(Arc::downgrade(shared), database.clone(), Arc::clone(&stock), ahead);
        let maker = tokio::sync::Mutex::new(Some(tokio::spawn(maker)));
        Ok(Self { database, stock, maker })
    }

    /// Stops making clones, and returns when the last one that was begun is finished: nothing appears afterwards.
    pub(super) async fn stop(&self) {
        self.stock.closed.store(true, Ordering::SeqCst);
        self.stock.changed.notify_one();
        if let Some(maker) = self.maker.lock().await.take() {
            drop(maker.await);
        }
    }
}

impl Drop for Sealed {
    fn drop(&mut self) {
        self.stock.closed.store(true, Ordering::SeqCst);
        self.stock.changed.notify_one();
    }
}

impl Stock {
    fn lock(&self) -> std::sync::MutexGuard<'_, VecDeque<String>> {
        self.ready.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn clone_of(shared: &Shared, template: &str) -> Result<String, PostgresError> {
    let name = shared.next_name();
    shared.create(&name, Some(template)).await?;
    Ok(name)
}

/// Makes clones until enough are ready, then waits until one is taken.
async fn keep_stock(shared: std::sync::Weak<Shared>, template: String, stock: Arc<Stock>, ahead: usize) {
    while !stock.closed.load(Ordering::SeqCst) {
        let missing = ahead.saturating_sub(stock.lock().len());
        if missing > 0 {
            let Some(shared) = shared.upgrade() else { return };
            let made = join_all((0..missing).map(|_| clone_of(&shared, &template))).await;
            let all = made.iter().all(Result::is_ok);
            stock.lock().extend(made.into_iter().flatten());
            if all {
                continue;
            }
            // The next one who asks makes its own and learns why; then it is tried again here.
        }
        stock.changed.notified().await;
    }
}

/// Closes a template to connections: Postgres clones none that somebody is connected to.
async fn seal(shared: &Shared, database: &str) -> Result<(), PostgresError> {
    let doing = || format!("closing the template {database} to connections");
    let statement = format!("ALTER DATABASE {} WITH ALLOW_CONNECTIONS false", quote(database));
    sqlx::raw_sql(sqlx::AssertSqlSafe(statement))
        .execute(&shared.pool)
        .await
        .map_err(query_error(doing()))?;
    let deadline = Instant::now() + ALONE_WITHIN;
    loop {
        let left: i64 = sqlx::query_scalar(
            "SELECT count(*) FILTER (WHERE pg_terminate_backend(pid) IS NOT NULL) FROM pg_stat_activity \
             WHERE datname = $1 AND backend_type = 'client backend'",
        )
        .bind(database)
        .fetch_one(&shared.pool)
        .await
        .map_err(query_error(doing()))?;
        if left == 0 || Instant::now() >= deadline {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}
