//! One request and what became of it.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::provider::Outgoing;

/// A boxed future, so that transports can be trait objects.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Which call of a check this is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CallId {
    /// The provider.
    pub provider: String,
    /// The case.
    pub case: String,
    /// `canary`, `stream`, `mistake`, or a sample's number.
    pub sample: String,
    /// 0 for the first send, counting retries.
    pub attempt: u32,
}

impl std::fmt::Display for CallId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}/{}/{}", self.provider, self.case, self.sample, self.attempt)
    }
}

/// What became of a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Exchange {
    /// A status came back; the body may be cut off.
    Answered(Received),
    /// It certainly never left.
    NeverSent(String),
    /// It was sent, or may have been, and no answer came.
    Unknown(String),
    /// The transport itself failed, such as a cassette without this call.
    Broken(String),
}

/// What came back.
#[derive(Clone, Debug, PartialEq)]
pub struct Received {
    /// The HTTP status.
    pub status: u16,
    /// Headers, lower-case.
    pub headers: Vec<(String, String)>,
    /// The body as far as it came.
    pub body: Vec<u8>,
    /// Why the body is cut off, if it is.
    pub cut: Option<String>,
    /// From sending to the last byte.
    pub elapsed: Duration,
}

/// Carries a request out once.
pub trait Transport: Send + Sync {
    /// Sends `request` as call `id`, and waits for the whole answer, `deadline` at most.
    fn send<'a>(
        &'a self,
        id: &'a CallId,
        request: &'a Outgoing,
        deadline: Duration,
    ) -> BoxFuture<'a, Exchange>;
}
