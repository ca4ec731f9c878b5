use std::fmt;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use super::Upstream;

/// Which way bytes go through the proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From the client to the upstream: requests.
    ToUpstream,
    /// From the upstream to the client: answers.
    ToClient,
}

/// How a connection ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// In order (FIN).
    Close,
    /// Abruptly (RST).
    Reset,
}

/// When a connection is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// When exactly so many bytes have been passed on in a direction, counted from the arming or, on a later
    /// connection, from its begin. The first byte beyond them, or the last of them, triggers it.
    Bytes {
        /// The direction that is counted.
        direction: Direction,
        /// The bytes that still get through.
        count: u64,
    },
    /// So long after the arming or, on a later connection, after its begin.
    After(Duration),
}

/// A fault of the network. It knows nothing of what the bytes mean, so it works for any protocol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NetFault {
    /// Both sides of a connection are ended.
    Cut {
        /// When.
        when: When,
        /// How.
        ending: Ending,
    },
    /// Whatever comes is passed on later.
    Delay {
        /// What is delayed.
        direction: Direction,
        /// By how much.
        by: Duration,
    },
    /// Whatever comes is passed on slowly.
    Throttle {
        /// What is slowed.
        direction: Direction,
        /// Bytes a second.
        rate: NonZeroU32,
    },
    /// Whatever comes vanishes; the connection stays open, and nobody is told.
    Blackhole {
        /// What vanishes.
        direction: Direction,
    },
    /// New connections are reset at once.
    Refuse,
}

/// What the client sees in the place of an answer that was swallowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Swallowed {
    /// The connection ends without an answer.
    Ended(Ending),
    /// Nothing: the connection stays open until the client gives up.
    Silence,
    /// An answer of the proxy with this status, as a load balancer gives when its upstream is slow.
    Status(u16),
}

/// A fault of a middlebox that understands HTTP/1.1.
#[derive(Debug, Clone)]
pub enum HttpFault {
    /// The whole request is kept until [`Armed::release`](super::Armed::release), then passed on.
    Hold,
    /// Nothing: what passes is only noted, as proof that the upstream got and answered it.
    Watch,
    /// The upstream gets the whole request and answers it; the client never learns what.
    DropAnswer {
        /// What the client sees.
        then: Swallowed,
    },
    /// The upstream and another one get the same bytes at the same time, as from a proxy that tries again.
    Duplicate {
        /// The other one. It may be the same.
        second: Upstream,
        /// The client gets the second's answer and not the first's.
        second_answers: bool,
    },
}

/// What is known of a request when its head has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestHead {
    /// The method, such as `POST`.
    pub method: String,
    /// Path and query.
    pub target: String,
    /// Names in lower case with their values, in the order in which they came.
    pub headers: Vec<(String, String)>,
}

impl RequestHead {
    /// The first value of a header; `name` in lower case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }
}

/// Which requests a fault is meant for.
#[derive(Clone)]
pub struct Matching(Arc<dyn Fn(&RequestHead) -> bool + Send + Sync>);

impl Matching {
    /// Every request.
    #[must_use]
    pub fn any() -> Self {
        Self::by(|_| true)
    }

    /// Requests of a method.
    #[must_use]
    pub fn method(method: &'static str) -> Self {
        Self::by(move |head| head.method == method)
    }

    /// Requests that a function says yes to.
    #[must_use]
    pub fn by(wanted: impl Fn(&RequestHead) -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(wanted))
    }

    pub(super) fn takes(&self, head: &RequestHead) -> bool {
        (self.0)(head)
    }
}

impl fmt::Debug for Matching {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Matching(..)")
    }
}

/// A fault that a proxy can have.
#[derive(Debug, Clone)]
pub enum ProxyFault {
    /// One that any bytes can meet.
    Net(NetFault),
    /// One that a request meets.
    Http {
        /// Which requests.
        matching: Matching,
        /// What happens to them.
        fault: HttpFault,
    },
}

impl From<NetFault> for ProxyFault {
    fn from(fault: NetFault) -> Self {
        Self::Net(fault)
    }
}

/// How often a fault hits. A lasting one, such as a delay, hits a connection once and stays on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Times {
    /// Once, whoever comes first.
    Once,
    /// So many times.
    Exactly(u32),
    /// Until it is disarmed.
    Always,
}
