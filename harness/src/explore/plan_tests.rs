use super::*;
use crate::{explore::write, scenario::load_str};

fn ability() -> Ability {
    Ability::of(&crate::target::reference().expect("the built-in target"), true)
}

#[test]
fn the_same_seed_gives_the_same_plans_and_another_seed_gives_others() {
    let ability = ability();
    assert_eq!(digest(7, 64, &ability), digest(7, 64, &ability));
    assert_ne!(digest(7, 64, &ability), digest(8, 64, &ability));
    // A plan doesn't depend on whether its neighbours were made.
    assert_eq!(Plan::of(7, 40, &ability), Plan::of(7, 40, &ability));
}

#[test]
fn every_plan_is_a_valid_scenario_and_reads_back_as_what_was_written() {
    let ability = ability();
    for seed in 0..4 {
        for index in 0..400 {
            let plan = Plan::of(seed, index, &ability);
            let scenario = plan.scenario(&ability);
            let text = write::plain(&scenario);
            let cells = load_str("plan", &text)
                .and_then(|file| file.cells())
                .unwrap_or_else(|fault| panic!("plan {index} of seed {seed}: {fault:?}\n{text}"));
            assert_eq!(cells.len(), 1, "{text}");
            assert_eq!(cells[0].scenario, scenario, "{text}");
        }
    }
}

#[test]
fn any_part_of_a_plan_is_a_plan() {
    let ability = ability();
    for index in 0..200 {
        let plan = Plan::of(1, index, &ability);
        for without in 0..plan.moves.len() {
            let mut part = plan.clone();
            part.moves.remove(without);
            let scenario = part.scenario(&ability);
            if scenario.step.is_empty() || part.jobs() == 0 {
                continue;
            }
            let text = write::plain(&scenario);
            load_str("part", &text)
                .and_then(|file| file.cells())
                .unwrap_or_else(|fault| panic!("plan {index} without {without}: {fault:?}\n{text}"));
        }
    }
}

#[test]
fn plans_reach_every_verb_and_every_trouble() {
    use std::collections::BTreeSet;
    let ability = ability();
    let mut seen = BTreeSet::new();
    let mut faults = BTreeSet::new();
    for index in 0..600 {
        for step in Plan::of(3, index, &ability).scenario(&ability).step {
            seen.insert(step.act.word());
            faults.extend(step.fault);
        }
    }
    let verbs = [
        "submit",
        "read",
        "lookup",
        "retry",
        "cancel",
        "cancel-attempt",
        "resolve",
        "deliver",
        "release",
        "fault",
        "heal",
    ];
    assert!(verbs.iter().all(|verb| seen.contains(verb)), "{seen:?}");
    let troubles = ["crash", "restart", "stop", "database-terminate", "client-drop-answer", "provider-cut"];
    assert!(troubles.iter().all(|fault| faults.contains(*fault)), "{faults:?}");
}
