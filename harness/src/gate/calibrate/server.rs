//! The services that gates are measured on, on a runtime of their own as a real service would be.

use std::{
    future::Future,
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError, mpsc},
    thread::{self, JoinHandle},
    time::Instant,
};

use axum::{
    Router,
    body::Bytes,
    extract::{Path, State},
    http::StatusCode,
    routing::post,
};
use sqlx::PgPool;
use tokio::{net::TcpListener, sync::oneshot};

/// A running server. It ends when this is dropped.
#[derive(Debug)]
pub(super) struct Server {
    pub(super) address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// When requests arrived, since it was last asked.
#[derive(Debug, Clone, Default)]
pub(super) struct Arrivals(Arc<Mutex<Vec<Instant>>>);

impl Arrivals {
    pub(super) fn take(&self) -> Vec<Instant> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Server {
    /// Takes note of every request at the moment at which it is there as a whole.
    pub(super) fn noting(arrivals: &Arrivals) -> std::io::Result<Self> {
        let arrivals = arrivals.clone();
        Self::start(move || async move {
            let note = async |State(Arrivals(arrivals)): State<Arrivals>, _body: Bytes| {
                arrivals.lock().unwrap_or_else(PoisonError::into_inner).push(Instant::now());
                StatusCode::NO_CONTENT
            };
            Router::new().route("/", post(note)).with_state(arrivals)
        })
    }

    /// Looks whether a key is known and, where it isn't, makes it: the oldest of all bugs.
    pub(super) fn checking_then_acting(
        pool: impl Future<Output = PgPool> + Send + 'static,
    ) -> std::io::Result<Self> {
        Self::start(move || async move {
            let create = async |State(pool): State<PgPool>, Path(key): Path<String>, _body: Bytes| {
                let made = create(&pool, &key).await;
                made.map_or(StatusCode::INTERNAL_SERVER_ERROR, |made| {
                    if made { StatusCode::CREATED } else { StatusCode::OK }
                })
            };
            Router::new().route("/{key}", post(create)).with_state(pool.await)
        })
    }

    fn start<Routes>(routes: impl FnOnce() -> Routes + Send + 'static) -> std::io::Result<Self>
    where
        Routes: Future<Output = Router> + Send + 'static,
    {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        let (tell, told) = mpsc::channel();
        let (stop, stopped) = oneshot::channel::<()>();
        let thread = thread::Builder::new().name("onejob-measured".to_owned()).spawn(move || {
            runtime.block_on(async {
                let bound = async {
                    let listener = TcpListener::bind("127.0.0.1:0").await?;
                    listener.local_addr().map(|address| (listener, address))
                };
                let (listener, address) = match bound.await {
                    Ok(bound) => bound,
                    Err(error) => return drop(tell.send(Err(error))),
                };
                let routes = routes().await;
                drop(tell.send(Ok(address)));
                let serving = axum::serve(listener, routes);
                tokio::select! {
                    _ = serving => {}
                    _ = stopped => {}
                }
            });
        })?;
        let address = told.recv().unwrap_or_else(|_| Err(std::io::ErrorKind::BrokenPipe.into()))?;
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
