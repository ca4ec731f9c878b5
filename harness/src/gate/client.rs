//! The client that sends every request that needs no gate.
//!
//! It never sends a request twice, follows no redirect and, unless asked to, uses no connection twice: what the service
//! receives is what the scenario sent.

use std::time::Instant as Moment;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::{Instant, timeout_at},
};

use super::{
    Loss, Origin, Outcome, Prepared,
    streams::{self, Streams},
    wire::{self, AnswerReader, Unsendable},
};
use crate::history::Lost;

/// Which HTTP is spoken.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Protocol {
    /// HTTP/1.1.
    #[default]
    H1,
    /// HTTP/2 without an upgrade.
    H2,
}

/// Sends single requests to one service.
#[derive(Debug, Clone)]
pub struct Client {
    origin: Origin,
    protocol: Protocol,
}

impl Client {
    /// A client of the service at `origin`.
    #[must_use]
    pub fn new(origin: Origin, protocol: Protocol) -> Self {
        Self { origin, protocol }
    }

    /// Where it sends to.
    #[must_use]
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Sends a request on a connection of its own and reads the whole answer. `on_sent` is called when the connection
    /// stands, just before the first byte goes out; where it isn't called the service has seen nothing.
    ///
    /// Dropping the future closes the connection: to the service that is a caller who hung up.
    ///
    /// # Errors
    /// The [`Loss`] says how the answer was lost; [`Lost::Timeout`] at the deadline, whatever was going on. A request that
    /// can't be written as HTTP (a line break in a header) is [`Lost::Cut`] before anything is sent.
    pub async fn send(&self, request: &Prepared, deadline: Instant, on_sent: impl FnOnce()) -> Outcome {
        let mut lane = self.connect(deadline).await?;
        lane.send(request, deadline, on_sent).await
    }

    /// Opens a connection to use more than once.
    ///
    /// # Errors
    /// The [`Loss`] says why there is none.
    pub async fn connect(&self, deadline: Instant) -> Result<Lane, Loss> {
        let open = async {
            let stream =
                TcpStream::connect(self.origin.address()).await.map_err(|error| Loss::connecting(&error))?;
            stream.set_nodelay(true).map_err(|error| Loss::connecting(&error))?;
            Ok(match self.protocol {
                Protocol::H1 => Speaks::H1(stream),
                Protocol::H2 => Speaks::H2(Streams::open(stream).await?),
            })
        };
        let speaks = timeout_at(deadline, open).await.map_err(|_| Loss::timeout("connecting"))??;
        Ok(Lane { origin: self.origin.clone(), speaks })
    }
}

/// One connection.
#[derive(Debug)]
pub struct Lane {
    origin: Origin,
    speaks: Speaks,
}

#[derive(Debug)]
enum Speaks {
    H1(TcpStream),
    H2(Streams),
}

impl Lane {
    /// Sends a request and reads the whole answer. After a loss the connection is of no more use.
    ///
    /// # Errors
    /// As [`Client::send`].
    pub async fn send(&mut self, request: &Prepared, deadline: Instant, on_sent: impl FnOnce()) -> Outcome {
        let exchange = async {
            match &mut self.speaks {
                Speaks::H1(stream) => {
                    let bytes = wire::serialise(request, &self.origin).map_err(|error| unsendable(&error))?;
                    on_sent();
                    exchange(stream, &bytes, &mut AnswerReader::new(&request.method)).await
                }
                Speaks::H2(lane) => {
                    let head = streams::head(request, &self.origin).map_err(|error| unsendable(&error))?;
                    on_sent();
                    let sent = lane.begin(head, &request.body, true).await?;
                    sent.answer().await
                }
            }
        };
        timeout_at(deadline, exchange).await.unwrap_or_else(|_| Err(Loss::timeout("the answer")))
    }
}

pub(super) fn unsendable(error: &Unsendable) -> Loss {
    Loss::new(Lost::Cut, error.to_string())
}

/// Writes while it reads: a service may answer, and stop reading, before it has the whole request.
async fn exchange(stream: &mut TcpStream, bytes: &[u8], reader: &mut AnswerReader) -> Outcome {
    let (mut from, mut to) = stream.split();
    let mut broken = None;
    let mut written = false;
    let writing = async { to.write_all(bytes).await };
    tokio::pin!(writing);
    let reading = read(&mut from, reader);
    tokio::pin!(reading);
    loop {
        tokio::select! {
            result = &mut writing, if !written => {
                written = true;
                broken = result.err();
            }
            outcome = &mut reading => {
                // That the request couldn't be written says more than how the reading ended.
                return match (outcome, broken) {
                    (Err(_), Some(error)) => Err(Loss::broken(&error, "within the request")),
                    (outcome, _) => outcome,
                };
            }
        }
    }
}

/// Reads on until the answer is whole or lost. May be dropped and begun again without losing anything.
pub(super) async fn read(from: &mut (impl AsyncReadExt + Unpin), reader: &mut AnswerReader) -> Outcome {
    let mut buffer = vec![0; 16 * 1024];
    loop {
        let got = match from.read(&mut buffer).await {
            Ok(0) => {
                let began = reader.began();
                return reader.close(Moment::now()).ok_or_else(|| Loss::closed(began));
            }
            Ok(got) => got,
            Err(error) => {
                let doing = if reader.began() { "within the answer" } else { "before the answer" };
                return Err(Loss::broken(&error, doing));
            }
        };
        match reader.feed(&buffer[..got], Moment::now()) {
            Ok(None) => {}
            Ok(Some(answer)) => return Ok(answer),
            Err(error) => return Err(Loss::new(Lost::Unreadable, error.to_string())),
        }
    }
}
