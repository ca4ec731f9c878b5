//! Whether a history can be judged at all.

use std::collections::{HashMap, HashSet};

use crate::history::{CallId, Event, Kind, RequestId};

/// What a history contradicts itself in: a position that is missing, a request or a call that is there twice, an answer
/// to what nobody asked, the end of a call that never came. Such a history was changed or is not ours, and every verdict on it would be a guess.
#[must_use]
pub fn malformed(events: &[Event]) -> Option<String> {
    let mut answered: HashMap<RequestId, bool> = HashMap::new();
    let mut called: HashSet<CallId> = HashSet::new();
    for (place, event) in events.iter().enumerate() {
        if event.seq != place as u64 {
            return Some(format!("Event {} stands where event {place} belongs.", event.seq));
        }
        match &event.kind {
            Kind::Sent { request, step, .. } => {
                let twice = answered.insert(*request, false).is_some();
                if twice {
                    return Some(format!("Request {request} ({step}) was sent twice."));
                }
            }
            Kind::Answered { request, .. } => match answered.get_mut(request) {
                None => return Some(format!("Request {request} was answered and never sent.")),
                Some(true) => return Some(format!("Request {request} was answered twice.")),
                Some(answered) => *answered = true,
            },
            Kind::Called { call, name, .. } => {
                let twice = !called.insert(*call);
                if twice {
                    return Some(format!("Call {call} ({name}) came twice."));
                }
            }
            Kind::Effect { call }
            | Kind::Released { call }
            | Kind::Replied { call, .. }
            | Kind::CallEnded { call, .. } => {
                let never = !called.contains(call);
                if never {
                    return Some(format!("Something became of call {call}, which had not come."));
                }
            }
            _ => {}
        }
    }
    None
}
