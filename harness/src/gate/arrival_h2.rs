//! Requests that arrive together over HTTP/2: streams of one connection whose last frames leave in one write.

use std::{
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures::{StreamExt, stream::FuturesUnordered};
use h2::SendStream;
use hyper::body::Bytes;
use tokio::{
    net::TcpStream,
    time::{Instant, timeout_at},
};

use super::{
    Arrival, ArrivalError, Loss, Origin, Outcome, Prepared, Timing, Watch,
    arrival::{Opening, apart, count},
    client::unsendable,
    streams::{self, Streams},
};

/// Opens one connection, sends all requests but for the last frame of each, makes sure by pings that the service has them,
/// and sends the last frames in one write.
///
/// # Errors
/// [`ArrivalError`] where the gate can't be set up. What becomes of a single request is in [`Arrival::outcomes`].
pub async fn arrive_h2(
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
    let heads: Vec<_> = (0..)
        .zip(requests)
        .map(|(index, request)| {
            streams::head(request, origin)
                .map_err(|error| ArrivalError::Unsendable { index, loss: unsendable(&error) })
        })
        .collect::<Result<_, _>>()?;
    let mut lane = connect(origin, requests.len(), deadline).await?;

    let mut race = Race { watch, outcomes: vec![None; requests.len()] };
    let mut ends = Vec::new();
    let mut heads_seen: Vec<Option<Arc<AtomicBool>>> = vec![None; requests.len()];
    let mut answers = FuturesUnordered::new();
    for (index, (request, head)) in requests.iter().zip(heads).enumerate() {
        watch.sent(index);
        let (most, last) = request.body.split_at(request.body.len().saturating_sub(1));
        match timeout_at(deadline, lane.begin(head, most, false)).await {
            Ok(Ok(begun)) => {
                heads_seen[index] = Some(begun.answer.began());
                ends.push(End { index, stream: begun.stream, last: Bytes::copy_from_slice(last) });
                answers.push(async move { (index, begun.answer.whole().await) });
            }
            Ok(Err(loss)) => race.end(index, Err(loss)),
            Err(_) => race.end(index, Err(Loss::timeout("sending the request"))),
        }
    }
    // Where the pings fail the connection is broken, and each answer says so for itself.
    let _ = timeout_at(deadline, lane.settled()).await;
    let settled = Instant::now() + timing.settle;
    let _ = timeout_at(settled.min(deadline), race.collect(&mut answers)).await;

    let answering =
        |index: usize| heads_seen[index].as_ref().is_some_and(|began| began.load(Ordering::Acquire));
    let early =
        (0..requests.len()).filter(|&index| race.outcomes[index].is_some() || answering(index)).count();
    ends.retain(|end| race.outcomes[end.index].is_none());
    let spread = open(&lane, &mut ends, deadline).await;
    let opening = Opening { waiting: count(requests.len() - early), early: count(early), spread };
    watch.opened(&opening);

    if timeout_at(deadline, race.collect(&mut answers)).await.is_err() {
        for index in 0..requests.len() {
            if race.outcomes[index].is_none() {
                race.end(index, Err(Loss::timeout("the answer")));
            }
        }
    }
    let lost = || Err(Loss::timeout("the answer"));
    let outcomes = race.outcomes.into_iter().map(|outcome| outcome.unwrap_or_else(lost)).collect();
    Ok(Arrival { outcomes, opening })
}

async fn connect(origin: &Origin, of: usize, deadline: Instant) -> Result<Streams, ArrivalError> {
    let connecting = async {
        let stream = TcpStream::connect(origin.address()).await.map_err(|error| Loss::connecting(&error))?;
        stream.set_nodelay(true).map_err(|error| Loss::connecting(&error))?;
        let mut lane = Streams::open(stream).await?;
        // The service's settings come before its first pong: from then on its limit is known.
        lane.settled().await?;
        Ok(lane)
    };
    let lane = timeout_at(deadline, connecting)
        .await
        .unwrap_or_else(|_| Err(Loss::timeout("connecting")))
        .map_err(|loss| ArrivalError::Connection { index: 0, of: 1, origin: origin.to_string(), loss })?;
    let most = lane.most();
    if most < of {
        return Err(ArrivalError::TooFewStreams { origin: origin.to_string(), most, of });
    }
    Ok(lane)
}

/// A request that lacks its last frame.
struct End {
    index: usize,
    stream: SendStream<Bytes>,
    last: Bytes,
}

/// Queues all last frames without letting the connection's task run in between, and waits until it has written them.
/// Returns the time between the first and the last write: none where they left in one.
async fn open(lane: &Streams, ends: &mut [End], deadline: Instant) -> Duration {
    let log = lane.log();
    for end in ends.iter_mut() {
        // It fails where the stream is over already; then there is an answer, or a loss, that tells.
        let _ = end.stream.send_data(std::mem::take(&mut end.last), true);
    }
    while !ends.is_empty() && !lane.is_over() && Instant::now() < deadline {
        if let Some(writes) = log.flushed() {
            return match (writes.first(), writes.last()) {
                (Some(first), Some(last)) => *last - *first,
                _ => Duration::ZERO,
            };
        }
        tokio::task::yield_now().await;
    }
    Duration::ZERO
}

struct Race<'a> {
    watch: &'a dyn Watch,
    outcomes: Vec<Option<Outcome>>,
}

impl Race<'_> {
    async fn collect<F: Future<Output = (usize, Outcome)>>(&mut self, answers: &mut FuturesUnordered<F>) {
        while let Some((index, outcome)) = answers.next().await {
            self.end(index, outcome);
        }
    }

    fn end(&mut self, index: usize, outcome: Outcome) {
        self.watch.ended(index, &outcome);
        self.outcomes[index] = Some(outcome);
    }
}
