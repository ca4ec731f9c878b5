//! A call that is out: it ends once, in the history too, whichever way.

use std::sync::Arc;

use tokio::sync::oneshot;

use super::{
    answer::Answer,
    desk::{Desk, Taken},
    plan::Then,
};
use crate::history::{CallEnd, CallId, Kind};

/// What the scenario says to a call that waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Word {
    Go,
    Abandon,
}

/// Held by whoever works on a call. Dropped before its end it means that the caller hung up: a server drops what it does
/// for a caller when the caller is gone.
#[derive(Debug)]
pub(super) struct OpenCall {
    desk: Arc<Desk>,
    call: CallId,
}

impl OpenCall {
    pub(super) fn new(desk: Arc<Desk>, call: CallId) -> Self {
        Self { desk, call }
    }

    pub(super) fn end(self, how: CallEnd) {
        self.desk.end(self.call, Kind::CallEnded { call: self.call, how });
    }
}

impl Drop for OpenCall {
    fn drop(&mut self) {
        // `end` records only the first end, so this is silent after any other.
        let how = if self.desk.finishing() { CallEnd::Abandoned } else { CallEnd::CallerGone };
        self.desk.end(self.call, Kind::CallEnded { call: self.call, how });
    }
}

/// A call whose last bytes are on their way, and what the history is told when they have gone out.
#[derive(Debug)]
pub(super) struct Parting {
    open: OpenCall,
    last: Last,
}

#[derive(Debug)]
enum Last {
    Answer { status: u16, text: Option<String> },
    Cut(CallEnd),
}

impl Parting {
    pub(super) fn answer(open: OpenCall, answer: &Answer) -> Self {
        Self { open, last: Last::Answer { status: answer.status.as_u16(), text: answer.text.clone() } }
    }

    pub(super) fn cut(open: OpenCall, how: CallEnd) -> Self {
        Self { open, last: Last::Cut(how) }
    }

    /// The bytes have left.
    pub(super) fn gone_out(self) {
        let Self { open, last } = self;
        match last {
            Last::Answer { status, text } => {
                open.desk.end(open.call, Kind::Replied { call: open.call, status, text });
            }
            Last::Cut(how) => open.end(how),
        }
    }
}

/// What is to be sent for a call.
#[derive(Debug)]
pub(super) enum Act {
    Whole(Answer, OpenCall),
    Trickle(Answer, std::time::Duration, OpenCall),
    Half(Answer, OpenCall),
    Reset(OpenCall),
    /// Nothing any more: the scenario is over.
    Leave,
}

/// Carries the plan out as far as the caller sees nothing of it.
pub(super) async fn act(taken: Taken) -> Act {
    let Taken { open, plan, mut word } = taken;
    if plan.hold && !told_to_go(&mut word).await {
        open.end(CallEnd::Abandoned);
        return Act::Leave;
    }
    if plan.effect {
        open.desk.effect(open.call);
    }
    match plan.then {
        Then::Answer(answer) => Act::Whole(answer, open),
        Then::Trickle(answer, over) => Act::Trickle(answer, over, open),
        Then::Truncated(answer) => Act::Half(answer, open),
        Then::Reset => Act::Reset(open),
        Then::Never => {
            // Only the end of the scenario, or the caller, ends this.
            told_to_go(&mut word).await;
            open.end(CallEnd::Abandoned);
            Act::Leave
        }
    }
}

async fn told_to_go(word: &mut oneshot::Receiver<Word>) -> bool {
    matches!(word.await, Ok(Word::Go))
}
