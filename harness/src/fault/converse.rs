use std::sync::Arc;
use std::time::Instant;

use super::book::{Book, Claim};
use super::framing::{Body, Framer};
use super::kinds::{Direction, Ending, HttpFault, Swallowed};
use super::request::{Asked, Parsed, Told, answer, request};
use super::shaper::{Shaper, Stop, cut_by_the_clock};
use super::side::{Reader, Side, Writer};
use super::{Hit, RequestHead, Upstream};

/// A client, its upstream, and what is between them.
pub(super) struct Conversation {
    book: Arc<Book>,
    client: Side,
    upstream: Side,
    up: Shaper,
    down: Shaper,
}

/// A whole answer.
struct Answer {
    status: u16,
    bytes: Vec<u8>,
}

impl Conversation {
    pub(super) fn new(book: Arc<Book>, connection: u64, client: Side, upstream: Side) -> Self {
        let shaper = |direction| Shaper::new(Arc::clone(&book), connection, direction);
        Self { up: shaper(Direction::ToUpstream), down: shaper(Direction::ToClient), book, client, upstream }
    }

    /// Passes everything on until both sides have ended or a fault ends them.
    pub(super) async fn run(mut self, http: bool, connection: u64, begun: Instant) {
        let book = Arc::clone(&self.book);
        let talk = async { if http { self.requests().await } else { self.raw().await } };
        let end = tokio::select! {
            end = talk => end,
            stop = cut_by_the_clock(&book, connection, begun) => Err(stop),
        };
        match end {
            Ok(()) | Err(Stop::Cut(Ending::Close)) => {}
            // A side that was reset is a reset for the other one too.
            Err(Stop::Cut(Ending::Reset) | Stop::Io(_)) => {
                self.client.reset();
                self.upstream.reset();
            }
        }
    }

    /// Bytes, whatever they mean.
    async fn raw(&mut self) -> Result<(), Stop> {
        let (from_client, to_client) = self.client.split();
        let (from_upstream, to_upstream) = self.upstream.split();
        tokio::try_join!(
            pump(from_client, to_upstream, &mut self.up),
            pump(from_upstream, to_client, &mut self.down)
        )?;
        Ok(())
    }

    /// One request after the other. Whatever can't be followed is passed on as bytes from there on.
    async fn requests(&mut self) -> Result<(), Stop> {
        loop {
            let Some((length, asked)) = self.next_request().await? else { return self.raw().await };
            let goes_on = match self.book.claim_for(&asked.head) {
                None => self.pass_on(length, &asked).await?,
                Some((claim, HttpFault::Watch)) => self.watch(length, &asked, claim).await?,
                Some((claim, HttpFault::Hold)) => self.hold(length, &asked, claim).await?,
                Some((claim, HttpFault::DropAnswer { then })) => {
                    self.drop_answer(length, &asked, claim, then).await?
                }
                Some((claim, HttpFault::Duplicate { second, second_answers })) => {
                    self.duplicate(length, &asked, claim, &second, second_answers).await?
                }
            };
            if !goes_on {
                return self.raw().await;
            }
        }
    }

    /// The next request's head. None when something else comes.
    async fn next_request(&mut self) -> Result<Option<(usize, Asked)>, Stop> {
        loop {
            match request(self.client.reader().buffered()) {
                Parsed::Whole(length, asked) => return Ok(Some((length, asked))),
                Parsed::Foreign => return Ok(None),
                Parsed::Partial => {}
            }
            tokio::select! {
                more = self.client.reader().more() => if !more? { return Ok(None) },
                // An upstream that speaks unasked says goodbye.
                _ = self.upstream.reader().more() => return Ok(None),
            }
        }
    }

    async fn pass_on(&mut self, length: usize, asked: &Asked) -> Result<bool, Stop> {
        Ok(self.relay_request(length, asked).await? && self.relay_answer(&asked.head.method, true).await?)
    }

    /// Passes a request on as it comes. False when it isn't passed on as a whole.
    async fn relay_request(&mut self, length: usize, asked: &Asked) -> Result<bool, Stop> {
        let mut framer = Framer::new(asked.body);
        let mut ready = length;
        loop {
            let Ok(body) = framer.feed(&self.client.reader().buffered()[ready..]) else { return Ok(false) };
            ready += body;
            let bytes = self.client.reader().take(ready);
            ready = 0;
            self.up.pass(&mut self.upstream.writer, &bytes).await?;
            if framer.is_done() {
                return Ok(true);
            }
            tokio::select! {
                more = self.client.reader().more() => if !more? { return Ok(false) },
                // An answer before the request's end: the upstream refuses the rest of it.
                _ = self.upstream.reader().more() => return Ok(false),
            }
        }
    }

    /// Passes an answer on as it comes. False when its end can't be found. With `heed`, the upstream learns that the
    /// client has gone.
    async fn relay_answer(&mut self, method: &str, heed: bool) -> Result<bool, Stop> {
        loop {
            let told = match answer(self.upstream.reader().buffered(), method) {
                Parsed::Whole(length, told) => {
                    let bytes = self.upstream.reader().take(length);
                    self.down.pass(&mut self.client.writer, &bytes).await?;
                    told
                }
                Parsed::Partial if self.more_from_upstream(heed).await? => continue,
                Parsed::Foreign | Parsed::Partial => return Ok(false),
            };
            if told.status < 200 {
                continue;
            }
            if told.body == Body::UntilClose {
                return Ok(false);
            }
            let mut framer = Framer::new(told.body);
            while !framer.is_done() {
                let Ok(body) = framer.feed(self.upstream.reader().buffered()) else { return Ok(false) };
                let bytes = self.upstream.reader().take(body);
                self.down.pass(&mut self.client.writer, &bytes).await?;
                if !framer.is_done() && !self.more_from_upstream(heed).await? {
                    return Ok(false);
                }
            }
            return Ok(true);
        }
    }

    /// Waits for more of an answer. False when the upstream has ended.
    async fn more_from_upstream(&mut self, heed: bool) -> Result<bool, Stop> {
        loop {
            let client = self.client.reader();
            // What the client sends meanwhile is its next request: it waits.
            let watched = heed && client.buffered().is_empty() && !client.has_ended();
            tokio::select! {
                more = self.upstream.reader().more() => return Ok(more?),
                more = client.more(), if watched => {
                    if !more? {
                        self.up.end(&mut self.upstream.writer).await?;
                    }
                }
            }
        }
    }

    async fn watch(&mut self, length: usize, asked: &Asked, claim: Claim) -> Result<bool, Stop> {
        if !self.relay_request(length, asked).await? {
            return Ok(false);
        }
        let Some(answer) = read_answer(self.upstream.reader(), &asked.head.method).await? else {
            return Ok(false);
        };
        claim.hit(Hit { status: Some(answer.status), ..self.hit_on(&asked.head) });
        self.down.pass(&mut self.client.writer, &answer.bytes).await?;
        Ok(true)
    }

    async fn hold(&mut self, length: usize, asked: &Asked, claim: Claim) -> Result<bool, Stop> {
        let Some(bytes) = self.collect_request(length, asked).await? else { return Ok(false) };
        let rule = Arc::clone(claim.rule());
        claim.hit(self.hit_on(&asked.head));
        // A client that leaves meanwhile does not end the hold: requests that come late are what it is for.
        rule.until_released().await;
        self.up.pass(&mut self.upstream.writer, &bytes).await?;
        self.relay_answer(&asked.head.method, false).await
    }

    async fn drop_answer(
        &mut self,
        length: usize,
        asked: &Asked,
        claim: Claim,
        then: Swallowed,
    ) -> Result<bool, Stop> {
        if !self.relay_request(length, asked).await? {
            return Ok(false);
        }
        let dropped = read_answer(self.upstream.reader(), &asked.head.method).await?;
        claim.hit(Hit { status: dropped.map(|answer| answer.status), ..self.hit_on(&asked.head) });
        match then {
            Swallowed::Ended(ending) => Err(Stop::Cut(ending)),
            Swallowed::Silence => {
                while self.client.reader().more().await? {
                    let count = self.client.reader().buffered().len();
                    drop(self.client.reader().take(count));
                }
                Err(Stop::Cut(Ending::Close))
            }
            Swallowed::Status(status) => {
                let answer =
                    format!("HTTP/1.1 {status} Fault\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
                self.down.pass(&mut self.client.writer, answer.as_bytes()).await?;
                Err(Stop::Cut(Ending::Close))
            }
        }
    }

    async fn duplicate(
        &mut self,
        length: usize,
        asked: &Asked,
        claim: Claim,
        second: &Upstream,
        second_answers: bool,
    ) -> Result<bool, Stop> {
        let Some(bytes) = self.collect_request(length, asked).await? else { return Ok(false) };
        let mut other = second.connect().await?;
        let (one, two) =
            tokio::join!(self.up.pass(&mut self.upstream.writer, &bytes), other.writer.write(&bytes));
        one?;
        two?;
        let method = &asked.head.method;
        let (one, two) =
            tokio::join!(read_answer(self.upstream.reader(), method), read_answer(other.reader(), method));
        let (one, two) = (one.ok().flatten(), two.ok().flatten());
        claim.hit(Hit {
            status: one.as_ref().map(|answer| answer.status),
            second_status: two.as_ref().map(|answer| answer.status),
            ..self.hit_on(&asked.head)
        });
        let Some(answer) = (if second_answers { two } else { one }) else {
            return Err(Stop::Cut(Ending::Reset));
        };
        self.down.pass(&mut self.client.writer, &answer.bytes).await?;
        Ok(true)
    }

    /// Takes the whole request without passing it on. None when the client ends before; what came stays to be read.
    async fn collect_request(&mut self, length: usize, asked: &Asked) -> Result<Option<Vec<u8>>, Stop> {
        let client = self.client.reader();
        let mut framer = Framer::new(asked.body);
        let mut known = length;
        loop {
            let Ok(body) = framer.feed(&client.buffered()[known..]) else { return Ok(None) };
            known += body;
            if framer.is_done() {
                return Ok(Some(client.take(known)));
            }
            if !client.more().await? {
                return Ok(None);
            }
        }
    }

    fn hit_on(&self, head: &RequestHead) -> Hit {
        Hit { request: Some(format!("{} {}", head.method, head.target)), ..self.up.hit() }
    }
}

async fn pump(from: &mut Reader, to: &mut Writer, shaper: &mut Shaper) -> Result<(), Stop> {
    loop {
        let count = from.buffered().len();
        let bytes = from.take(count);
        shaper.pass(to, &bytes).await?;
        if !from.more().await? {
            return shaper.end(to).await;
        }
    }
}

/// A whole answer. None when the upstream ended before or said something else.
async fn read_answer(upstream: &mut Reader, method: &str) -> Result<Option<Answer>, Stop> {
    let mut bytes = Vec::new();
    let told: Told = loop {
        match answer(upstream.buffered(), method) {
            Parsed::Whole(length, told) => {
                bytes.extend(upstream.take(length));
                if told.status >= 200 {
                    break told;
                }
            }
            Parsed::Partial if upstream.more().await? => {}
            Parsed::Foreign | Parsed::Partial => return Ok(None),
        }
    };
    let mut framer = Framer::new(told.body);
    while !framer.is_done() {
        let Ok(body) = framer.feed(upstream.buffered()) else { return Ok(None) };
        bytes.extend(upstream.take(body));
        if !framer.is_done() && !upstream.more().await? {
            // The end of the connection is the end of a body that names no other.
            return Ok((told.body == Body::UntilClose).then_some(Answer { status: told.status, bytes }));
        }
    }
    Ok(Some(Answer { status: told.status, bytes }))
}
