use std::{
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::{
    net::{TcpListener, TcpStream},
    sync::oneshot,
    task::{AbortHandle, JoinSet},
};

use super::{
    super::{
        FaultError, Upstream,
        side::{Reader, Side, Writer},
    },
    ledger::{Ledger, Moment, Point},
    message::{Next, Opening, next, opening},
    session::{Heard, Said, Session},
};

/// Between a service and its Postgres, on the loopback address: counts what is said, and halts it at a point. Dropping
/// it ends it and all its connections.
#[derive(Debug)]
pub struct Tap {
    address: SocketAddr,
    ledger: Arc<Ledger>,
    task: AbortHandle,
}

impl Tap {
    /// A tap before a server.
    pub async fn start(upstream: Upstream) -> Result<Self, FaultError> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.map_err(FaultError::Listen)?;
        let address = listener.local_addr().map_err(FaultError::Listen)?;
        let ledger = Arc::new(Ledger::new());
        let task = tokio::spawn(accept(listener, upstream, Arc::clone(&ledger)));
        Ok(Self { address, ledger, task: task.abort_handle() })
    }

    /// Where the service connects to.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Begins to count anew.
    pub fn begin(&self) {
        self.ledger.begin();
    }

    /// The points that were passed since the count began, in their order.
    #[must_use]
    pub fn points(&self) -> Vec<Point> {
        self.ledger.points()
    }

    /// Counts anew, and halts every connection once at a point. The receiver is told at that moment; from then on
    /// nothing passes on any connection, and no new one is let in until [`Tap::go_on`].
    #[must_use]
    pub fn halt_at(&self, point: Point, moment: Moment) -> oneshot::Receiver<()> {
        self.ledger.halt_at(point, moment)
    }

    /// Takes a halt back that hasn't happened: its receiver is told by an error.
    pub fn take_back(&self) {
        self.ledger.take_back();
    }

    /// Lets new connections in after a halt. Those that were halted stay silent.
    pub fn go_on(&self) {
        self.ledger.go_on();
    }
}

impl Drop for Tap {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn accept(listener: TcpListener, upstream: Upstream, ledger: Arc<Ledger>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                // A client that left before it was greeted is no reason to end.
                let Ok((client, _)) = accepted else { continue };
                let (upstream, ledger) = (upstream.clone(), Arc::clone(&ledger));
                connections.spawn(async move {
                    // A connection that breaks is closed on both sides, which is all that there is to say.
                    let _ = serve(client, upstream, &ledger).await;
                });
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn serve(client: TcpStream, upstream: Upstream, ledger: &Ledger) -> std::io::Result<()> {
    let mut client = Side::tcp(client)?;
    let era = ledger.enter().await;
    let mut upstream = upstream.connect().await?;
    loop {
        let begun = opening(client.reader().buffered());
        match begun {
            None => {
                if !client.reader().more().await? {
                    return Ok(());
                }
            }
            Some(Opening::Encryption(length)) => {
                client.reader().take(length);
                client.writer.write(b"N").await?;
            }
            Some(Opening::Session(length)) => {
                let bytes = client.reader().take(length);
                upstream.writer.write(&bytes).await?;
                break;
            }
            Some(Opening::Foreign) => return Ok(()),
        }
    }
    let session = Mutex::new(Session::default());
    let (from_client, to_client) = client.split();
    let (from_upstream, to_upstream) = upstream.split();
    let way = Way { ledger, era, session: &session };
    tokio::select! {
        end = way.requests(from_client, to_upstream) => end,
        end = way.answers(from_upstream, to_client) => end,
    }
}

/// What both directions of a connection share.
#[derive(Clone, Copy)]
struct Way<'c> {
    ledger: &'c Ledger,
    era: u64,
    session: &'c Mutex<Session>,
}

impl Way<'_> {
    /// What the service says, unit by unit. Returns when it has left.
    async fn requests(self, from: &mut Reader, to: &mut Writer) -> std::io::Result<()> {
        let mut said = Vec::new();
        loop {
            while let Some((bytes, part)) = self.next(from, Session::said)? {
                said.extend(bytes);
                match part {
                    Said::More => continue,
                    Said::PassOn => {}
                    Said::Unit(unit) => {
                        if !self.ledger.may_go(self.era, unit.statement.as_deref()) {
                            return silence(from).await;
                        }
                        self.session.lock().unwrap_or_else(PoisonError::into_inner).sent(unit);
                    }
                }
                to.write(&said).await?;
                said.clear();
            }
            if !from.more().await? {
                return Ok(());
            }
        }
    }

    /// What the database says, answer by answer. Returns when it has left.
    async fn answers(self, from: &mut Reader, to: &mut Writer) -> std::io::Result<()> {
        let mut heard = Vec::new();
        loop {
            while let Some((bytes, part)) = self.next(from, Session::heard)? {
                heard.extend(bytes);
                match part {
                    // Only an answer that is waited for has an end; a notification hasn't.
                    Heard::More if self.is_waited_for() => continue,
                    Heard::More | Heard::PassOn => {}
                    Heard::End(ended) => {
                        let statement = ended.statement.as_deref();
                        if !self.ledger.may_return(self.era, statement, ended.counts) {
                            // The service is about to go; the other direction sees it.
                            return std::future::pending().await;
                        }
                    }
                }
                to.write(&heard).await?;
                heard.clear();
            }
            if !from.more().await? {
                return Ok(());
            }
        }
    }

    fn is_waited_for(self) -> bool {
        self.session.lock().unwrap_or_else(PoisonError::into_inner).is_waiting()
    }

    /// The next whole message and what the session makes of it. What can't be followed ends the connection, as the
    /// server itself would.
    fn next<T>(
        self,
        from: &mut Reader,
        note: impl Fn(&mut Session, super::message::Message<'_>) -> T,
    ) -> std::io::Result<Option<(Vec<u8>, T)>> {
        match next(from.buffered()) {
            Next::Partial => Ok(None),
            Next::Foreign => Err(std::io::ErrorKind::InvalidData.into()),
            Next::Whole(length, message) => {
                let part = note(&mut self.session.lock().unwrap_or_else(PoisonError::into_inner), message);
                Ok(Some((from.take(length), part)))
            }
        }
    }
}

/// Reads on, so that the end is seen, and passes nothing on.
async fn silence(from: &mut Reader) -> std::io::Result<()> {
    while from.more().await? {
        let count = from.buffered().len();
        from.take(count);
    }
    Ok(())
}
