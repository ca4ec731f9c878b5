//! A sweep: its share, and what its rounds leave no room for.

use super::{
    super::{Scenario, Verb},
    finding::Findings,
};
use crate::fail::Code;

pub(super) fn check(scenario: &Scenario, findings: &mut Findings) {
    let Some(sweep) = &scenario.sweep else { return };
    if sweep.share().is_none() {
        let share = sweep.share.as_deref().unwrap_or_default();
        let message = format!("`share = \"{share}\"` is no share");
        let help = "write `1/3` for the first of three parts of the points";
        findings.add(Code::ScenarioField, &["sweep".into(), "share".into()], message, help);
    }
    if scenario.rounds != 1 {
        let message = "a sweep has as many rounds as its rehearsal finds points";
        findings.add(Code::ScenarioContradiction, &["rounds".into()], message, "take `rounds` out");
    }
    for (index, step) in scenario.step.iter().enumerate() {
        let path = ["step".into(), index.into()];
        if matches!(step.act, Verb::Fault | Verb::Heal) {
            let message =
                "a sweep brings its own faults: a second one would make the points mean something else";
            findings.add(Code::ScenarioContradiction, &path, message, "take the step out, or the sweep");
        }
        if step.with.replica.is_some_and(|replica| replica > 1) {
            let message = "a sweep kills the only replica, so that nobody else can go on in its place";
            findings.add(Code::ScenarioContradiction, &path, message, "take `replica` out");
        }
        if step.together || step.meet.is_some() {
            let message = "a gate waits for requests that a killed service never gets";
            findings.add(Code::ScenarioContradiction, &path, message, "send them one after the other");
        }
    }
}
