//! Requests that arrive together over HTTP/1.1: each on a connection of its own, complete but for the last byte.

use std::{sync::Arc, time::Instant as Moment};

use futures::future::{join_all, try_join_all};
use tokio::{
    io::AsyncWriteExt,
    net::TcpStream,
    time::{Instant, timeout_at},
};

use super::{
    Arrival, ArrivalError, Loss, Origin, Outcome, Prepared, Timing, Watch,
    arrival::{Hold, Opening, apart, count},
    client::{read, unsendable},
    wire::{self, AnswerReader},
};

/// Opens a fresh connection for each request, sends all but the last bytes, and then the last bytes in one tight loop.
///
/// # Errors
/// [`ArrivalError`] where the gate can't be set up. What becomes of a single request is in [`Arrival::outcomes`].
pub async fn arrive_h1(
    origin: &Origin,
    requests: Vec<Prepared>,
    timing: Timing,
    watch: Arc<dyn Watch>,
) -> Result<Arrival, ArrivalError> {
    let origin = origin.clone();
    apart(move || async move { run(&origin, &requests, timing, &*watch).await }).await
}

async fn run(
    origin: &Origin,
    requests: &[Prepared],
    timing: Timing,
    watch: &dyn Watch,
) -> Result<Arrival, ArrivalError> {
    let deadline = Instant::now() + timing.within;
    let numbered = || requests.iter().enumerate();
    let lanes = numbered()
        .map(|(index, request)| Lane::open(origin, (index, requests.len()), request, timing.hold, deadline));
    let mut lanes = try_join_all(lanes).await?;

    join_all(lanes.iter_mut().map(|lane| lane.send_all_but_last(watch, deadline))).await;
    // An answer that comes now proves that the gate is useless; the wait ends early only when all of them are useless.
    let settled = Instant::now() + timing.settle;
    let answers =
        join_all(lanes.iter_mut().filter(|lane| lane.outcome.is_none()).map(|lane| lane.listen(watch)));
    let _ = timeout_at(settled.min(deadline), answers).await;

    let early = lanes.iter().filter(|lane| lane.is_early()).count();
    let mut releases = Vec::with_capacity(lanes.len());
    for lane in &mut lanes {
        if lane.outcome.is_none() {
            releases.push(Moment::now());
            lane.send_last();
        }
    }
    let spread = match (releases.first(), releases.last()) {
        (Some(first), Some(last)) => *last - *first,
        _ => std::time::Duration::ZERO,
    };
    let opening = Opening { waiting: count(lanes.len() - early), early: count(early), spread };
    watch.opened(&opening);

    let rest = lanes.iter_mut().filter(|lane| lane.outcome.is_none());
    join_all(rest.map(|lane| async move {
        if timeout_at(deadline, lane.finish(watch)).await.is_err() {
            lane.end(watch, Err(Loss::timeout("the answer")));
        }
    }))
    .await;
    let lost = || Err(Loss::timeout("the answer"));
    let outcomes = lanes.into_iter().map(|lane| lane.outcome.unwrap_or_else(lost)).collect();
    Ok(Arrival { outcomes, opening })
}

struct Lane {
    index: usize,
    stream: TcpStream,
    bytes: Vec<u8>,
    /// Where what is held back begins.
    held: usize,
    /// How much of what is held back is sent.
    released: usize,
    reader: AnswerReader,
    outcome: Option<Outcome>,
}

impl Lane {
    async fn open(
        origin: &Origin,
        (index, of): (usize, usize),
        request: &Prepared,
        hold: Hold,
        deadline: Instant,
    ) -> Result<Self, ArrivalError> {
        let bytes = wire::serialise(request, origin)
            .map_err(|error| ArrivalError::Unsendable { index, loss: unsendable(&error) })?;
        let failed = |loss| ArrivalError::Connection { index, of, origin: origin.to_string(), loss };
        let connecting = async {
            let stream = TcpStream::connect(origin.address()).await?;
            stream.set_nodelay(true)?;
            Ok(stream)
        };
        let stream = timeout_at(deadline, connecting)
            .await
            .map_err(|_| failed(Loss::timeout("connecting")))?
            .map_err(|error: std::io::Error| failed(Loss::connecting(&error)))?;
        let reader = AnswerReader::new(&request.method);
        let rest = held_from(&bytes, hold);
        Ok(Self { index, stream, bytes, held: rest, released: 0, reader, outcome: None })
    }

    /// Writes while it listens, so that a service that answers instead of reading can't stop the gate.
    async fn send_all_but_last(&mut self, watch: &dyn Watch, deadline: Instant) {
        watch.sent(self.index);
        let Self { stream, bytes, held, reader, .. } = self;
        let (mut from, mut to) = stream.split();
        let most = &bytes[..*held];
        let outcome = tokio::select! {
            biased;
            written = timeout_at(deadline, to.write_all(most)) => match written {
                Ok(Ok(())) => return,
                Ok(Err(error)) => Err(Loss::broken(&error, "within the request")),
                Err(_) => Err(Loss::timeout("sending the request")),
            },
            outcome = read(&mut from, reader) => outcome,
        };
        self.end(watch, outcome);
    }

    fn is_early(&self) -> bool {
        self.outcome.is_some() || self.reader.began()
    }

    /// Nothing is awaited here: the next lane's bytes follow at once.
    fn send_last(&mut self) {
        self.released = self.stream.try_write(&self.bytes[self.held..]).unwrap_or(0);
    }

    async fn listen(&mut self, watch: &dyn Watch) {
        let outcome = read(&mut self.stream, &mut self.reader).await;
        self.end(watch, outcome);
    }

    async fn finish(&mut self, watch: &dyn Watch) {
        // The socket was full, or is broken: then the reading tells how.
        let rest = &self.bytes[self.held + self.released..];
        if !rest.is_empty() {
            let _ = self.stream.write_all(rest).await;
        }
        self.listen(watch).await;
    }

    fn end(&mut self, watch: &dyn Watch, outcome: Outcome) {
        watch.ended(self.index, &outcome);
        self.outcome = Some(outcome);
    }
}

/// As much as one segment takes on any line: what is released in one piece arrives in one piece.
const SHORT: usize = 1024;

fn held_from(bytes: &[u8], hold: Hold) -> usize {
    let last = bytes.len() - 1;
    match hold {
        Hold::LastByte => last,
        Hold::HeadsEnd => {
            let end = bytes.windows(4).position(|window| window == b"\r\n\r\n").map_or(last, |at| at + 3);
            if bytes.len() - end <= SHORT { end } else { last }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_heads_end_is_held_back_with_a_short_body_and_only_then() {
        let short = b"POST / HTTP/1.1\r\nhost: h\r\n\r\n{}";
        assert_eq!(&short[held_from(short, Hold::HeadsEnd)..], b"\n{}");
        assert_eq!(&short[held_from(short, Hold::LastByte)..], b"}");
        let long = [short.as_slice(), &[b' '; 2 * SHORT]].concat();
        assert_eq!(held_from(&long, Hold::HeadsEnd), long.len() - 1);
        let bodiless = b"GET / HTTP/1.1\r\nhost: h\r\n\r\n";
        assert_eq!(&bodiless[held_from(bodiless, Hold::HeadsEnd)..], b"\n");
    }
}
