//! Whether a history can be judged at all.

use std::collections::{HashMap, HashSet};

use crate::history::{CallId, Event, Kind, RequestId};

/// What a history contradicts itself in: a position that is missing, a request or a call that is there twice, an answer
/// to what nobody asked, the end of a call that never came. Such a history was changed or is not ours, and every verdict on it would be a guess.
#[must_use]
pub fn malformed(events: &[Event]) -> Option<String> {
    let mut form = Form::default();
    for event in events {
        form.take(event);
    }
    form.end()
}

/// Looks at the events of a history one by one, for what it contradicts itself in.
#[derive(Debug, Default)]
pub struct Form {
    length: u64,
    answered: HashMap<RequestId, bool>,
    called: HashSet<CallId>,
    wrong: Option<String>,
}

impl Form {
    /// Takes the next event.
    pub fn take(&mut self, event: &Event) {
        if self.wrong.is_none() {
            self.wrong = self.wrong_with(event);
            self.length += 1;
        }
    }

    /// The first contradiction.
    #[must_use]
    pub fn end(self) -> Option<String> {
        self.wrong
    }

    fn wrong_with(&mut self, event: &Event) -> Option<String> {
        if event.seq != self.length {
            return Some(format!("Event {} stands where event {} belongs.", event.seq, self.length));
        }
        match &event.kind {
            Kind::Sent { request, step, .. } => {
                let twice = self.answered.insert(*request, false).is_some();
                twice.then(|| format!("Request {request} ({step}) was sent twice."))
            }
            Kind::Answered { request, .. } => match self.answered.get_mut(request) {
                None => Some(format!("Request {request} was answered and never sent.")),
                Some(true) => Some(format!("Request {request} was answered twice.")),
                Some(answered) => {
                    *answered = true;
                    None
                }
            },
            Kind::Called { call, name, .. } => {
                let twice = !self.called.insert(*call);
                twice.then(|| format!("Call {call} ({name}) came twice."))
            }
            Kind::Effect { call }
            | Kind::Released { call }
            | Kind::Replied { call, .. }
            | Kind::CallEnded { call, .. } => {
                let never = !self.called.contains(call);
                never.then(|| format!("Something became of call {call}, which had not come."))
            }
            _ => None,
        }
    }
}
