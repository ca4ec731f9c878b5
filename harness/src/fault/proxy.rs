use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, JoinSet};

use super::book::Book;
use super::converse::Conversation;
use super::kinds::Times;
use super::shaper::is_refused;
use super::side::Side;
use super::{Armed, FaultError, ProxyFault, Upstream};

/// A proxy on the loopback address. Without faults it passes every byte on as it comes; dropping it ends it and all
/// its connections.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    book: Arc<Book>,
    upstream: Arc<Mutex<Upstream>>,
    task: AbortHandle,
}

impl Proxy {
    /// A proxy for HTTP/1.1, which can have faults of either kind. Other protocols go through as bytes.
    pub async fn http(upstream: Upstream) -> Result<Self, FaultError> {
        Self::start(upstream, true).await
    }

    /// A proxy for any protocol, which can only have faults of the network.
    pub async fn raw(upstream: Upstream) -> Result<Self, FaultError> {
        Self::start(upstream, false).await
    }

    async fn start(upstream: Upstream, http: bool) -> Result<Self, FaultError> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.map_err(FaultError::Listen)?;
        let address = listener.local_addr().map_err(FaultError::Listen)?;
        let book = Arc::new(Book::new());
        let upstream = Arc::new(Mutex::new(upstream));
        let task = tokio::spawn(accept(listener, Arc::clone(&upstream), Arc::clone(&book), http));
        Ok(Self { address, book, upstream, task: task.abort_handle() })
    }

    /// Where clients connect to.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where new connections go from now on; those that are there stay.
    pub fn redirect(&self, upstream: Upstream) {
        *self.upstream.lock().unwrap_or_else(PoisonError::into_inner) = upstream;
    }

    /// Arms a fault.
    pub fn arm(&self, fault: impl Into<ProxyFault>, times: Times) -> Armed {
        self.arm_all(vec![(fault.into(), times)]).remove(0)
    }

    /// Arms several faults at once: no byte passes between the first and the last. One fault for each, in their order.
    #[must_use]
    pub fn arm_all(&self, faults: Vec<(ProxyFault, Times)>) -> Vec<Armed> {
        self.book.arm(faults)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn accept(listener: TcpListener, upstream: Arc<Mutex<Upstream>>, book: Arc<Book>, http: bool) {
    let mut connections = JoinSet::new();
    let mut number = 0;
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                // A client that left before it was greeted is no reason to end.
                let Ok((client, _)) = accepted else { continue };
                number += 1;
                let upstream = upstream.lock().unwrap_or_else(PoisonError::into_inner).clone();
                connections.spawn(serve(client, upstream, Arc::clone(&book), number, http));
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn serve(client: TcpStream, upstream: Upstream, book: Arc<Book>, number: u64, http: bool) {
    let begun = Instant::now();
    if is_refused(&book, number) {
        // Failing, it closes in order, which the client can't mistake for an answer either.
        let _ = client.set_zero_linger();
        return;
    }
    let Ok(client) = Side::tcp(client) else { return };
    match upstream.connect().await {
        Ok(upstream) => Conversation::new(book, number, client, upstream).run(http, number, begun).await,
        Err(_) => client.reset(),
    }
}
