//! What the double says when it is asked about an outcome.

use http::StatusCode;
use serde_json::json;

use super::{
    answer::{Answer, reference},
    desk::{Desk, State},
};
use crate::{
    history::{CallId, Kind},
    scenario::ProbeReply,
};

/// Answers a question about the calls that carried an identity, and tells the history.
pub(super) fn answer(desk: &Desk, provider: &str, identity: &str) -> Answer {
    let (round, said, found) = desk.look(|state| consider(state, provider, identity));
    let (word, answer) = match said {
        ProbeReply::Succeeded => {
            ("succeeded", Answer::json(StatusCode::OK, &outcome("succeeded", found.as_ref())))
        }
        ProbeReply::Failed => ("failed", Answer::json(StatusCode::OK, &outcome("failed", None))),
        ProbeReply::Pending => ("pending", Answer::json(StatusCode::OK, &outcome("pending", None))),
        ProbeReply::Error => (
            "error",
            Answer::error(StatusCode::INTERNAL_SERVER_ERROR, "internal_error", "something went wrong"),
        ),
        ProbeReply::Truth | ProbeReply::NotFound => (
            "not-found",
            Answer::error(StatusCode::NOT_FOUND, "not_found", "no request with this client reference"),
        ),
    };
    desk.record(round, Kind::Probed { identity: identity.to_owned(), answer: word.to_owned() });
    answer
}

/// The round that is asked about, what is said, and the call whose result is told.
fn consider(state: &State, provider: &str, identity: &str) -> (u32, ProbeReply, Option<(CallId, String)>) {
    let calls = || {
        let numbered = (1..).zip(&state.calls);
        numbered.filter(|(_, call)| call.provider == provider && call.identity.as_deref() == Some(identity))
    };
    let round = calls().last().map_or_else(|| state.newest(), |(_, call)| call.round);
    let told = calls().filter_map(|(_, call)| call.rule.script.probe).last().unwrap_or(ProbeReply::Truth);
    let effect = calls().find(|(_, call)| call.effect);
    let result = |(number, call): (CallId, &super::desk::Call)| (number, call.rule.text(&call.name));
    match (told, effect) {
        (ProbeReply::Truth, Some(call)) => (round, ProbeReply::Succeeded, Some(result(call))),
        (ProbeReply::Truth, None) => (round, ProbeReply::NotFound, None),
        // A lie about success needs a result too: the text of the call that it is about.
        (ProbeReply::Succeeded, call) => (round, told, call.or_else(|| calls().last()).map(result)),
        (told, _) => (round, told, None),
    }
}

fn outcome(status: &str, found: Option<&(CallId, String)>) -> serde_json::Value {
    found.map_or_else(
        || json!({ "status": status }),
        |(call, text)| json!({ "status": status, "result": text, "reference": reference(*call) }),
    )
}
