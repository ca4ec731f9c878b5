//! Hidden truths must stay hidden: cells that differ in what really happened, and in nothing else, look the same to a
//! client.

use std::collections::BTreeMap;

use super::{Judgement, View, view::step_of};
use crate::scenario::{Alike, Scenario};

/// What a client saw of one step: each answer as (status, state, whether there was a result), in no order.
type Sight = Vec<(u16, String, bool)>;

/// The client's sight of a round up to and with a step.
fn sight(view: &View, scenario: &Scenario, until: &str) -> Vec<(String, Sight)> {
    let names: Vec<String> = scenario.step.iter().enumerate().map(|(index, step)| step.name(index)).collect();
    let last = names.iter().position(|name| name == until).unwrap_or(names.len().saturating_sub(1));
    names
        .into_iter()
        .take(last + 1)
        .enumerate()
        .filter_map(|(index, name)| {
            let mut requests = view.requests_of(&name);
            if scenario.step[index].until.is_some() {
                // How often one had to look is timing, not sight.
                requests = requests.pop().into_iter().collect();
            }
            let mut sight: Sight = requests
                .iter()
                .map(|request| match request.answer() {
                    Some(a) => (a.status, a.state.clone().unwrap_or_default(), a.result.is_some()),
                    None => (0, String::from("no answer"), false),
                })
                .collect();
            sight.sort();
            (!sight.is_empty()).then(|| (step_of(&name).to_owned(), sight))
        })
        .collect()
}

/// A cell, for comparison: its point in the matrix, its scenario with the point filled in, its rounds.
pub struct Seen<'a> {
    /// The point.
    pub at: &'a BTreeMap<String, String>,
    /// The scenario.
    pub scenario: &'a Scenario,
    /// The rounds.
    pub rounds: &'a [View],
}

/// Compares cells that differ in `alike.across` only. Gives for each cell its judgement; cells without a counterpart
/// are undecided.
#[must_use]
pub fn compare(cells: &[Seen<'_>], alike: &Alike) -> Vec<Judgement> {
    const NAME: &str = "alike";
    let others = |at: &BTreeMap<String, String>| -> BTreeMap<String, String> {
        at.iter()
            .filter(|(dimension, _)| **dimension != alike.across)
            .map(|(k, v)| (k.clone(), v.clone()))
            .collect()
    };
    cells
        .iter()
        .map(|cell| {
            let peers: Vec<_> = cells
                .iter()
                .filter(|peer| {
                    peer.at.get(&alike.across) != cell.at.get(&alike.across)
                        && others(peer.at) == others(cell.at)
                })
                .collect();
            let Some(ours) = cell.rounds.last().map(|view| sight(view, cell.scenario, &alike.until)) else {
                return Judgement::undecided(NAME, "No round ended.");
            };
            if peers.is_empty() {
                return Judgement::undecided(
                    NAME,
                    format!("No other cell differs in {} only.", alike.across),
                );
            }
            for peer in peers {
                let Some(view) = peer.rounds.last() else { continue };
                let theirs = sight(view, peer.scenario, &alike.until);
                if let Some((step, sentence)) =
                    difference(&ours, &theirs, &cell.at[&alike.across], &peer.at[&alike.across])
                {
                    let evidence = cell.rounds.last().map(|view| told(view, cell.scenario, &step));
                    return Judgement::broke(NAME, sentence, evidence.unwrap_or_default());
                }
            }
            Judgement::held(NAME)
        })
        .collect()
}

/// Positions of the answers by which a client can tell the difference.
fn told(view: &View, scenario: &Scenario, step: &str) -> Vec<u64> {
    let mut requests = view.requests_of(step);
    let waits = scenario.step.iter().enumerate().any(|(at, s)| s.name(at) == step && s.until.is_some());
    if waits {
        requests = requests.pop().into_iter().collect();
    }
    requests.iter().map(|request| request.end.as_ref().map_or(request.sent, |end| end.seq)).collect()
}

/// The step at which two sights differ, and how, in a sentence.
fn difference(
    ours: &[(String, Sight)],
    theirs: &[(String, Sight)],
    us: &str,
    them: &str,
) -> Option<(String, String)> {
    let told = |sight: &Sight| {
        let words: Vec<_> = sight.iter().map(|(status, state, _)| format!("{status} {state}")).collect();
        words.join(", ")
    };
    for (step, sight) in ours {
        match theirs.iter().find(|(other, _)| other == step) {
            None => {
                let sentence =
                    format!("A client can tell {us} from {them}: only {us} gets as far as {step}.");
                return Some((step.clone(), sentence));
            }
            Some((_, other)) if other != sight => {
                let sentence = format!(
                    "A client can tell {us} from {them} by {step}: {} against {}.",
                    told(sight),
                    told(other)
                );
                return Some((step.clone(), sentence));
            }
            Some(_) => {}
        }
    }
    None
}
