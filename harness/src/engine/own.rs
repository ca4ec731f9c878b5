//! A Postgres server that a cell has to itself, with its standby where there is one: started, crashed, succeeded.

use tokio::sync::Mutex;

use crate::{
    fail::{Code, Fault},
    fault::{Armed, Direction, NetFault, Proxy, Times, Upstream},
    leash::Leash,
    postgres::{Halt, OwnServer, Server, Source, own_server_options},
};

/// The one database: the server is nobody else's.
const DATABASE: &str = "postgres";

/// The server, or the pair. Whoever connects does so through proxies, which follow a promotion.
#[derive(Debug)]
pub(super) struct Own {
    serving: Mutex<Serving>,
    /// For ourselves: past every fault.
    ours: Proxy,
    /// Between standby and primary.
    replication: Option<Proxy>,
}

#[derive(Debug)]
struct Serving {
    server: Server,
    standby: Option<Server>,
    /// Keeps what comes from the primary from the standby.
    behind: Option<Armed>,
}

impl Own {
    /// Starts it and lets `fill` prepare the database of the URL that it is given.
    pub(super) async fn start(
        kind: OwnServer,
        leash: &Leash,
        fill: impl AsyncFnOnce(String) -> Result<(), Fault>,
    ) -> Result<Self, Fault> {
        let options = own_server_options();
        let server = Server::start(&Source::Local, &options, leash, &|_| ()).await?;
        fill(server.url_of(DATABASE)).await?;
        let upstream = upstream(&server)?;
        let ours = Proxy::raw(upstream.clone()).await?;
        let (standby, replication) = if kind.has_standby() {
            let replication = Proxy::raw(upstream).await?;
            let standby = server.standby(kind, &options, leash, replication.address()).await?;
            (Some(standby), Some(replication))
        } else {
            (None, None)
        };
        Ok(Self { serving: Mutex::new(Serving { server, standby, behind: None }), ours, replication })
    }

    /// The database's URL for ourselves, now and after a promotion.
    pub(super) async fn our_url(&self) -> Result<String, Fault> {
        let serving = self.serving.lock().await;
        serving.server.url_through(DATABASE, self.ours.address()).ok_or_else(unreachable)
    }

    /// The database's URL as the server itself has it, to put a proxy before.
    pub(super) async fn url(&self) -> String {
        self.serving.lock().await.server.url_of(DATABASE)
    }

    /// Stops the server, by a crash or in order, and starts it again.
    pub(super) async fn restart(&self, how: Halt) -> Result<(), Fault> {
        Ok(self.serving.lock().await.server.restart(how).await?)
    }

    /// From the moment that the standby has everything it gets nothing more, and nobody notices.
    pub(super) async fn fall_behind(&self) -> Result<(), Fault> {
        let mut serving = self.serving.lock().await;
        let (Some(standby), Some(replication)) = (&serving.standby, &self.replication) else {
            return Err(no_standby());
        };
        standby.has_caught_up_with(&serving.server).await?;
        let fault = NetFault::Blackhole { direction: Direction::ToClient };
        serving.behind = Some(replication.arm(fault, Times::Always));
        Ok(())
    }

    /// The primary crashes for good, the standby takes its place, and everybody who connects anew finds it there.
    pub(super) async fn promote(&self, service: Option<&Proxy>) -> Result<(), Fault> {
        let mut serving = self.serving.lock().await;
        let standby = serving.standby.take().ok_or_else(no_standby)?;
        serving.server.halt(Halt::Crash).await?;
        standby.promote().await?;
        let upstream = upstream(&standby)?;
        for proxy in service.into_iter().chain([&self.ours]) {
            proxy.redirect(upstream.clone());
        }
        serving.server = standby;
        Ok(())
    }
}

fn upstream(server: &Server) -> Result<Upstream, Fault> {
    server.socket().map(Upstream::Unix).ok_or_else(unreachable)
}

fn unreachable() -> Fault {
    Fault::new(Code::Bug, "a private server is not on a socket", "please report this")
}

fn no_standby() -> Fault {
    Fault::new(
        Code::FaultFailed,
        "there is no standby (any more)",
        "say `[setup] server = \"standby\"` or \"synchronous-standby\", and promote it once",
    )
}
