use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::{mpsc, oneshot};
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
    doors: mpsc::UnboundedSender<Door>,
    // Keeps the port while nobody listens on it.
    _place: TcpSocket,
}

/// What the proxy's task is told about its listener, and where it says what came of it.
enum Door {
    Close(oneshot::Sender<io::Result<()>>),
    Open(oneshot::Sender<io::Result<()>>),
}

/// As many as wait to be accepted.
const BACKLOG: u32 = 1024;

impl Proxy {
    /// A proxy for HTTP/1.1, which can have faults of either kind. Other protocols go through as bytes.
    pub async fn http(upstream: Upstream) -> Result<Self, FaultError> {
        Self::start(upstream, true).await
    }

    /// A proxy for any protocol, which can only have faults of the network.
    pub async fn raw(upstream: Upstream) -> Result<Self, FaultError> {
        Self::start(upstream, false).await
    }

    #[expect(clippy::unused_async, reason = "it spawns a task: whoever awaits it has the runtime for that")]
    async fn start(upstream: Upstream, http: bool) -> Result<Self, FaultError> {
        let place = bound((Ipv4Addr::LOCALHOST, 0).into()).map_err(FaultError::Listen)?;
        let address = place.local_addr().map_err(FaultError::Listen)?;
        let listener = listening(address).map_err(FaultError::Listen)?;
        let book = Arc::new(Book::new());
        let upstream = Arc::new(Mutex::new(upstream));
        let (doors, told) = mpsc::unbounded_channel();
        let task = tokio::spawn(accept(listener, told, Arc::clone(&upstream), Arc::clone(&book), http));
        Ok(Self { address, book, upstream, task: task.abort_handle(), doors, _place: place })
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

    /// Ends all connections and stops listening: whoever connects is refused by the kernel, as by a machine on which the
    /// service doesn't run. The port stays ours.
    pub async fn close(&self) -> Result<(), FaultError> {
        self.door(Door::Close).await
    }

    /// Listens again, at the same address.
    pub async fn open(&self) -> Result<(), FaultError> {
        self.door(Door::Open).await
    }

    async fn door(&self, to: fn(oneshot::Sender<io::Result<()>>) -> Door) -> Result<(), FaultError> {
        let (tell, told) = oneshot::channel();
        let _ = self.doors.send(to(tell));
        told.await.map_err(|_| FaultError::Over)?.map_err(FaultError::Listen)
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

/// A socket that has an address, which it shares with others of this process.
fn bound(address: SocketAddr) -> io::Result<TcpSocket> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    socket.set_reuseport(true)?;
    socket.bind(address)?;
    Ok(socket)
}

fn listening(address: SocketAddr) -> io::Result<TcpListener> {
    bound(address)?.listen(BACKLOG)
}

async fn accept(
    listener: TcpListener,
    mut doors: mpsc::UnboundedReceiver<Door>,
    upstream: Arc<Mutex<Upstream>>,
    book: Arc<Book>,
    http: bool,
) {
    let mut connections = JoinSet::new();
    let mut number = 0;
    let address = listener.local_addr();
    let mut listener = Some(listener);
    loop {
        tokio::select! {
            accepted = next(listener.as_ref()) => {
                // A client that left before it was greeted is no reason to end.
                let Ok((client, _)) = accepted else { continue };
                number += 1;
                let upstream = upstream.lock().unwrap_or_else(PoisonError::into_inner).clone();
                connections.spawn(serve(client, upstream, Arc::clone(&book), number, http));
            }
            Some(_) = connections.join_next() => {}
            Some(door) = doors.recv() => match door {
                Door::Close(tell) => {
                    listener = None;
                    connections.shutdown().await;
                    // Nobody has to wait for it.
                    let _ = tell.send(Ok(()));
                }
                Door::Open(tell) => {
                    let opened = match &address {
                        Ok(address) => listening(*address).map(|new| listener = Some(new)),
                        Err(error) => Err(error.kind().into()),
                    };
                    let _ = tell.send(opened);
                }
            },
        }
    }
}

/// The next client; never, while nobody listens.
async fn next(listener: Option<&TcpListener>) -> io::Result<(TcpStream, SocketAddr)> {
    match listener {
        Some(listener) => listener.accept().await,
        None => std::future::pending().await,
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
