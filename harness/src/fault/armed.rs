use std::sync::Arc;
use std::time::Instant;

use tokio::sync::mpsc;

use super::FaultError;
use super::book::{Book, Rule};

/// That a fault hit, and what it hit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// The number of the connection, from 1 in the order of their begin.
    pub connection: u64,
    /// When.
    pub at: Instant,
    /// Method and target of the request, for a fault that is meant for requests.
    pub request: Option<String>,
    /// The bytes that had been passed on in the fault's direction before it hit, since the connection's begin.
    pub passed: u64,
    /// The status of the upstream's answer, which the client may never have seen.
    pub status: Option<u16>,
    /// The status of the second upstream's answer to a duplicate.
    pub second_status: Option<u16>,
}

/// A fault in its place. Dropping it disarms it.
#[derive(Debug)]
#[must_use = "a fault that is dropped is disarmed"]
pub struct Armed {
    pub(super) rule: Arc<Rule>,
    pub(super) book: Arc<Book>,
    pub(super) hits: mpsc::UnboundedReceiver<Hit>,
}

impl Armed {
    /// Waits for the next hit. Waits for ever if nothing comes by: give it a deadline.
    pub async fn hit(&mut self) -> Result<Hit, FaultError> {
        self.hits.recv().await.ok_or(FaultError::Over)
    }

    /// The next hit that has happened and was not asked for yet.
    pub fn try_hit(&mut self) -> Option<Hit> {
        self.hits.try_recv().ok()
    }

    /// Lets held requests go, those that come later too.
    pub fn release(&self) {
        self.rule.open();
    }

    /// Ends the fault. Connections that it has not ended work again; held requests are passed on.
    pub fn disarm(self) {
        drop(self);
    }
}

impl Drop for Armed {
    fn drop(&mut self) {
        self.book.disarm(&self.rule);
    }
}
