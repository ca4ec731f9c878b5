//! Whether the scenario could fail at all, and whether passing would mean something.

use super::{
    super::{Invariants, Scenario, Witnesses},
    finding::Findings,
};
use crate::fail::Code;

pub(super) fn check(scenario: &Scenario, findings: &mut Findings) {
    if scenario.step.is_empty() {
        let message = "the scenario has no step";
        findings.add(
            Code::ScenarioProvesNothing,
            &[],
            message,
            "add a [[step]] that asks the target for something",
        );
        return;
    }
    let expects = scenario.step.iter().any(|step| {
        step.expect.is_some()
            || step.expect_some.is_some()
            || step.expect_one.is_some()
            || step.until.is_some()
    });
    if scenario.invariants == Invariants::default() && !expects {
        let message = "the scenario demands nothing, so it could not fail";
        let help = "add an entry to [invariants], or an `expect` to a step";
        findings.add(Code::ScenarioProvesNothing, &[], message, help);
    }
    // A sweep is its own witness: that its kills hit.
    if scenario.witness == Witnesses::default() && scenario.sweep.is_none() {
        let message = "the scenario has no witness, so a pass would mean nothing: the situation may never have been there";
        let help = "name in [witness] what must have been seen; at least `answered = [\"STEP\"]`";
        findings.add(Code::ScenarioProvesNothing, &[], message, help);
    }
}
