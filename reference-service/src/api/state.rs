use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;

use crate::metrics::Metrics;
use crate::store::Store;
use crate::worker::Stop;
use crate::{Config, Principal};

/// How long a token is believed without asking the database again: a revoked one works for at most that long.
const TOKEN_AGE: Duration = Duration::from_secs(5);

/// How many tokens are remembered at most; beyond, the memory starts over.
const MOST_TOKENS: usize = 10_000;

/// Whom a request comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) owner: String,
    pub(crate) role: Principal,
}

/// Tokens by their digest, and when each was looked up.
type SeenTokens = HashMap<[u8; 32], (Identity, Instant)>;

/// What every request handler shares.
#[derive(Clone)]
pub(crate) struct App {
    pub(crate) store: Store,
    pub(crate) config: Arc<Config>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) stop: Stop,
    pub(crate) in_flight: Arc<Semaphore>,
    tokens: Arc<Mutex<SeenTokens>>,
}

impl App {
    pub(crate) fn new(store: Store, config: Arc<Config>, metrics: Arc<Metrics>, stop: Stop) -> Self {
        let in_flight = Arc::new(Semaphore::new(config.max_in_flight));
        Self { store, config, metrics, stop, in_flight, tokens: Arc::default() }
    }

    /// Whom a token was seen to stand for a short while ago.
    pub(super) fn remembered(&self, digest: &[u8; 32]) -> Option<Identity> {
        let tokens = self.tokens.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let (identity, seen) = tokens.get(digest)?;
        (seen.elapsed() < TOKEN_AGE).then(|| identity.clone())
    }

    pub(super) fn remember(&self, digest: [u8; 32], identity: Identity) {
        let mut tokens = self.tokens.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if tokens.len() >= MOST_TOKENS {
            tokens.clear();
        }
        tokens.insert(digest, (identity, Instant::now()));
    }
}
