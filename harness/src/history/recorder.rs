//! Collects the events of a cell, and lets others wait for one.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Instant, SystemTime, UNIX_EPOCH},
};

use tokio::sync::watch;

use super::{Event, History, Kind};

/// The one place where events of a cell get their number and their time, so that the order of the numbers is the order
/// of the times.
#[derive(Debug)]
pub struct Recorder {
    began: Instant,
    wall_us: u64,
    kept: Mutex<Kept>,
    length: watch::Sender<u64>,
}

/// The history so far, and what the next event needs of it.
#[derive(Debug, Default)]
struct Kept {
    history: History,
    length: u64,
    last_us: u64,
}

/// What was waited for did not come in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it did not happen in time")]
pub struct DidNotHappen;

impl Recorder {
    /// An empty history that begins now.
    #[must_use]
    pub fn new() -> Arc<Self> {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Arc::new(Self {
            began: Instant::now(),
            wall_us: u64::try_from(wall.as_micros()).unwrap_or(u64::MAX),
            kept: Mutex::default(),
            length: watch::Sender::new(0),
        })
    }

    /// Microseconds since the Unix epoch at the beginning.
    #[must_use]
    pub fn wall_us(&self) -> u64 {
        self.wall_us
    }

    /// Records what happened just now. Returns its number.
    pub fn record(&self, round: u32, kind: Kind) -> u64 {
        self.record_at(Instant::now(), round, kind)
    }

    /// Records what happened at a moment that was taken closer to the deed. A moment before the last recorded one is
    /// moved up to it: a history's times never go back.
    pub fn record_at(&self, moment: Instant, round: u32, kind: Kind) -> u64 {
        let mut kept = self.lock();
        let at_us =
            u64::try_from(moment.saturating_duration_since(self.began).as_micros()).unwrap_or(u64::MAX);
        kept.last_us = kept.last_us.max(at_us);
        let (seq, at_us) = (kept.length, kept.last_us);
        kept.history.push(Event { seq, at_us, round, kind });
        kept.length += 1;
        // Sent under the lock, so that a waiter never sees a length that is not there yet.
        self.length.send_replace(kept.length);
        seq
    }

    /// Puts what happened so far out of memory, where it is much. For the time between two rounds: who waits for something to
    /// be seen looks at what is in memory.
    pub fn settle(&self) {
        if let Err(error) = self.lock().history.settle() {
            tracing::warn!(%error, "a long history stays in memory: it can't be put into a file");
        }
    }

    /// Ends the history, and gives it away whole. What happens later belongs to no history any more.
    #[must_use]
    pub fn end(&self) -> History {
        std::mem::take(&mut self.lock().history)
    }

    /// Waits until the history satisfies `seen`, and returns what it returned. Of a long history `seen` is shown the rounds
    /// that were not settled.
    ///
    /// # Errors
    /// [`DidNotHappen`] when the deadline passes first.
    pub async fn wait_for<T>(
        &self,
        deadline: tokio::time::Instant,
        mut seen: impl FnMut(&[Event]) -> Option<T>,
    ) -> Result<T, DidNotHappen> {
        let mut length = self.length.subscribe();
        loop {
            length.borrow_and_update();
            if let Some(found) = seen(self.lock().history.recent()) {
                return Ok(found);
            }
            match tokio::time::timeout_at(deadline, length.changed()).await {
                Ok(Ok(())) => {}
                Ok(Err(_)) | Err(_) => return Err(DidNotHappen),
            }
        }
    }

    /// A copy of all that happened so far and was not settled.
    #[must_use]
    pub fn events(&self) -> Vec<Event> {
        self.lock().history.recent().to_vec()
    }

    /// Looks at the same without copying it.
    pub fn look<T>(&self, look: impl FnOnce(&[Event]) -> T) -> T {
        look(self.lock().history.recent())
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        // A panic elsewhere can't leave a half-pushed event: the data is whole even if the lock is poisoned.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
