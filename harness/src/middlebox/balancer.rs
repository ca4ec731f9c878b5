use std::net::SocketAddr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    MiddleboxError, Program,
    daemon::{Daemon, Workplace},
    haproxy, nginx,
};
use crate::{
    fault::{Proxy, Upstream},
    leash::Leash,
};

/// The socket's name in the balancer's folder.
pub(super) const SOCKET: &str = "listen.sock";
/// How long a balancer waits for a replica's answer before it tries the next one, in milliseconds. Long enough for a
/// healthy replica on a machine that is busy.
pub(super) const PATIENCE_MS: u32 = 2_000;

/// A load balancer that tries a POST again on another replica when the first one fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BalancerKind {
    /// nginx with `proxy_next_upstream error timeout http_503 non_idempotent`.
    Nginx,
    /// `HAProxy` with `retry-on` and `option redispatch`.
    Haproxy,
}

impl BalancerKind {
    /// The program.
    #[must_use]
    pub const fn program(self) -> Program {
        match self {
            Self::Nginx => Program::Nginx,
            Self::Haproxy => Program::Haproxy,
        }
    }
}

/// A running balancer. It always tries the first replica first, so that it is known which one a fault must hit.
#[derive(Debug)]
pub struct Balancer {
    // A proxy of ours before its socket: a port that nobody else can take in between.
    front: Proxy,
    _daemon: Daemon,
}

impl Balancer {
    /// Starts it before the replicas; returns when it takes connections.
    pub async fn start(
        kind: BalancerKind,
        replicas: &[SocketAddr],
        leash: &Leash,
    ) -> Result<Self, MiddleboxError> {
        let program = kind.program();
        let workplace = Workplace::new(program, None, leash)?;
        let folder = workplace.folder().to_owned();
        let place = folder.display().to_string();
        let config = match kind {
            BalancerKind::Nginx => nginx::config(&folder, replicas),
            BalancerKind::Haproxy => haproxy::config(&folder, replicas),
        };
        let config = workplace.write("config", &config)?.display().to_string();
        let arguments: Vec<&str> = match kind {
            BalancerKind::Nginx => vec!["-p", &place, "-c", &config, "-e", "stderr"],
            BalancerKind::Haproxy => vec!["-db", "-f", &config],
        };
        let daemon = workplace.start(&arguments, SOCKET, leash).await?;
        let front = Proxy::raw(Upstream::Unix(daemon.folder().join(SOCKET))).await;
        let front = front.map_err(|cause| MiddleboxError::Proxy { program, cause })?;
        Ok(Self { front, _daemon: daemon })
    }

    /// Where clients connect to.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.front.address()
    }
}
