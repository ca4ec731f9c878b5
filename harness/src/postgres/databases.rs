use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use sqlx::postgres::{PgPool, PgPoolOptions};
use tokio::sync::{Mutex, OnceCell, mpsc};
use tokio::task::JoinHandle;

use super::lent::{Keeper, drop_database, quote, sweep};
use super::link::query_error;
use super::template::Sealed;
use super::{PostgresError, Server, Template};
use crate::leash::{Held, Leash};

/// Enough to make several databases at a time, few enough to leave the server to the service under test.
const CONNECTIONS: u32 = 8;

/// On a server of our own, databases that are done with are dropped by the batch: it costs time, and only disk space
/// is gained.
const DONE_BEFORE_DROPPING: usize = 16;

/// The databases of one run: templates that were migrated once, and clones of them.
///
/// On the user's own server they are named `onejob_RUN_N` and dropped in any case: by [`close`](Self::close), by the
/// watchdog when the process ends otherwise, and by the next run when even that was killed.
#[derive(Clone)]
pub struct Databases(Arc<Shared>);

pub(super) struct Shared {
    pub(super) server: Server,
    pub(super) pool: PgPool,
    run: String,
    count: AtomicU64,
    ahead: usize,
    templates: Mutex<HashMap<String, Arc<OnceCell<Arc<Sealed>>>>>,
    /// None ends the dropping.
    done: mpsc::UnboundedSender<Option<String>>,
    dropper: Mutex<Option<JoinHandle<()>>>,
    leash: Leash,
    held: Option<Held>,
    _keeper: Option<Keeper>,
}

impl Databases {
    /// Begins a run's databases on a server. `ahead` of them are made in advance for each template, in the
    /// background; with 0 each is made when it is asked for.
    pub async fn open(server: &Server, leash: &Leash, ahead: usize) -> Result<Self, PostgresError> {
        let pool = PgPoolOptions::new()
            .max_connections(CONNECTIONS)
            .connect_lazy_with(server.link().options().clone().application_name("onejob"));
        let id = uuid::Uuid::new_v4().simple().to_string();
        let run = format!("onejob_{}", &id[..8]);
        let lent = !server.is_ours();
        let mut held = None;
        let mut keeper = None;
        if lent {
            sweep(&pool).await?;
            keeper = Some(Keeper::new(server.link(), &run).await?);
            let all = Held::Databases { admin_url: server.admin_url().to_owned(), prefix: format!("{run}_") };
            leash.hold(all.clone())?;
            held = Some(all);
        }
        let (done, queue) = mpsc::unbounded_channel();
        let batch = if lent { 1 } else { DONE_BEFORE_DROPPING };
        let dropper = tokio::spawn(drop_when_done(pool.clone(), queue, batch));
        Ok(Self(Arc::new(Shared {
            server: server.clone(),
            pool,
            run,
            count: AtomicU64::new(0),
            ahead,
            templates: Mutex::default(),
            done,
            dropper: Mutex::new(Some(dropper)),
            leash: leash.clone(),
            held,
            _keeper: keeper,
        })))
    }

    /// A template by its name. The first call creates its database and lets `migrate` fill it, by its URL; every
    /// later one returns what is there. A failed migration is tried again by the next call.
    pub async fn template<F, Fut, E>(&self, name: &str, migrate: F) -> Result<Template, PostgresError>
    where
        F: FnOnce(String) -> Fut,
        Fut: Future<Output = Result<(), E>>,
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let cell = Arc::clone(self.0.templates.lock().await.entry(name.to_owned()).or_default());
        let make = async || Sealed::make(&self.0, name, self.0.ahead, migrate).await.map(Arc::new);
        let sealed = cell.get_or_try_init(make).await?;
        Ok(Template::new(Arc::clone(&self.0), Arc::clone(sealed)))
    }

    /// An empty database of its own, for a target that brings its own schema.
    pub async fn empty(&self) -> Result<Database, PostgresError> {
        let name = self.0.next_name();
        self.0.create(&name, None).await?;
        Ok(self.0.hand_out(name))
    }

    /// Drops all databases of this run where the server isn't ours; on one of ours they go with it.
    ///
    /// Every connection to them is ended.
    pub async fn close(self) -> Result<(), PostgresError> {
        let shared = &self.0;
        for cell in shared.templates.lock().await.drain().map(|(_, cell)| cell) {
            if let Some(template) = cell.get() {
                template.stop().await;
            }
        }
        drop(shared.done.send(None));
        if let Some(dropper) = shared.dropper.lock().await.take() {
            drop(dropper.await);
        }
        let Some(held) = &shared.held else { return Ok(()) };
        let names: Vec<String> =
            sqlx::query_scalar("SELECT datname::text FROM pg_database WHERE starts_with(datname, $1)")
                .bind(format!("{}_", shared.run))
                .fetch_all(&shared.pool)
                .await
                .map_err(query_error("looking for this run's databases"))?;
        for name in names {
            drop_database(&shared.pool, &name).await?;
        }
        shared.leash.release(held.clone());
        Ok(())
    }
}

impl fmt::Debug for Databases {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Databases({} on {:?})", self.0.run, self.0.server)
    }
}

impl Shared {
    pub(super) fn next_name(&self) -> String {
        format!("{}_{}", self.run, self.count.fetch_add(1, Ordering::Relaxed))
    }

    pub(super) fn hand_out(&self, name: String) -> Database {
        Database {
            url: self.server.url_of(&name),
            tcp_url: self.server.tcp_url_of(&name),
            name,
            done: self.done.clone(),
        }
    }

    pub(super) async fn create(&self, name: &str, template: Option<&str>) -> Result<(), PostgresError> {
        let name_in_sql = quote(name);
        // Copying files beats writing every page to the log by a factor of two; before 15 it is the only way.
        let strategy = if self.server.version_number() >= 150_000 { " STRATEGY file_copy" } else { "" };
        let statement = match template {
            Some(template) => format!("CREATE DATABASE {name_in_sql} TEMPLATE {}{strategy}", quote(template)),
            None => format!("CREATE DATABASE {name_in_sql}"),
        };
        sqlx::raw_sql(sqlx::AssertSqlSafe(statement))
            .execute(&self.pool)
            .await
            .map(drop)
            .map_err(query_error(format!("creating the database {name}")))
    }
}

/// A database of its own.
#[derive(Clone)]
pub struct Database {
    /// Its name on the server.
    pub name: String,
    /// Its URL, over the unix socket where there is one. It may hold a password.
    pub url: String,
    /// Its URL over TCP, see [`Server::tcp_url_of`].
    pub tcp_url: Option<String>,
    done: mpsc::UnboundedSender<Option<String>>,
}

impl fmt::Debug for Database {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Database({})", self.name)
    }
}

impl Database {
    /// Lets the server drop it: nothing uses it any more. A database that is not let go goes with the run.
    pub fn let_go(self) {
        // A closed queue means that the run is over, and everything goes anyway.
        drop(self.done.send(Some(self.name)));
    }
}

async fn drop_when_done(pool: PgPool, mut queue: mpsc::UnboundedReceiver<Option<String>>, batch: usize) {
    let mut waiting = Vec::new();
    while let Some(Some(name)) = queue.recv().await {
        waiting.push(name);
        if waiting.len() >= batch {
            for name in waiting.drain(..) {
                // One that can't be dropped now goes with the run.
                drop(drop_database(&pool, &name).await);
            }
        }
    }
}
