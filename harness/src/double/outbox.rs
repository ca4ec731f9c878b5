//! What is on its way out of a connection: calls whose last bytes were handed over but have not left yet.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::Waker,
};

use tokio::sync::oneshot;

use super::{
    call::Parting,
    frames::{FrameWatch, Written},
};

/// Shared by a connection's socket, which sees bytes leave, and by whatever hands bytes over.
#[derive(Debug, Clone, Default)]
pub(super) struct Outbox(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    /// HTTP/1.1: one answer at a time, out with the next flush.
    next: Option<Parting>,
    flushed: bool,
    waker: Option<Waker>,
    /// HTTP/2: by stream.
    watch: Option<FrameWatch>,
    streams: BTreeMap<u32, Stream>,
    written: Vec<Stream>,
    /// The connection ends with a reset, and this is told once it did.
    reset: Option<Parting>,
}

#[derive(Debug)]
struct Stream {
    parting: Parting,
    /// Bytes of data after which it counts as out although the stream goes on.
    after: Option<usize>,
    told: oneshot::Sender<()>,
}

impl Outbox {
    /// For a connection that speaks HTTP/2.
    pub(super) fn for_streams() -> Self {
        let outbox = Self::default();
        outbox.lock().watch = Some(FrameWatch::default());
        outbox
    }

    /// All bytes of an HTTP/1.1 answer, or all that will ever come, are in the connection's buffer: they are out with its
    /// next flush.
    pub(super) fn next_flush(&self, parting: Parting) {
        let mut state = self.lock();
        state.next = Some(parting);
        state.flushed = false;
    }

    /// Whether the flush after [`Self::next_flush`] has been; else `waker` is woken by it.
    pub(super) fn flushed(&self, waker: &Waker) -> bool {
        let mut state = self.lock();
        state.waker = Some(waker.clone());
        state.flushed
    }

    /// Tells when the stream has ended, or when that many bytes of its data have left.
    pub(super) fn stream(&self, id: u32, parting: Parting, after: Option<usize>) -> oneshot::Receiver<()> {
        let (told, out) = oneshot::channel();
        self.lock().streams.insert(id, Stream { parting, after, told });
        out
    }

    /// The caller gave the stream up.
    pub(super) fn forget(&self, id: u32) {
        let stream = self.lock().streams.remove(&id);
        // Dropped outside the lock: it tells the history.
        drop(stream);
    }

    /// From now on the connection's end is a reset.
    pub(super) fn reset(&self, parting: Parting) {
        self.lock().reset = Some(parting);
    }

    /// What is told once the socket was reset; nothing where the connection ends in peace.
    pub(super) fn take_reset(&self) -> Option<Parting> {
        self.lock().reset.take()
    }

    /// The socket took these bytes.
    pub(super) fn wrote(&self, bytes: &[u8]) {
        let mut state = self.lock();
        let State { watch: Some(watch), streams, written, .. } = &mut *state else { return };
        watch.feed(bytes, |frame: Written| {
            let Some(stream) = streams.get_mut(&frame.stream) else { return };
            if let Some(after) = &mut stream.after {
                *after = after.saturating_sub(frame.data);
            }
            if frame.last || stream.after == Some(0) {
                written.extend(streams.remove(&frame.stream));
            }
        });
    }

    /// The socket was flushed.
    pub(super) fn flushed_now(&self) {
        let mut state = self.lock();
        let next = state.next.take();
        let waker = next.is_some().then(|| state.waker.take()).flatten();
        state.flushed |= next.is_some();
        let written = std::mem::take(&mut state.written);
        drop(state);
        if let Some(parting) = next {
            parting.gone_out();
        }
        for Stream { parting, told, .. } in written {
            parting.gone_out();
            // The stream's task may be over already.
            let _ = told.send(());
        }
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No code that could panic runs under this lock with the data half-changed.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
