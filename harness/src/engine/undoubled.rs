//! A scenario for a target whose provider can't be stood in for: what it asks of clients remains, what it asks of calls
//! doesn't.
//!
//! Only scenarios survive this whose situation comes about without the double: nothing may be asked while a call is held,
//! nothing may hang on a call's arrival, and no fault may be at the provider.

use std::collections::BTreeSet;

use crate::scenario::{Capability, Loaded, Reply, Scenario, Step, Verb, Witnesses};

/// The cells as a target of these capabilities can play them. Those that need the double stay as they are. `counts` says
/// whether the target counts effects itself.
#[must_use]
pub fn undoubled(mut cells: Vec<Loaded>, capabilities: &BTreeSet<Capability>, counts: bool) -> Vec<Loaded> {
    if !capabilities.contains(&Capability::Provider) {
        for cell in &mut cells {
            if goes_without(&cell.scenario, counts) {
                strip(&mut cell.scenario);
            }
        }
    }
    cells
}

fn goes_without(scenario: &Scenario, counts: bool) -> bool {
    let plain = |reply: Reply| matches!(reply, Reply::Succeed | Reply::Hold | Reply::Forbid);
    let judged = &scenario.invariants;
    let of_calls = judged.result_of_winner
        || judged.winners.is_some()
        || judged.alike.is_some()
        || judged.cancelled_had_no_effect
        || judged.identity
        || !judged.logged.is_empty()
        || !judged.kept.is_empty();
    !scenario.provider.is_empty()
        && scenario.provider.iter().all(|rule| plain(rule.reply) && rule.provider.is_none())
        && scenario
            .step
            .iter()
            .all(|step| step.after.is_empty() && step.with.provider.is_none() && step.meet.is_none())
        && !of_calls
        // Where an answer was cut, somebody has to know of an effect that no answer tells of.
        && (counts || scenario.step.iter().all(|step| !matches!(step.act, Verb::Fault | Verb::Heal)))
        && sees_no_calls(&scenario.witness)
        && nothing_is_asked_while_held(&scenario.step)
        && (judged.jobs.is_some() || scenario.step.iter().any(|step| step.expect.is_some()))
}

fn sees_no_calls(seen: &Witnesses) -> bool {
    let Witnesses {
        raced: _,
        answered: _,
        hit: _,
        lost: _,
        overlap,
        both_out,
        timed_out,
        late,
        hidden_effect,
    } = seen;
    [overlap, both_out, timed_out, late, hidden_effect].iter().all(|calls| calls.is_empty())
}

/// Between a call's arrival and its release lies nothing that a client does.
fn nothing_is_asked_while_held(steps: &[Step]) -> bool {
    let mut held = false;
    for step in steps {
        match step.act {
            Verb::Await if step.call.is_some() || !step.calls.is_empty() => held = true,
            Verb::Release => held = false,
            _ if held => return false,
            _ => {}
        }
    }
    !held
}

fn strip(scenario: &mut Scenario) {
    scenario.provider.clear();
    scenario.step.retain(|step| {
        let of_call = step.call.is_some() || !step.calls.is_empty() || step.order.is_some();
        !(step.act == Verb::Release || step.act == Verb::Await && of_call)
    });
    let judged = &mut scenario.invariants;
    judged.calls = None;
    judged.effects = None;
    judged.payloads = None;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::load_str;

    const HELD: &str = r#"
        id = "x"
        title = "t"
        why = "w"
        [[provider]]
        call = "first"
        reply = "hold"
        [[provider]]
        call = "rest"
        reply = "forbid"
        [[step]]
        id = "click"
        do = "submit"
        with = { key = "K", payload = "P" }
        times = 2
        together = true
        open = true
        expect = { status = [201, 409] }
        [[step]]
        do = "await"
        call = "first"
        MORE
        [[step]]
        do = "release"
        call = "first"
        [invariants]
        jobs = { exactly = 1, per = "key" }
        effects = { exactly = 1, per = "key" }
        [witness]
        raced = ["click"]
    "#;

    fn played(more: &str, capabilities: &[Capability], counts: bool) -> Scenario {
        let cells =
            load_str("x", &HELD.replace("MORE", more)).and_then(|file| file.cells()).expect("a scenario");
        undoubled(cells, &capabilities.iter().copied().collect(), counts).remove(0).scenario
    }

    #[test]
    fn clicks_that_meet_need_no_double() {
        let scenario = played("", &[], false);
        assert!(scenario.provider.is_empty());
        assert_eq!(scenario.step.len(), 1, "only the clicks are left");
        assert!(scenario.invariants.effects.is_none() && scenario.invariants.jobs.is_some());
    }

    #[test]
    fn whoever_has_a_double_keeps_everything() {
        assert_eq!(played("", &[Capability::Provider], false).step.len(), 3);
    }

    #[test]
    fn what_a_cut_answer_hid_somebody_has_to_count() {
        let more =
            "[[step]]\ndo = \"release\"\ncall = \"first\"\n[[step]]\ndo = \"fault\"\nfault = \"client-cut\"";
        assert_eq!(played(more, &[], false).provider.len(), 2);
        assert!(played(more, &[], true).provider.is_empty(), "or a target that counts");
    }

    #[test]
    fn what_is_asked_while_a_call_is_held_needs_the_double() {
        let more = "[[step]]\nid = \"again\"\ndo = \"submit\"\nwith = { key = \"K\", payload = \"P\" }\n\
                    expect = { status = [200] }";
        assert_eq!(played(more, &[], false).provider.len(), 2);
    }
}
