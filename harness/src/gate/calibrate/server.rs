//! The services that gates are measured on, on a runtime of their own as a real service would be.

use std::{
    future::Future,
    net::SocketAddr,
    thread::{self, JoinHandle},
};

use axum::{
    Router,
    body::Bytes,
    extract::{Path, State},
    http::StatusCode,
    routing::post,
};
use sqlx::{
    PgPool,
    postgres::{PgConnectOptions, PgPoolOptions},
};
use tokio::{net::TcpListener, runtime::Runtime, sync::oneshot};

use super::{
    super::Protocol,
    receiver::{Arrivals, receive},
};

/// A running server. It ends when this is dropped.
#[derive(Debug)]
pub(super) struct Server {
    pub(super) address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Takes note of every request at the moment at which it is there as a whole.
    pub(super) fn noting(protocol: Protocol, arrivals: &Arrivals) -> std::io::Result<Self> {
        let arrivals = arrivals.clone();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        Self::start(runtime, move |listener| receive(listener, protocol, arrivals))
    }

    /// Looks whether a key is known and, where it isn't, makes it: the oldest of all bugs. Connects as it is needed.
    pub(super) fn checking_then_acting(
        pool: PgPoolOptions,
        options: PgConnectOptions,
    ) -> std::io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        Self::start(runtime, move |listener| async move {
            let create = async |State(pool): State<PgPool>, Path(key): Path<String>, _body: Bytes| {
                let made = create(&pool, &key).await;
                made.map_or(StatusCode::INTERNAL_SERVER_ERROR, |made| {
                    if made { StatusCode::CREATED } else { StatusCode::OK }
                })
            };
            let pool = pool.connect_lazy_with(options);
            let routes = Router::new().route("/{key}", post(create)).with_state(pool);
            // It never ends by itself.
            let _ = axum::serve(listener, routes).await;
        })
    }

    fn start<Serving>(
        runtime: Runtime,
        serve: impl FnOnce(TcpListener) -> Serving + Send + 'static,
    ) -> std::io::Result<Self>
    where
        Serving: Future<Output = ()> + Send,
    {
        let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let (stop, stopped) = oneshot::channel::<()>();
        let run = async move {
            let Ok(listener) = TcpListener::from_std(listener) else { return };
            tokio::select! {
                () = serve(listener) => {}
                _ = stopped => {}
            }
        };
        let thread =
            thread::Builder::new().name("onejob-measured".to_owned()).spawn(move || runtime.block_on(run))?;
        Ok(Self { address, stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // It panics only where the measured service does, and then the measuring has failed before.
            let _ = thread.join();
        }
    }
}

async fn create(pool: &PgPool, key: &str) -> sqlx::Result<bool> {
    let mut connection = pool.acquire().await?;
    let known: Option<i32> = sqlx::query_scalar("SELECT 1 FROM jobs WHERE key = $1")
        .bind(key)
        .fetch_optional(&mut *connection)
        .await?;
    if known.is_some() {
        return Ok(false);
    }
    sqlx::query("INSERT INTO jobs (key) VALUES ($1)").bind(key).execute(&mut *connection).await?;
    Ok(true)
}
