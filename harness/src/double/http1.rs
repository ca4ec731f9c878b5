//! A connection that speaks HTTP/1.1.

use std::{
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use http_body_util::{BodyExt, Limited};
use hyper::{
    Request, Response,
    body::{Body, Bytes, Frame, Incoming, SizeHint},
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use tokio::time::{Instant, Sleep, sleep_until};

use super::{
    answer::Answer,
    call::{Act, Parting, act},
    outbox::Outbox,
    route::{Routed, Router},
    server::MOST_BYTES,
    tap::Tap,
};
use crate::history::CallEnd;

/// The connection ends without an answer.
#[derive(Debug, thiserror::Error)]
#[error("no answer")]
pub(super) struct NoAnswer;

/// Serves one connection until either side ends it.
///
/// hyper reads on while a request is worked on and drops that work when the caller closes or resets: that drop is what
/// tells the history that the caller is gone.
pub(super) async fn serve(router: Arc<Router>, tap: Tap, outbox: Outbox) {
    let service = service_fn(|request| answer(Arc::clone(&router), outbox.clone(), request));
    // An error is the caller's hanging up or our own cut; what there is to tell was told by the call itself.
    let _ = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(tap), service).await;
}

async fn answer(
    router: Arc<Router>,
    outbox: Outbox,
    request: Request<Incoming>,
) -> Result<Response<Outgoing>, NoAnswer> {
    let (head, body) = request.into_parts();
    let body = match Limited::new(body, MOST_BYTES).collect().await {
        Ok(body) => body.to_bytes(),
        Err(error) if error.is::<http_body_util::LengthLimitError>() => {
            return Ok(response(&router.too_big(&head), Outgoing::aside));
        }
        Err(_) => return Err(NoAnswer),
    };
    let taken = match router.route(&head, &body) {
        Routed::Aside(answer) => return Ok(response(&answer, Outgoing::aside)),
        Routed::Call(taken) => *taken,
    };
    match act(taken).await {
        Act::Whole(answer, open) => {
            let parting = Parting::answer(open, &answer);
            Ok(response(&answer, |bytes| Outgoing::whole(bytes, parting, outbox)))
        }
        Act::Trickle(answer, over, open) => {
            let parting = Parting::answer(open, &answer);
            Ok(response(&answer, |bytes| Outgoing::trickle(bytes, over, parting, outbox)))
        }
        Act::Half(answer, open) => {
            let parting = Parting::cut(open, CallEnd::Truncated);
            Ok(response(&answer, |bytes| Outgoing::half(bytes, parting, outbox)))
        }
        Act::Reset(open) => {
            outbox.reset(Parting::cut(open, CallEnd::Reset));
            Err(NoAnswer)
        }
        Act::Leave => Err(NoAnswer),
    }
}

fn response(answer: &Answer, body: impl FnOnce(Bytes) -> Outgoing) -> Response<Outgoing> {
    let mut response = Response::new(body(Bytes::from(answer.body.clone())));
    *response.status_mut() = answer.status;
    response.headers_mut().extend(answer.headers.iter().cloned());
    response
}

/// The body of an answer. Hands its [`Parting`] to the outbox together with its last byte.
#[derive(Debug)]
pub(super) struct Outgoing {
    rest: Bytes,
    parting: Option<Parting>,
    outbox: Outbox,
    pace: Pace,
}

#[derive(Debug)]
enum Pace {
    Whole,
    Trickle { each: Duration, due: Pin<Box<Sleep>> },
    Half,
    Cut,
}

impl Outgoing {
    fn new(rest: Bytes, parting: Option<Parting>, outbox: Outbox, pace: Pace) -> Self {
        let mut body = Self { rest, parting, outbox, pace };
        if body.rest.is_empty() {
            // hyper never asks for a body of no bytes: the head is the last of it.
            body.hand_over();
        }
        body
    }

    fn aside(rest: Bytes) -> Self {
        Self::new(rest, None, Outbox::default(), Pace::Whole)
    }

    fn whole(rest: Bytes, parting: Parting, outbox: Outbox) -> Self {
        Self::new(rest, Some(parting), outbox, Pace::Whole)
    }

    fn trickle(rest: Bytes, over: Duration, parting: Parting, outbox: Outbox) -> Self {
        let each = over / u32::try_from(rest.len().max(1)).unwrap_or(u32::MAX);
        let due = Box::pin(sleep_until(Instant::now() + each));
        Self::new(rest, Some(parting), outbox, Pace::Trickle { each, due })
    }

    fn half(rest: Bytes, parting: Parting, outbox: Outbox) -> Self {
        Self::new(rest, Some(parting), outbox, Pace::Half)
    }

    fn hand_over(&mut self) {
        if let Some(parting) = self.parting.take() {
            self.outbox.next_flush(parting);
        }
    }
}

impl Body for Outgoing {
    type Data = Bytes;
    type Error = NoAnswer;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, NoAnswer>>> {
        let body = &mut *self;
        if body.rest.is_empty() {
            return Poll::Ready(None);
        }
        let piece = match &mut body.pace {
            Pace::Whole => body.rest.split_to(body.rest.len()),
            Pace::Trickle { each, due } => {
                std::task::ready!(due.as_mut().poll(cx));
                let next = due.deadline() + *each;
                due.as_mut().reset(next);
                body.rest.split_to(1)
            }
            Pace::Half => {
                body.pace = Pace::Cut;
                let piece = body.rest.split_to(body.rest.len().div_ceil(2));
                body.hand_over();
                return Poll::Ready(Some(Ok(Frame::data(piece))));
            }
            // The error makes hyper close the connection at once, so the half has to be out first.
            Pace::Cut if body.outbox.flushed(cx.waker()) => return Poll::Ready(Some(Err(NoAnswer))),
            Pace::Cut => return Poll::Pending,
        };
        if body.rest.is_empty() {
            body.hand_over();
        }
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.rest.len() as u64)
    }
}
