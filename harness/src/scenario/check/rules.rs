//! The provider's script: which fields each reply has a use for.

use super::{
    super::{Reply, Scenario, Script},
    finding::Findings,
};
use crate::fail::Code;

pub(super) fn check(scenario: &Scenario, findings: &mut Findings) {
    for (index, rule) in scenario.provider.iter().enumerate() {
        let mut wrong = |field: &'static str, message: String, help: &str| {
            findings.add(
                Code::ScenarioField,
                &["provider".into(), index.into(), field.into()],
                message,
                help,
            );
        };
        let reply = word(rule.reply);
        if rule.times == Some(0) {
            wrong(
                "times",
                "`times` is 0: the rule would take no call".into(),
                "write 1 or more, or take the rule out",
            );
        }
        if rule.call == "rest" && rule.times.is_some() {
            wrong(
                "times",
                "`rest` takes whatever is left, however often".into(),
                "take `times` out, or rename the rule",
            );
        }
        if rule.status.is_some() && !has_status(rule.reply) {
            let help = "only `status`, `fail` and `effect-then-error` answer with a status of your choice";
            wrong("status", format!("`{reply}` has no use for `status`"), help);
        }
        if rule.status.is_none() && rule.reply == Reply::Status {
            wrong(
                "reply",
                "`status` needs to know which".into(),
                "add `status = 503`, or whichever is meant",
            );
        }
        if rule.status.is_some_and(|status| !(200..=599).contains(&status)) {
            wrong("status", "an answer's status is between 200 and 599".into(), "write one of those");
        }
        if !rule.headers.is_empty() && !has_status(rule.reply) {
            let help = "only `status`, `fail` and `effect-then-error` answer with headers of your choice";
            wrong("headers", format!("`{reply}` has no use for `headers`"), help);
        }
        if rule.delay.is_some() && !matches!(rule.reply, Reply::Slow | Reply::Accept) {
            let help =
                "only `slow` and `accept` take their time; hold a call and release it for anything else";
            wrong("delay", format!("`{reply}` has no use for `delay`"), help);
        }
        if rule.answer.is_some() && !has_answer(rule.reply) {
            wrong(
                "answer",
                format!("`{reply}` never tells an answer"),
                "take it out, or let the call succeed",
            );
        }
        let submitted =
            |payload: &str| scenario.step.iter().any(|step| step.with.payload.as_deref() == Some(payload));
        if let Some(payload) = rule.payload.as_deref().filter(|payload| !submitted(payload)) {
            let path = ["provider".into(), index.into(), "payload".into()];
            let message = format!("no step submits the payload `{payload}`, so no call can carry it");
            findings.add(
                Code::ScenarioReference,
                &path,
                message,
                "name one that a step has in `with.payload`",
            );
        }
    }
    shadowed(scenario, findings);
}

/// A rule is never reached if an earlier one takes all that it would take.
fn shadowed(scenario: &Scenario, findings: &mut Findings) {
    let Some(rest) = scenario.provider.iter().position(|rule| rule.call == "rest") else { return };
    let takes_all = |rule: &Script| rule.provider.is_none() && rule.payload.is_none();
    if !takes_all(&scenario.provider[rest]) {
        return;
    }
    if let Some(rule) = scenario.provider.get(rest + 1) {
        let message = format!("`{}` stands after `rest`, which takes every call that is left", rule.call);
        let path = ["provider".into(), (rest + 1).into()];
        findings.add(Code::ScenarioContradiction, &path, message, "put `rest` last");
    }
}

pub(super) const fn is_held(reply: Reply) -> bool {
    matches!(reply, Reply::Hold | Reply::HoldFail)
}

const fn has_status(reply: Reply) -> bool {
    matches!(reply, Reply::Status | Reply::Fail | Reply::HoldFail | Reply::EffectThenError)
}

/// Whether the answer's text is ever told, in the answer or in a callback.
pub(super) const fn has_answer(reply: Reply) -> bool {
    !matches!(reply, Reply::Fail | Reply::HoldFail | Reply::Status | Reply::Garbage | Reply::Stall)
}

/// The reply as files spell it.
pub(super) fn word(reply: Reply) -> String {
    serde_json::to_value(reply).ok().and_then(|word| word.as_str().map(str::to_owned)).unwrap_or_default()
}
