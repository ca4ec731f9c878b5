//! Checker against checker: our laws, which look at each answer a fixed number of times, and a general
//! linearizability tester, which tries every order, must say the same of every history.

mod corpus;
mod invent;
mod mutate;
mod register;

pub use corpus::{push, sent};

use std::collections::BTreeMap;

use onejob::{
    history::Event,
    law::{View, judge, malformed},
    scenario::Scenario,
};
use onejob_reports::model::Outcome;

/// What a checker says of a history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Says {
    Good,
    Bad,
    Undecidable,
}

/// The promises that are about the order of what clients were told. The others are about effects, faults and counts,
/// of which a register knows nothing.
const LAWS: [&str; 3] = ["one-job", "final", "decided-once"];

fn scenario() -> Scenario {
    toml::from_str(
        "id = \"s\"\ntitle = \"t\"\nwhy = \"w\"\n[[step]]\nid = \"click\"\ndo = \"submit\"\n\
         with = { key = \"K\", payload = \"P\" }\n[invariants]\ndecided_once = true\n",
    )
    .expect("the scenario is a valid one")
}

/// Our laws.
fn laws(scenario: &Scenario, events: &[Event]) -> (Says, String) {
    if let Some(why) = malformed(events) {
        return (Says::Undecidable, why);
    }
    let judged = judge(scenario, &[View::of(1, events)]);
    let broken = judged
        .promises
        .iter()
        .map(|(promise, _)| promise)
        .find(|promise| LAWS.contains(&promise.name.as_str()) && promise.outcome == Outcome::Broke);
    match broken {
        Some(promise) => (Says::Bad, format!("{}: {}", promise.name, promise.sentence)),
        None => (Says::Good, String::new()),
    }
}

/// Asserts that both checkers say the same; gives what they say.
#[track_caller]
fn agreed(scenario: &Scenario, events: &[Event], name: &str) -> Says {
    let (ours, why) = laws(scenario, events);
    let theirs = register::tester(events);
    let tell = || events.iter().map(|event| format!("{:?}", event.kind)).collect::<Vec<_>>().join("\n");
    assert_eq!(ours, theirs, "{name}: laws (left, {why}) against tester (right)\n{}", tell());
    ours
}

#[test]
fn both_checkers_say_of_every_corpus_history_what_its_folder_says() {
    let scenario = scenario();
    let stories = corpus::stories();
    let mut counts: BTreeMap<Says, usize> = BTreeMap::new();
    for (expected, name, events) in &stories {
        assert_eq!(agreed(&scenario, events, name), *expected, "{name}");
        *counts.entry(*expected).or_default() += 1;
    }
    println!("{} histories: {counts:?}", stories.len());
    assert!([Says::Good, Says::Bad, Says::Undecidable].iter().all(|says| counts[says] >= 4), "{counts:?}");
}

#[test]
fn both_checkers_agree_on_ten_thousand_mutated_histories() {
    const MANY: u64 = 10_000;
    let scenario = scenario();
    let stories = corpus::stories();
    let mut table: BTreeMap<&str, BTreeMap<Says, usize>> = BTreeMap::new();
    for seed in 0..MANY {
        let mut random = invent::Random::new(seed);
        // Half of what is mutated was written by hand, half is invented.
        let base = if random.coin() {
            stories[random.below(stories.len())].2.clone()
        } else {
            invent::history(&mut random)
        };
        let (name, events) = mutate::mutate(base, &mut random);
        let says = agreed(&scenario, &events, &format!("seed {seed}, {name}"));
        *table.entry(name).or_default().entry(says).or_default() += 1;
        *table.entry("all").or_default().entry(says).or_default() += 1;
    }
    for (name, counts) in &table {
        let of = |says| counts.get(&says).copied().unwrap_or(0);
        let (good, bad, open) = (of(Says::Good), of(Says::Bad), of(Says::Undecidable));
        println!("{name:>16}  good {good:>5}  bad {bad:>5}  undecidable {open:>5}");
    }
    // A set in which nearly everything is good, or nothing can be decided, would prove nothing.
    let all = &table["all"];
    assert_eq!(all.values().sum::<usize>() as u64, MANY);
    assert!([Says::Good, Says::Bad, Says::Undecidable].iter().all(|says| all[says] >= 1_000), "{all:?}");
}
