//! The same trace at every layer.

use std::collections::BTreeSet;

use super::{Judgement, View, view::Call};

const NAME: &str = "trace";

/// Calls for one job carry the trace of a request that asked for it, each with a span and an attempt of its own: by them
/// people find out which request a provider's work was for, and which of several tries.
pub(super) fn trace(view: &View) -> Judgement {
    let mut judged = 0;
    for job in view.jobs().collect::<BTreeSet<_>>() {
        let asked: BTreeSet<&str> = view
            .requests
            .iter()
            .filter(|request| request.verb == "submit" && request.job() == Some(job))
            .filter_map(|request| ids(request.traceparent.as_deref()?).map(|(trace, _)| trace))
            .collect();
        let calls: Vec<&Call> =
            view.calls.iter().filter(|call| call.identity.as_deref() == Some(job)).collect();
        if asked.is_empty() || calls.is_empty() {
            continue;
        }
        judged += 1;
        if let Some(broken) = broken(&calls, &asked) {
            return broken;
        }
    }
    if judged == 0 {
        return Judgement::undecided(NAME, "No call was seen for a request that carried a trace.");
    }
    Judgement::held(NAME)
}

fn broken(calls: &[&Call], asked: &BTreeSet<&str>) -> Option<Judgement> {
    let mut spans = BTreeSet::new();
    let mut attempts = BTreeSet::new();
    let mut of_first = None;
    for call in calls {
        let broke = |text: String| Some(Judgement::broke(NAME, text, vec![call.called]));
        let Some((trace, span)) = call.traceparent.as_deref().and_then(ids) else {
            return broke(format!("Call {} carried no trace context that can be read.", call.name));
        };
        if !asked.contains(trace) {
            return broke(format!(
                "Call {} carried the trace {trace}, and no request for its job did.",
                call.name
            ));
        }
        if *of_first.get_or_insert(trace) != trace {
            return broke(format!("Call {} carried another trace than the calls before it.", call.name));
        }
        if !spans.insert(span) {
            return broke(format!("Call {} carried the span of an earlier call.", call.name));
        }
        if let Some(attempt) = &call.attempt
            && !attempts.insert(attempt)
        {
            return broke(format!(
                "Call {} carried the attempt {attempt}, as an earlier call did.",
                call.name
            ));
        }
    }
    None
}

/// Trace and span of a `traceparent` (W3C Trace Context, version 00).
fn ids(header: &str) -> Option<(&str, &str)> {
    let hex = |text: &str, length: usize| {
        text.len() == length
            && text.bytes().all(|byte| byte.is_ascii_hexdigit() && !byte.is_ascii_uppercase())
            && text.bytes().any(|byte| byte != b'0')
    };
    let mut parts = header.trim().split('-');
    let (Some("00"), Some(trace), Some(span), Some(_), None) =
        (parts.next(), parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return None;
    };
    (hex(trace, 32) && hex(span, 16)).then_some((trace, span))
}
