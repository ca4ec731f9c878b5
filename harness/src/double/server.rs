//! The double itself: where it listens, and what the engine asks of it.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::SocketAddr,
    sync::Arc,
    time::Duration,
};

use hyper::body::Bytes;
use tokio::{
    io::AsyncReadExt,
    net::{TcpListener, TcpStream},
    sync::{Mutex, watch},
    task::{JoinHandle, JoinSet},
};

use super::{
    Callback, DoubleError, desk::Desk, http1, http2, locator::Locator, outbox::Outbox, route::Router,
    tap::Tap,
};
use crate::{history::Recorder, scenario::Script, target::ProviderSection};

/// The most that a call's body may have.
pub(super) const MOST_BYTES: usize = 16 * 1024 * 1024;

/// What an HTTP/2 connection begins with.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// A provider that does what a script says, over HTTP/1.1 and HTTP/2, and tells the history what happened.
///
/// All providers share one listener; the first part of the path says which one is called. Nothing is deduplicated: a
/// second call is a second effect, as with a provider that has no idempotency of its own.
///
/// A caller that closes its sending side counts as gone, also where it would go on reading: hardly any does.
///
/// Dropping it closes its connections; [`Double::finish`] also waits until that is told to the history.
#[derive(Debug)]
pub struct Double {
    address: SocketAddr,
    router: Arc<Router>,
    stop: watch::Sender<bool>,
    server: Mutex<Option<JoinHandle<()>>>,
}

impl Double {
    /// Starts to listen, on the runtime that it is called from.
    ///
    /// # Errors
    /// Where the section, or a name, says something that can't be: [`DoubleError::BadAddress`], [`DoubleError::Listen`],
    /// [`DoubleError::UnknownDialect`], [`DoubleError::BadName`], [`DoubleError::BadLocator`].
    pub async fn start(
        names: &[String],
        section: &ProviderSection,
        recorder: Arc<Recorder>,
    ) -> Result<Self, DoubleError> {
        if section.speaks != "plain" {
            return Err(DoubleError::UnknownDialect { speaks: section.speaks.clone() });
        }
        check_names(names)?;
        let place = |place: &Option<String>| place.as_deref().map(Locator::parse).transpose();
        let router = Arc::new(Router {
            desk: Desk::new(recorder),
            providers: names.to_vec(),
            identity: place(&section.identity)?,
            attempt: place(&section.attempt)?,
        });
        let listen = &section.listen;
        let address: SocketAddr =
            listen.parse().map_err(|_| DoubleError::BadAddress { listen: listen.clone() })?;
        let wrong = |source| DoubleError::Listen { listen: listen.clone(), source };
        let listener = TcpListener::bind(address).await.map_err(wrong)?;
        let address = listener.local_addr().map_err(wrong)?;
        let (stop, stopped) = watch::channel(false);
        let server = tokio::spawn(accept(listener, Arc::clone(&router), stopped));
        Ok(Self { address, router, stop, server: Mutex::new(Some(server)) })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Base URL of a provider, without a slash at the end: `http://127.0.0.1:PORT/NAME`.
    #[must_use]
    pub fn url(&self, provider: &str) -> String {
        format!("http://{}/{provider}", self.address)
    }

    /// Sets what happens to the calls of a round, and the markers (by payload name) that its payloads carry. Calls of
    /// earlier rounds go on by their own rules.
    ///
    /// # Errors
    /// [`DoubleError::BadRule`] where a rule asks for what HTTP doesn't have.
    pub fn script(
        &self,
        round: u32,
        rules: Vec<Script>,
        markers: BTreeMap<String, String>,
    ) -> Result<(), DoubleError> {
        self.router.desk.script(round, rules, markers)
    }

    /// Lets a held call go.
    ///
    /// # Errors
    /// [`DoubleError::NotCalled`] before it came, [`DoubleError::NotHeld`] where it isn't held (any more).
    pub fn release(&self, round: u32, call: &str) -> Result<(), DoubleError> {
        self.router.desk.release(round, &[call.to_owned()])
    }

    /// Lets several held calls go at the same moment; where one can't be let go, none is.
    ///
    /// # Errors
    /// As [`Self::release`].
    pub fn release_together(&self, round: u32, calls: &[String]) -> Result<(), DoubleError> {
        self.router.desk.release(round, calls)
    }

    /// The callback that tells of a call's outcome.
    ///
    /// # Errors
    /// [`DoubleError::NotCalled`] before the call came, [`DoubleError::NoOutcome`] where nothing has come of it.
    pub fn callback(&self, round: u32, call: &str) -> Result<Callback, DoubleError> {
        self.router.desk.look(|state| {
            let (number, call) = state.find(round, call)?;
            Callback::about(number, call)
        })
    }

    /// Requests that were neither calls nor probes: method, path, and what is wrong with them. There being any means that
    /// the service is not configured for this double.
    #[must_use]
    pub fn strays(&self) -> Vec<String> {
        self.router.desk.strays()
    }

    /// Ends what is still out of a round, as abandoned. Its connections are closed.
    pub fn abandon(&self, round: u32) {
        self.router.desk.abandon(Some(round));
    }

    /// Ends everything that is still out, as abandoned, and stops listening. When it returns, the history has the end of
    /// every call.
    pub async fn finish(&self) {
        self.router.desk.abandon(None);
        self.stop.send_replace(true);
        let server = self.server.lock().await.take();
        if let Some(server) = server {
            // It ends in an error only where the runtime is going down, and then everything is over anyway.
            let _ = server.await;
        }
    }
}

impl Drop for Double {
    fn drop(&mut self) {
        // Whoever is cut off now is cut off by us, and the history says so.
        self.router.desk.abandon(None);
    }
}

fn check_names(names: &[String]) -> Result<(), DoubleError> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let mut seen = BTreeSet::new();
    let wrong = names.iter().find(|name| name.is_empty() || !name.chars().all(fits) || !seen.insert(*name));
    match wrong {
        Some(name) => Err(DoubleError::BadName { name: name.clone() }),
        None if names.is_empty() => Err(DoubleError::BadName { name: String::new() }),
        None => Ok(()),
    }
}

async fn accept(listener: TcpListener, router: Arc<Router>, mut stopped: watch::Receiver<bool>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            // Also where the sender is gone, that is, where the double was dropped.
            _ = stopped.changed() => break,
            Some(_) = connections.join_next() => {}
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(connection(stream, Arc::clone(&router)));
                }
                // Reset while it queued, or no file descriptor left. The system can't tell when there are some again.
                Err(_) => tokio::time::sleep(Duration::from_millis(5)).await,
            },
        }
    }
    connections.shutdown().await;
}

async fn connection(mut stream: TcpStream, router: Arc<Router>) {
    // An answer's last bytes must not wait for an acknowledgement of its first.
    let _ = stream.set_nodelay(true);
    let mut ahead = Vec::with_capacity(PREFACE.len());
    while PREFACE.starts_with(&ahead) && ahead.len() < PREFACE.len() {
        match (&mut stream).take((PREFACE.len() - ahead.len()) as u64).read_buf(&mut ahead).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
    }
    let streams = ahead == PREFACE;
    let outbox = if streams { Outbox::for_streams() } else { Outbox::default() };
    let tap = Tap::new(stream, Bytes::from(ahead), outbox.clone());
    if streams { http2::serve(router, tap, outbox).await } else { http1::serve(router, tap, outbox).await }
}
