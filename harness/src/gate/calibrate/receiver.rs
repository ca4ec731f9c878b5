//! A service that does nothing but note when requests arrive: as close to the socket as can be, so that what is measured
//! is the gate and not a web framework.

use std::{
    io,
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

use http::{Response, StatusCode};
use hyper::body::Bytes;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinSet,
};

use super::super::Protocol;

/// The body of every request that is measured. No other part of a request looks like it, so it shows a request's end.
pub(super) const BODY: &[u8] = br#"{"kind":"measure"}"#;

/// When requests arrived as a whole, since it was last asked.
#[derive(Debug, Clone, Default)]
pub(super) struct Arrivals(Arc<Mutex<Vec<Instant>>>);

impl Arrivals {
    pub(super) fn take(&self) -> Vec<Instant> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn note(&self) {
        let now = Instant::now();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(now);
    }
}

/// Takes requests until it is dropped.
pub(super) async fn receive(listener: TcpListener, protocol: Protocol, arrivals: Arrivals) {
    let mut connections = JoinSet::new();
    // Accepting fails where the machine is out of something; the requests that nobody takes then end the measuring.
    while let Ok((stream, _)) = listener.accept().await {
        let arrivals = arrivals.clone();
        connections.spawn(async move {
            // A connection's end is what it looks like to the sender, who tells.
            let _ = stream.set_nodelay(true);
            match protocol {
                Protocol::H1 => drop(requests(stream, &arrivals).await),
                Protocol::H2 => drop(streams(stream, &arrivals).await),
            }
        });
    }
}

async fn requests(mut stream: TcpStream, arrivals: &Arrivals) -> io::Result<()> {
    let mut request = Vec::with_capacity(4096);
    while stream.read_buf(&mut request).await? > 0 {
        if request.ends_with(BODY) {
            arrivals.note();
            request.clear();
            stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").await?;
        }
    }
    Ok(())
}

async fn streams(stream: TcpStream, arrivals: &Arrivals) -> Result<(), h2::Error> {
    let mut connection: h2::server::Connection<_, Bytes> = h2::server::handshake(stream).await?;
    let mut open = JoinSet::new();
    while let Some(accepted) = connection.accept().await {
        let (request, mut respond) = accepted?;
        let arrivals = arrivals.clone();
        open.spawn(async move {
            let mut body = request.into_body();
            while let Some(Ok(piece)) = body.data().await {
                let _ = body.flow_control().release_capacity(piece.len());
            }
            arrivals.note();
            let mut response = Response::new(());
            *response.status_mut() = StatusCode::NO_CONTENT;
            let _ = respond.send_response(response, true);
        });
    }
    Ok(())
}
