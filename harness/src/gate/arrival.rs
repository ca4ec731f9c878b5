//! What both ways of making requests arrive together have in common.

use std::{future::Future, io, sync::Arc, thread, time::Duration};

use tokio::sync::oneshot;

use super::{Loss, Outcome};

/// Told what happens behind an arrival gate, from the gate's own thread. Must not block: the gate waits for it.
pub trait Watch: Send + Sync {
    /// The first byte of the request with this index is about to go out.
    fn sent(&self, index: usize);
    /// The gate has opened: the last bytes are out.
    fn opened(&self, opening: &Opening);
    /// The request is answered, or lost.
    fn ended(&self, index: usize, outcome: &Outcome);
}

/// How the gate opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Opening {
    /// Requests that waited for nothing but their last byte.
    pub waiting: u32,
    /// Requests that were answered, or lost, before: for them the gate was useless.
    pub early: u32,
    /// Time between the first and the last release.
    pub spread: Duration,
}

/// What came of requests that were sent through a gate.
#[derive(Debug, Clone)]
pub struct Arrival {
    /// In the order of the requests.
    pub outcomes: Vec<Outcome>,
    /// How the gate opened.
    pub opening: Opening,
}

/// How much of a request is held back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Hold {
    /// The last byte: a service that reads whole requests has nothing left to read but that.
    #[default]
    LastByte,
    /// The end of the head and all of the body, where that is short: for services that answer by the head alone.
    HeadsEnd,
}

/// How long a gate takes, and what it holds back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timing {
    /// How long an answer that comes too early is waited for before the gate opens. It also gives the service the time to
    /// read what it has been sent.
    pub settle: Duration,
    /// The most that all of it may take: connecting, sending, and the answers.
    pub within: Duration,
    /// How much of each request is held back, over HTTP/1.1.
    pub hold: Hold,
}

impl Default for Timing {
    fn default() -> Self {
        Self { settle: Duration::from_millis(2), within: Duration::from_secs(10), hold: Hold::LastByte }
    }
}

/// The gate could not be set up. No request was sent in full.
#[derive(Debug, thiserror::Error)]
pub enum ArrivalError {
    /// A connection could not be made.
    #[error("connection {} of {of} to {origin} could not be made: {loss}", .index + 1)]
    Connection {
        /// Which, from 0.
        index: usize,
        /// How many are needed.
        of: usize,
        /// Where to.
        origin: String,
        /// What happened.
        loss: Loss,
    },
    /// A request can't be written as HTTP.
    #[error("request {} can't be sent: {loss}", .index + 1)]
    Unsendable {
        /// Which, from 0.
        index: usize,
        /// Why.
        loss: Loss,
    },
    /// The service allows fewer streams on one connection.
    #[error(
        "{origin} allows {most} streams at once on one HTTP/2 connection, and {of} are needed; use HTTP/1.1 (`http = \"h1\"`) or fewer requests"
    )]
    TooFewStreams {
        /// Where to.
        origin: String,
        /// How many it allows.
        most: usize,
        /// How many are needed.
        of: usize,
    },
    /// The gate's thread could not be started.
    #[error("the gate's thread could not be started: {0}")]
    Thread(#[from] io::Error),
    /// The gate's thread died.
    #[error("the gate's thread ended without a result, which is a bug in onejob")]
    Died,
}

/// Runs a gate on a thread and a runtime of its own, so that nothing else is scheduled between its writes.
pub(super) async fn apart<Work, Running>(work: Work) -> Result<Arrival, ArrivalError>
where
    Work: FnOnce() -> Running + Send + 'static,
    Running: Future<Output = Result<Arrival, ArrivalError>>,
{
    let (tell, told) = oneshot::channel();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    thread::Builder::new().name("onejob-gate".to_owned()).spawn(move || {
        let result = runtime.block_on(work());
        // Nobody listens where the scenario was given up meanwhile.
        let _ = tell.send(result);
    })?;
    told.await.unwrap_or(Err(ArrivalError::Died))
}

/// Requests as a count for the history.
pub(super) fn count(requests: usize) -> u32 {
    u32::try_from(requests).unwrap_or(u32::MAX)
}

/// Fits a watch that nobody needs.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unwatched;

impl Unwatched {
    /// As the gates take it.
    #[must_use]
    pub fn shared() -> Arc<dyn Watch> {
        Arc::new(Self)
    }
}

impl Watch for Unwatched {
    fn sent(&self, _: usize) {}
    fn opened(&self, _: &Opening) {}
    fn ended(&self, _: usize, _: &Outcome) {}
}
