//! One request and what came of it.

use std::{io, time::Instant};

use crate::history::Lost;

/// A request, ready to be sent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Prepared {
    /// Method, for example `POST`.
    pub method: String,
    /// Path and query below the origin's own path, for example `/v1/jobs?limit=1`.
    pub path: String,
    /// Header lines in order, as they are: names may repeat. `host` and `content-length` are added where missing.
    pub headers: Vec<(String, String)>,
    /// Body; empty where there is none.
    pub body: Vec<u8>,
}

/// A whole answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawAnswer {
    /// HTTP status.
    pub status: u16,
    /// Header lines in order, names in lower case. Bytes that are no UTF-8 are replaced.
    pub headers: Vec<(String, String)>,
    /// Body, decoded where it came in chunks.
    pub body: Vec<u8>,
    /// When its first byte was read.
    pub first_byte_at: Instant,
    /// When its last byte was read.
    pub done_at: Instant,
}

impl RawAnswer {
    /// The first header line of this name (lower case).
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// There is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{detail}")]
pub struct Loss {
    /// In the history's words.
    pub how: Lost,
    /// For people.
    pub detail: String,
    /// When it was noticed.
    pub at: Instant,
}

/// What came of a request.
pub type Outcome = Result<RawAnswer, Loss>;

impl Loss {
    pub(super) fn new(how: Lost, detail: impl Into<String>) -> Self {
        Self { how, detail: detail.into(), at: Instant::now() }
    }

    /// Nothing in time. `doing` says what was waited for.
    pub(super) fn timeout(doing: &str) -> Self {
        Self::new(Lost::Timeout, format!("{doing} took longer than it may"))
    }

    /// The connection could not be made.
    pub(super) fn connecting(error: &io::Error) -> Self {
        let how = if error.kind() == io::ErrorKind::TimedOut { Lost::Timeout } else { Lost::Refused };
        Self::new(how, format!("no connection: {error}"))
    }

    /// The connection broke. `doing` says within what.
    pub(super) fn broken(error: &io::Error, doing: &str) -> Self {
        let how = match error.kind() {
            io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionAborted | io::ErrorKind::BrokenPipe => {
                Lost::Reset
            }
            io::ErrorKind::TimedOut => Lost::Timeout,
            _ => Lost::Closed,
        };
        Self::new(how, format!("the connection broke {doing}: {error}"))
    }

    /// The other side closed the connection. `within` says whether a part of the answer had come.
    pub(super) fn closed(within: bool) -> Self {
        let detail = if within {
            "the connection was closed within the answer"
        } else {
            "the connection was closed without an answer"
        };
        Self::new(Lost::Closed, detail)
    }
}
