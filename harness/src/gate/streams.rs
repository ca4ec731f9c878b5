//! One HTTP/2 connection from the client's side: streams that can be left one frame short of their end.

use std::{
    io,
    pin::Pin,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    task::{Context, Poll},
    time::Instant,
};

use futures::future::poll_fn;
use h2::{
    Ping, PingPong, SendStream,
    client::{ResponseFuture, SendRequest},
};
use http::{HeaderName, HeaderValue, Request};
use hyper::body::Bytes;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
    task::JoinHandle,
};

use super::{Loss, Origin, Outcome, Prepared, RawAnswer, wire::Unsendable};
use crate::history::Lost;

/// A connection. The task that drives it ends when this is dropped.
#[derive(Debug)]
pub(super) struct Streams {
    send: SendRequest<Bytes>,
    ping: Option<PingPong>,
    log: Arc<WriteLog>,
    driver: Driver,
}

impl Streams {
    pub(super) async fn open(stream: TcpStream) -> Result<Self, Loss> {
        acknowledge(&stream);
        let log = Arc::new(WriteLog::default());
        let logged = Logged { stream, log: Arc::clone(&log) };
        let (send, mut connection) = h2::client::handshake(logged).await.map_err(|error| loss(&error))?;
        let ping = connection.ping_pong();
        let driver = Driver(tokio::spawn(async move {
            // What breaks the connection breaks its streams, and they tell.
            let _ = connection.await;
        }));
        Ok(Self { send, ping, log, driver })
    }

    /// How many streams the peer allows at once.
    pub(super) fn most(&self) -> usize {
        self.send.current_max_send_streams()
    }

    /// Begins a request: its head and body, the end of the stream too where it is `whole`.
    pub(super) async fn begin(&mut self, head: Request<()>, body: &[u8], whole: bool) -> Result<Begun, Loss> {
        poll_fn(|cx| self.send.poll_ready(cx)).await.map_err(|error| loss(&error))?;
        let at_once = whole && body.is_empty();
        let (response, mut stream) = self.send.send_request(head, at_once).map_err(|error| loss(&error))?;
        let mut rest = Bytes::copy_from_slice(body);
        while !rest.is_empty() {
            stream.reserve_capacity(rest.len());
            let room = match poll_fn(|cx| stream.poll_capacity(cx)).await {
                Some(Ok(room)) => room.min(rest.len()),
                // The service has answered or reset the stream without wanting the rest: the answer tells.
                Some(Err(_)) | None => break,
            };
            let piece = rest.split_to(room);
            if stream.send_data(piece, whole && rest.is_empty()).is_err() {
                break;
            }
        }
        Ok(Begun { answer: Coming { response, began: Arc::default() }, stream })
    }

    /// Returns when the peer has all that was sent before.
    ///
    /// A ping overtakes data that is queued, so the first only makes sure that the queue has been written; the second,
    /// sent when the first has come back, follows all of it.
    pub(super) async fn settled(&mut self) -> Result<(), Loss> {
        let ping =
            self.ping.as_mut().ok_or_else(|| Loss::new(Lost::Unreadable, "the connection can't ping"))?;
        for _ in 0..2 {
            ping.ping(Ping::opaque()).await.map_err(|error| loss(&error))?;
        }
        Ok(())
    }

    /// Whether the connection has ended.
    pub(super) fn is_over(&self) -> bool {
        self.driver.0.is_finished()
    }

    /// Watches what is written from now on.
    pub(super) fn log(&self) -> &WriteLog {
        self.log.clear();
        &self.log
    }
}

/// The task that reads and writes the connection.
#[derive(Debug)]
struct Driver(JoinHandle<()>);

impl Drop for Driver {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// A request that is out.
#[derive(Debug)]
pub(super) struct Begun {
    pub(super) answer: Coming,
    pub(super) stream: SendStream<Bytes>,
}

impl Begun {
    /// Waits for the answer to a request that was sent as a whole.
    pub(super) async fn answer(self) -> Outcome {
        // Held until the answer is whole: dropping it would reset a stream whose body isn't out yet.
        let Self { answer, stream: _stream } = self;
        answer.whole().await
    }
}

/// An answer that is to come.
#[derive(Debug)]
pub(super) struct Coming {
    response: ResponseFuture,
    began: Arc<AtomicBool>,
}

impl Coming {
    /// Turns true when the answer's head is there.
    pub(super) fn began(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.began)
    }

    pub(super) async fn whole(self) -> Outcome {
        let response = self.response.await.map_err(|error| loss(&error))?;
        let first_byte_at = Instant::now();
        self.began.store(true, Ordering::Release);
        let (head, mut body) = response.into_parts();
        let mut whole = Vec::new();
        while let Some(piece) = body.data().await {
            let piece = piece.map_err(|error| loss(&error))?;
            whole.extend_from_slice(&piece);
            body.flow_control().release_capacity(piece.len()).map_err(|error| loss(&error))?;
        }
        let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        Ok(RawAnswer {
            status: head.status.as_u16(),
            headers: head
                .headers
                .iter()
                .map(|(name, value)| (name.as_str().to_owned(), text(value)))
                .collect(),
            body: whole,
            first_byte_at,
            done_at: Instant::now(),
        })
    }
}

/// The request's head. What belongs to HTTP/1.1's connections is left out.
pub(super) fn head(request: &Prepared, origin: &Origin) -> Result<Request<()>, Unsendable> {
    let host = request.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("host"));
    let authority = host.map_or(origin.authority(), |(_, value)| value);
    let mut head = Request::builder()
        .method(request.method.as_str())
        .uri(format!("{}://{authority}{}", origin.scheme(), origin.path(&request.path)))
        .body(())
        .map_err(|error| Unsendable(format!("`{} {}`: {error}", request.method, request.path)))?;
    for (name, value) in &request.headers {
        if ["host", "connection", "transfer-encoding", "keep-alive"]
            .iter()
            .any(|own| name.eq_ignore_ascii_case(own))
        {
            continue;
        }
        let wrong = || Unsendable(format!("`{name}` with that value is no header line"));
        let known: HeaderName = name.parse().map_err(|_| wrong())?;
        let value = HeaderValue::from_bytes(value.as_bytes()).map_err(|_| wrong())?;
        head.headers_mut().append(known, value);
    }
    Ok(head)
}

fn loss(error: &h2::Error) -> Loss {
    if let Some(broken) = error.get_io() {
        // This is how h2 tells that the connection was closed.
        return match broken.kind() {
            io::ErrorKind::BrokenPipe | io::ErrorKind::UnexpectedEof => Loss::closed(false),
            _ => Loss::broken(broken, "before the answer's end"),
        };
    }
    let how = if error.is_remote() { Lost::Reset } else { Lost::Unreadable };
    Loss::new(how, format!("HTTP/2: {error}"))
}

/// When a connection's bytes were written.
#[derive(Debug, Default)]
pub(super) struct WriteLog {
    writes: Mutex<Vec<Instant>>,
    flushes: AtomicU64,
}

impl WriteLog {
    fn clear(&self) {
        self.writes().clear();
        self.flushes.store(0, Ordering::Release);
    }

    /// The moments of the writes since the log was asked for, once they were flushed.
    pub(super) fn flushed(&self) -> Option<Vec<Instant>> {
        let writes = self.writes();
        (!writes.is_empty() && self.flushes.load(Ordering::Acquire) > 0).then(|| writes.clone())
    }

    fn writes(&self) -> std::sync::MutexGuard<'_, Vec<Instant>> {
        self.writes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Acknowledges at once. Many services leave Nagle's algorithm on, and then hold a pong back until what they sent before
/// is acknowledged, which a system otherwise does 40 ms later.
fn acknowledge(stream: &TcpStream) {
    #[cfg(target_os = "linux")]
    // Only the time it takes depends on it.
    let _ = stream.set_quickack(true);
    #[cfg(not(target_os = "linux"))]
    let _ = stream;
}

#[derive(Debug)]
struct Logged {
    stream: TcpStream,
    log: Arc<WriteLog>,
}

impl AsyncRead for Logged {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        std::task::ready!(Pin::new(&mut self.stream).poll_read(cx, buf))?;
        acknowledge(&self.stream);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Logged {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let at = Instant::now();
        let wrote = std::task::ready!(Pin::new(&mut self.stream).poll_write(cx, buf))?;
        self.log.writes().push(at);
        Poll::Ready(Ok(wrote))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        std::task::ready!(Pin::new(&mut self.stream).poll_flush(cx))?;
        if !self.log.writes().is_empty() {
            self.log.flushes.fetch_add(1, Ordering::AcqRel);
        }
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
