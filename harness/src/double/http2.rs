//! A connection that speaks HTTP/2.

use std::{sync::Arc, time::Duration};

use futures::{StreamExt, future::poll_fn, stream::FuturesUnordered};
use h2::{Reason, RecvStream, SendStream, server::SendResponse};
use http::{Request, Response};
use hyper::body::Bytes;

use super::{
    answer::Answer,
    call::{Act, Parting, act},
    outbox::Outbox,
    route::{Routed, Router},
    server::MOST_BYTES,
    tap::Tap,
};
use crate::history::CallEnd;

/// Serves one connection until either side ends it.
///
/// The streams are worked on inside of this future and not as tasks of their own: when it is dropped, they all are, and
/// each tells the history its end before the connection counts as gone.
pub(super) async fn serve(router: Arc<Router>, tap: Tap, outbox: Outbox) {
    let Ok(mut connection) = h2::server::handshake(tap).await else { return };
    let mut streams = FuturesUnordered::new();
    loop {
        tokio::select! {
            accepted = connection.accept() => match accepted {
                Some(Ok((request, respond))) => streams.push(stream(&router, &outbox, request, respond)),
                // The caller is gone; dropping the streams says so for each of them.
                Some(Err(_)) | None => return,
            },
            Some(()) = streams.next() => {}
        }
    }
}

async fn stream(
    router: &Router,
    outbox: &Outbox,
    request: Request<RecvStream>,
    mut respond: SendResponse<Bytes>,
) {
    let (head, body) = request.into_parts();
    let what = match collect(body).await {
        Collected::Whole(body) => router.route(&head, &body),
        Collected::TooBig => Routed::Aside(router.too_big(&head)),
        Collected::Broken => return,
    };
    let taken = match what {
        Routed::Call(taken) => *taken,
        Routed::Aside(answer) => {
            let _ = send(&mut respond, &answer, Pace::Whole).await;
            return;
        }
    };
    let act = tokio::select! {
        act = act(taken) => act,
        // A reset stream drops the call, which tells that its caller is gone.
        _ = poll_fn(|cx| respond.poll_reset(cx)) => return,
    };
    let id = respond.stream_id().as_u32();
    match act {
        Act::Whole(answer, open) => {
            let out = outbox.stream(id, Parting::answer(open, &answer), None);
            let sent = send(&mut respond, &answer, Pace::Whole).await;
            settle(outbox, id, sent, out).await;
        }
        Act::Trickle(answer, over, open) => {
            let out = outbox.stream(id, Parting::answer(open, &answer), None);
            let sent = send(&mut respond, &answer, Pace::Trickle(over)).await;
            settle(outbox, id, sent, out).await;
        }
        Act::Half(answer, open) => {
            let half = answer.body.len().div_ceil(2);
            let out = outbox.stream(id, Parting::cut(open, CallEnd::Truncated), Some(half));
            let sent = send(&mut respond, &answer, Pace::Half).await;
            settle(outbox, id, sent, out).await;
            respond.send_reset(Reason::INTERNAL_ERROR);
        }
        Act::Reset(open) => {
            respond.send_reset(Reason::INTERNAL_ERROR);
            open.end(CallEnd::Reset);
        }
        Act::Leave => respond.send_reset(Reason::CANCEL),
    }
}

/// Waits until the bytes are out, or the caller doesn't want them any more.
async fn settle(
    outbox: &Outbox,
    id: u32,
    sent: Result<Option<SendStream<Bytes>>, h2::Error>,
    out: tokio::sync::oneshot::Receiver<()>,
) {
    match sent {
        Ok(Some(mut stream)) => tokio::select! {
            biased;
            _ = out => return,
            _ = poll_fn(|cx| stream.poll_reset(cx)) => {}
        },
        Ok(None) => {
            // Nothing but a head, which needs no window: it leaves with the next write, or the connection ends.
            let _ = out.await;
        }
        Err(_) => {}
    }
    outbox.forget(id);
}

enum Pace {
    Whole,
    Trickle(Duration),
    Half,
}

/// Sends an answer; the stream is handed back so that its reset can be seen, where it has data at all.
async fn send(
    respond: &mut SendResponse<Bytes>,
    answer: &Answer,
    pace: Pace,
) -> Result<Option<SendStream<Bytes>>, h2::Error> {
    let mut head = Response::new(());
    *head.status_mut() = answer.status;
    head.headers_mut().extend(answer.headers.iter().cloned());
    let mut body = Bytes::from(answer.body.clone());
    let mut stream = respond.send_response(head, body.is_empty())?;
    if body.is_empty() {
        return Ok(None);
    }
    match pace {
        Pace::Whole => push(&mut stream, body, true).await?,
        Pace::Half => push(&mut stream, body.split_to(body.len().div_ceil(2)), false).await?,
        Pace::Trickle(over) => {
            let each = over / u32::try_from(body.len()).unwrap_or(u32::MAX);
            let mut due = tokio::time::Instant::now();
            while !body.is_empty() {
                due += each;
                tokio::select! {
                    () = tokio::time::sleep_until(due) => {}
                    reason = poll_fn(|cx| stream.poll_reset(cx)) => return Err(reason?.into()),
                }
                let byte = body.split_to(1);
                push(&mut stream, byte, body.is_empty()).await?;
            }
        }
    }
    Ok(Some(stream))
}

/// Sends data as far as the caller's window allows, and waits for more of it.
async fn push(stream: &mut SendStream<Bytes>, mut data: Bytes, last: bool) -> Result<(), h2::Error> {
    while !data.is_empty() {
        stream.reserve_capacity(data.len());
        let room = match poll_fn(|cx| stream.poll_capacity(cx)).await {
            Some(room) => room?.min(data.len()),
            None => return Err(Reason::CANCEL.into()),
        };
        let piece = data.split_to(room);
        stream.send_data(piece, last && data.is_empty())?;
    }
    Ok(())
}

enum Collected {
    Whole(Vec<u8>),
    TooBig,
    Broken,
}

async fn collect(mut body: RecvStream) -> Collected {
    let mut whole = Vec::new();
    while let Some(piece) = body.data().await {
        let Ok(piece) = piece else { return Collected::Broken };
        if whole.len() + piece.len() > MOST_BYTES {
            return Collected::TooBig;
        }
        whole.extend_from_slice(&piece);
        if body.flow_control().release_capacity(piece.len()).is_err() {
            return Collected::Broken;
        }
    }
    Collected::Whole(whole)
}
