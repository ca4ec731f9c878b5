//! What the provider tells the service on its own about a call's outcome.

use std::{collections::BTreeMap, time::Duration};

use serde_json::json;

use super::{DoubleError, answer::reference, desk::Call};
use crate::{history::CallId, scenario::Reply};

/// A callback, ready to be delivered. Delivered again it is the same event, byte by byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Callback {
    /// Provider that it comes from.
    pub provider: String,
    /// The provider's own id of the event: the same however often it is delivered.
    pub event_id: String,
    /// The identity that the service passed on in its call.
    pub identity: Option<String>,
    /// The attempt that the call carried.
    pub attempt: Option<String>,
    /// Headers by lower-case name.
    pub headers: BTreeMap<String, String>,
    /// The body, JSON: `event_id`, `client_reference`, `attempt` (a number where it is one), `reference`, and `status`:
    /// `succeeded` with a `result`, or `failed` with an `error`. What the call didn't carry is `null`.
    pub body: String,
    /// How late the script wants it to be.
    pub delay: Option<Duration>,
}

impl Callback {
    pub(super) fn about(number: CallId, call: &Call) -> Result<Self, DoubleError> {
        let failed = matches!(call.rule.script.reply, Reply::Fail | Reply::HoldFail | Reply::Status);
        let result = match (call.effect, failed) {
            (true, _) => Some(call.rule.text(&call.name)),
            (false, true) => None,
            (false, false) => {
                return Err(DoubleError::NoOutcome { call: call.name.clone(), round: call.round });
            }
        };
        let event_id = format!("event-{number}");
        let mut body = json!({
            "event_id": event_id,
            "client_reference": call.identity,
            "attempt": call.attempt.as_deref().map(number_or_text),
            "reference": reference(number),
        });
        if let Some(text) = result {
            body["status"] = json!("succeeded");
            body["result"] = json!(text);
        } else {
            body["status"] = json!("failed");
            body["error"] = json!({ "code": "rejected", "message": "nothing was done" });
        }
        let headers = BTreeMap::from([("content-type".to_owned(), "application/json".to_owned())]);
        Ok(Self {
            provider: call.provider.clone(),
            event_id,
            identity: call.identity.clone(),
            attempt: call.attempt.clone(),
            headers,
            body: body.to_string(),
            delay: call.rule.script.delay.map(|span| span.0),
        })
    }
}

/// An attempt's number is a number again, as it was before it went through a header.
fn number_or_text(text: &str) -> serde_json::Value {
    text.parse::<u64>().map_or_else(|_| json!(text), |number| json!(number))
}
