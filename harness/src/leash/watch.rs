use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::engine::Engine;
use super::held::{Held, Order};
use super::processes::{self, Group};

/// What the watchdog prints when it is ready to take orders.
pub(super) const READY: &str = "watching";

/// A Postgres server needs 30 ms to quit; one that can't is killed.
const QUIT_WITHIN: Duration = Duration::from_secs(2);
/// A killed process is gone as soon as the kernel gets to it.
const GONE_WITHIN: Duration = Duration::from_secs(5);
/// Longest time to drop the databases on a server that the user lent us.
const DROPPED_WITHIN: Duration = Duration::from_secs(15);
const ENGINE_WITHIN: Duration = Duration::from_secs(15);

/// What the hidden subcommand runs: takes orders from `orders` until they end, then cleans up and returns.
///
/// `ready` gets one line as soon as nothing but SIGKILL can stop the watch.
pub fn watch(orders: impl BufRead, mut ready: impl Write) {
    ignore_signals();
    if writeln!(ready, "{READY}").and_then(|()| ready.flush()).is_err() {
        return;
    }
    drop(ready);
    let mut watched = Watched::default();
    // An order that can't be read is skipped: giving up would leave all the others behind.
    for line in orders.lines().map_while(Result::ok) {
        if let Ok(order) = serde_json::from_str(&line) {
            watched.take(order);
        }
    }
    watched.clean_up();
}

#[derive(Debug, Default)]
struct Watched {
    mark: Option<String>,
    groups: Vec<Group>,
    dirs: Vec<PathBuf>,
    containers: Vec<(String, String)>,
    databases: Vec<(String, String)>,
}

impl Watched {
    fn take(&mut self, order: Order) {
        match order {
            Order::Mark(mark) => self.mark = Some(mark),
            Order::Hold(Held::Group { leader, quit_first }) => {
                self.groups.extend(Group::new(leader, quit_first));
            }
            Order::Hold(Held::Dir { path }) => self.dirs.push(path),
            Order::Hold(Held::Container { engine, name }) => self.containers.push((engine, name)),
            Order::Hold(Held::Databases { admin_url, prefix }) => self.databases.push((admin_url, prefix)),
            Order::Release(Held::Group { leader, .. }) => self.groups.retain(|held| held.leader() != leader),
            Order::Release(Held::Dir { path }) => self.dirs.retain(|held| *held != path),
            Order::Release(Held::Container { name, .. }) => self.containers.retain(|(_, held)| *held != name),
            Order::Release(Held::Databases { prefix, .. }) => {
                self.databases.retain(|(_, held)| *held != prefix);
            }
        }
    }

    fn clean_up(self) {
        for group in &self.groups {
            group.end();
        }
        processes::wait_until(QUIT_WITHIN, || self.groups.iter().all(Group::has_quit));
        for group in &self.groups {
            group.kill();
        }
        let until = Instant::now() + GONE_WITHIN;
        if let Some(mark) = &self.mark {
            // A child that was started in the very moment of the end was never named; its mark tells.
            processes::wait_until(GONE_WITHIN, || processes::kill_marked(mark) == 0);
        }
        processes::wait_until(until.saturating_duration_since(Instant::now()), || {
            self.groups.iter().all(|group| !group.is_alive())
        });
        for (engine, name) in &self.containers {
            if let Ok(engine) = Engine::at(engine) {
                drop(engine.remove_container(name, ENGINE_WITHIN));
            }
        }
        drop_databases(self.databases);
        for dir in &self.dirs {
            remove(dir);
        }
    }
}

/// A process that dies while its folder is being removed can still put a file in it: try until it holds.
fn remove(dir: &Path) {
    processes::wait_until(Duration::from_secs(1), || {
        drop(std::fs::remove_dir_all(dir));
        !dir.exists()
    });
}

fn drop_databases(databases: Vec<(String, String)>) {
    if databases.is_empty() {
        return;
    }
    on_own_runtime(async move {
        for (admin_url, prefix) in databases {
            drop(tokio::time::timeout(DROPPED_WITHIN, drop_by_prefix(&admin_url, &prefix)).await);
        }
    });
}

async fn drop_by_prefix(admin_url: &str, prefix: &str) -> Result<(), sqlx::Error> {
    use sqlx::Connection;
    let mut connection = sqlx::PgConnection::connect(admin_url).await?;
    let names: Vec<String> = sqlx::query_scalar(
        "SELECT quote_ident(datname) FROM pg_database JOIN pg_roles ON pg_roles.oid = datdba \
         WHERE starts_with(datname, $1) AND rolname = current_user",
    )
    .bind(prefix)
    .fetch_all(&mut connection)
    .await?;
    for name in names {
        let statement = format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)");
        drop(sqlx::raw_sql(sqlx::AssertSqlSafe(statement)).execute(&mut connection).await);
    }
    connection.close().await
}

/// SIGTERM or SIGINT to everything named onejob must not take the one process that cleans up.
fn ignore_signals() {
    use tokio::signal::unix::{SignalKind, signal};
    on_own_runtime(async {
        for kind in
            [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup(), SignalKind::quit()]
        {
            // Once a listener was there, the signal's default action never comes back.
            drop(signal(kind));
        }
    });
}

/// The caller may be on a runtime already, where another one can't be entered: hence the thread.
fn on_own_runtime<F>(work: F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let thread = std::thread::spawn(move || {
        if let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() {
            runtime.block_on(work);
        }
    });
    drop(thread.join());
}
