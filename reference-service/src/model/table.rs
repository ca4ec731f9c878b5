use std::fmt::Write as _;
use std::time::{Duration, Instant};

use stateright::{Checker as _, HasDiscoveries, Model as _};

use crate::Defect;
use crate::domain::Mode;
use crate::rules::Rules;

use super::step::Protocol;
use super::{Act, Promise, Setup};

/// The worlds that are explored. Between them is everything that the promises speak of; apart, each is small enough to
/// be explored to its end.
pub(crate) const SETUPS: [Setup; 4] = [
    // Whether the effect happens once is up to the service alone.
    Setup {
        name: "exclusive, the provider takes every call for a new one",
        mode: Mode::Exclusive,
        recognises: false,
        accepts: true,
        faults: 1,
        cancels: 1,
        deliberate: 0,
    },
    // Somebody may start over although a call is still out: the name that both calls carry has to tell.
    Setup {
        name: "exclusive, the provider recognises a reference",
        mode: Mode::Exclusive,
        recognises: true,
        accepts: false,
        faults: 1,
        cancels: 1,
        deliberate: 2,
    },
    // Three attempts of which two may be lost multiply beyond what can be explored; so: two of which one breaks ...
    Setup {
        name: "race of two, one of them disturbed",
        mode: Mode::Race,
        recognises: false,
        accepts: false,
        faults: 1,
        cancels: 1,
        deliberate: 1,
    },
    // ... and three that only a cancel can end early.
    Setup {
        name: "race of three, no fault",
        mode: Mode::Race,
        recognises: false,
        accepts: false,
        faults: 0,
        cancels: 1,
        deliberate: 2,
    },
];

/// Defects in what the model asks of the rules, each with the world in which it shows. The others are in statements and
/// transactions, which the model has none of, or in what makes two requests one intent, which it takes for granted.
pub(crate) const OF_THE_RULES: [(Defect, Setup); 20] = {
    let [plain, recognising, race, _] = SETUPS;
    // So that it is not another telling of the callback that is taken each time.
    let prompt = Setup { accepts: false, ..plain };
    [
        (Defect::TimeoutIsFailed, plain),
        (Defect::ServerErrorIsFailed, plain),
        (Defect::NotFoundTooEarly, plain),
        (Defect::UnknownDoesNotBlock, plain),
        (Defect::LastWriterWins, prompt),
        (Defect::NoHeartbeat, plain),
        (Defect::LapsedMeansRepeat, plain),
        (Defect::CancelOverwrites, plain),
        (Defect::CancelIgnoresEffect, plain),
        (Defect::UnsignedCallback, plain),
        (Defect::ReplayedCallback, plain),
        (Defect::CallbackEachTime, plain),
        (Defect::EffectBeforeMark, plain),
        (Defect::HiddenResend, plain),
        (Defect::DuplicateIsFailed, recognising),
        (Defect::StatusOnlyCas, recognising),
        (Defect::WorkerNameFence, recognising),
        (Defect::ReferencePerAttempt, recognising),
        (Defect::StartFences, race),
        (Defect::ConflictRepeatsEffect, race),
    ]
};

/// What an exploration came to.
#[derive(Debug)]
pub(crate) struct Explored {
    pub(crate) states: usize,
    pub(crate) depth: usize,
    pub(crate) took: Duration,
    /// What must be reachable and was not.
    pub(crate) unseen: Vec<&'static str>,
    pub(crate) broke: Option<Counterexample>,
}

/// The shortest way to a broken promise.
#[derive(Debug)]
pub(crate) struct Counterexample {
    pub(crate) promise: Promise,
    pub(crate) acts: Vec<Act>,
}

/// Explores one world under one set of rules, breadth first and by one thread, so that the same way is found each time.
pub(crate) fn explore(setup: Setup, rules: Rules, depth: Option<usize>) -> Explored {
    let began = Instant::now();
    let mut checker =
        Protocol::new(setup, rules).checker().threads(1).finish_when(HasDiscoveries::AnyFailures);
    if let Some(depth) = depth {
        checker = checker.target_max_depth(depth);
    }
    let checker = checker.spawn_bfs().join();
    let found = checker.discoveries();
    let broke = Promise::ALL.iter().find_map(|promise| {
        let path = found.get(promise.words())?.clone();
        Some(Counterexample { promise: *promise, acts: path.into_actions() })
    });
    let properties = checker.model().properties();
    let wanted = properties.iter().filter(|one| one.expectation == stateright::Expectation::Sometimes);
    Explored {
        states: checker.unique_state_count(),
        depth: checker.max_depth(),
        took: began.elapsed(),
        unseen: wanted.map(|one| one.name).filter(|name| !found.contains_key(name)).collect(),
        broke,
    }
}

/// The shortest way to a broken promise: the checker looks a little further than to the first it finds, so it is given
/// one step more at a time.
pub(crate) fn shortest(setup: Setup, defect: Defect) -> Option<Explored> {
    (2..=20).map(|depth| explore(setup, with(defect), Some(depth))).find(|explored| explored.broke.is_some())
}

/// The rules with one defect.
pub(crate) fn with(defect: Defect) -> Rules {
    let mut rules = Rules::honest();
    defect.plant(&mut rules);
    rules
}

/// Faults that the honest protocol has to bear: one more makes the exploration about ten times as long.
fn faults(setup: Setup) -> u8 {
    std::env::var("ONEJOB_MODEL_FAULTS").map_or(setup.faults, |faults| faults.parse().expect("a number"))
}

#[test]
fn the_protocol_keeps_its_promises_in_every_world() {
    let mut table = String::from("\n    states  depth  seconds  world\n");
    for setup in SETUPS {
        let setup = Setup { faults: faults(setup), ..setup };
        let explored = explore(setup, Rules::honest(), None);
        eprintln!("{} states in {:.1} s: {}", explored.states, explored.took.as_secs_f64(), setup.name);
        let Explored { states, depth, took, .. } = explored;
        writeln!(table, "{states:>10}  {depth:>5}  {:>7.1}  {}", took.as_secs_f64(), setup.name)
            .expect("a string takes all");
        assert!(explored.broke.is_none(), "{}: {:#?}", setup.name, explored.broke);
        assert_eq!(explored.unseen, Vec::<&str>::new(), "{}", setup.name);
        assert!(states > 10_000, "{} has only {states} states", setup.name);
    }
    println!("{table}");
}

#[test]
fn every_defect_of_the_rules_has_a_counterexample() {
    let mut table = String::from("\n    states  depth  seconds  steps  defect and the promise it breaks\n");
    let mut survivors = Vec::new();
    for (defect, setup) in OF_THE_RULES {
        let Some(Explored { states, depth, took, broke: Some(broke), .. }) = shortest(setup, defect) else {
            survivors.push(defect);
            continue;
        };
        writeln!(
            table,
            "{states:>10}  {depth:>5}  {:>7.1}  {:>5}  {defect}: {} ({})",
            took.as_secs_f64(),
            broke.acts.len(),
            broke.promise.words(),
            setup.name
        )
        .expect("a string takes all");
        writeln!(table, "                                   {:?}", broke.acts).expect("a string takes all");
    }
    println!("{table}");
    assert_eq!(survivors, [], "no counterexample");
}
