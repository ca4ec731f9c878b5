//! What a scenario asks of a target.

use std::collections::BTreeSet;

use super::{Capability, GateChoice, Scenario, Step, Verb, Way};
use crate::middlebox::{BalancerKind, PoolerKind, Program};

/// The capabilities that the scenario names and those that its parts imply.
pub(super) fn needs(scenario: &Scenario) -> BTreeSet<Capability> {
    let mut needs: BTreeSet<_> = scenario.requires.iter().copied().collect();
    for step in &scenario.step {
        needs.extend(of_verb(step));
        if step.gate == Some(GateChoice::Lock) || step.meet.is_some() {
            needs.insert(Capability::Database);
        }
        match step.with.through {
            Some(Way::Batch) => drop(needs.insert(Capability::Batch)),
            Some(Way::Schedule) => drop(needs.insert(Capability::Schedule)),
            None => {}
        }
        if step.with.race {
            needs.insert(Capability::Race);
        }
        if step.with.replica.is_some_and(|replica| replica > 1) {
            needs.insert(Capability::Replicas);
        }
    }
    if scenario.setup.balancer.is_some() {
        needs.extend([Capability::Process, Capability::Replicas]);
    }
    if scenario.sweep.is_some() || scenario.setup.pooler.is_some() || scenario.setup.server.is_some() {
        needs.extend([Capability::Process, Capability::Database]);
    }
    if owners(scenario) > 1 {
        needs.insert(Capability::Owners);
    }
    if !scenario.provider.is_empty() {
        needs.insert(Capability::Provider);
    }
    if providers(scenario) > 1 {
        needs.insert(Capability::Fallback);
    }
    let judged = &scenario.invariants;
    if !judged.logged.is_empty() || !judged.kept.is_empty() {
        needs.insert(Capability::Audit);
    }
    if judged.calls.is_some() || judged.effects.is_some() || judged.payloads.is_some() || judged.identity {
        needs.insert(Capability::Provider);
    }
    if judged.trace {
        needs.extend([Capability::Provider, Capability::Trace]);
    }
    needs
}

/// Programs that must be on the machine, by the names of their packages.
pub(super) fn programs(scenario: &Scenario) -> Vec<Program> {
    let balancer = scenario.setup.balancer.map(BalancerKind::program);
    balancer.into_iter().chain(scenario.setup.pooler.map(PoolerKind::program)).collect()
}

fn of_verb(step: &Step) -> Option<Capability> {
    match step.act {
        Verb::Submit => None,
        Verb::Read => Some(Capability::Read),
        Verb::Lookup => Some(Capability::Lookup),
        Verb::Retry => Some(Capability::Attempts),
        Verb::Cancel => Some(Capability::Cancel),
        Verb::CancelAttempt => Some(Capability::CancelAttempt),
        Verb::Resolve => Some(Capability::Resolve),
        Verb::Deliver => Some(Capability::Callbacks),
        // Only calls of the double can be awaited or released, apart from a step's answer, which needs nothing.
        Verb::Await => step.call.is_some().then_some(Capability::Provider),
        Verb::Release => Some(Capability::Provider),
        Verb::Fault | Verb::Heal => of_fault(step.fault.as_deref().unwrap_or_default()),
    }
}

/// Faults between client and service need nothing; those at the provider, the double; at the database, the database; those
/// on what lets jobs move, a service that asks for it;
/// all others act on the process.
fn of_fault(name: &str) -> Option<Capability> {
    // Whoever says how a row is locked has given the database too.
    if name == "database-lock-row" {
        return Some(Capability::RowLock);
    }
    match name.split('-').next() {
        Some("client") => None,
        Some("provider") => Some(Capability::Provider),
        Some("database") => Some(Capability::Database),
        Some("attestation" | "contract") => Some(Capability::Failover),
        _ => Some(Capability::Process),
    }
}

/// Owners that really are somebody. A step that names none is asked by the target's first, whose name isn't known here.
fn owners(scenario: &Scenario) -> usize {
    let asking = scenario.step.iter().filter(|step| asks(step.act));
    let owners: BTreeSet<_> = asking.map(|step| step.with.owner.as_deref()).collect();
    owners.into_iter().filter(|owner| *owner != Some("nobody")).count()
}

const fn asks(verb: Verb) -> bool {
    !matches!(verb, Verb::Await | Verb::Release | Verb::Fault | Verb::Heal | Verb::Deliver)
}

/// Providers that are named. What goes on without a name goes to the first, `primary` unless the target calls it
/// otherwise.
fn providers(scenario: &Scenario) -> usize {
    let named = scenario.provider.iter().filter_map(|rule| rule.provider.as_deref());
    let asked = scenario.step.iter().filter_map(|step| step.with.provider.as_deref());
    let mut all: BTreeSet<_> = named.chain(asked).collect();
    all.insert("primary");
    all.len()
}
