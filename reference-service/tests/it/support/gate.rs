use std::str::FromStr as _;
use std::time::Duration;

use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _, Executor as _, PgConnection};

/// Holds a lock on `jobs` until a number of writers wait for it: then the race is certain.
pub(crate) struct LockGate {
    holder: PgConnection,
    observer: PgConnection,
}

impl LockGate {
    pub(crate) async fn close(url: &str) -> Self {
        let options = PgConnectOptions::from_str(url).expect("a valid URL");
        let mut holder = options.connect().await.expect("a connection");
        let observer = options.connect().await.expect("a connection");
        holder.execute("BEGIN; LOCK TABLE jobs IN SHARE ROW EXCLUSIVE MODE").await.expect("the lock");
        Self { holder, observer }
    }

    /// Waits until so many writers wait.
    pub(crate) async fn wait_for(&mut self, writers: i64) {
        let all_there = async {
            loop {
                let waiting: i64 = sqlx::query_scalar(
                    "SELECT count(*) FROM pg_locks WHERE NOT granted AND database = \
                     (SELECT oid FROM pg_database WHERE datname = current_database())",
                )
                .fetch_one(&mut self.observer)
                .await
                .expect("pg_locks can be read");
                if waiting >= writers {
                    return;
                }
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(10), all_there).await.expect("the writers arrive");
    }

    pub(crate) async fn open(mut self) {
        self.holder.execute("COMMIT").await.expect("the lock is given back");
        self.holder.close().await.expect("the connection closes");
        self.observer.close().await.expect("the connection closes");
    }
}
