//! Witnesses: what must have been seen for a verdict to mean anything.

use onejob_reports::model::Kills;

use super::{View, judgement::listed, lost, view::Request};
use crate::scenario::Witnesses;

/// What a round says of one witness.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sighting {
    /// Name, as a reader finds it in the file: `raced click`.
    pub name: String,
    /// Whether it was seen.
    pub seen: bool,
    /// What was seen, with figures, or what was missing.
    pub detail: String,
}

/// Looks for every witness in a round.
#[must_use]
pub(super) fn all(view: &View, asked: &Witnesses) -> Vec<Sighting> {
    let mut sightings: Vec<Sighting> = asked.raced.iter().map(|step| raced(view, step)).collect();
    if !asked.overlap.is_empty() {
        sightings.push(overlap(view, &asked.overlap));
    }
    sightings.extend(asked.answered.iter().map(|step| answered(view, step)));
    if !asked.both_out.is_empty() {
        sightings.push(both_out(view, &asked.both_out));
    }
    sightings.extend(asked.timed_out.iter().map(|call| timed_out(view, call)));
    sightings.extend(asked.late.iter().map(|call| late(view, call)));
    sightings.extend(asked.hit.iter().map(|fault| hit(view, fault)));
    sightings.extend(asked.lost.iter().map(|step| sighting(format!("lost {step}"), lost::told(view, step))));
    sightings.extend(asked.hidden_effect.iter().map(|call| hidden_effect(view, call)));
    sightings
}

/// Of four points of a sweep, at least so many must have been hit. What a service does by the clock (a lease that is
/// renewed) may be there in the rehearsal and not in a play that is over sooner.
const HIT_OF_FOUR: u32 = 3;

/// What a sweep came to, round by round.
#[derive(Debug, Default)]
pub(super) struct Swept {
    rehearsed: Option<(u32, u32)>,
    /// The rounds of the kills that hit.
    hit: Vec<u32>,
}

impl Swept {
    pub(super) fn take(&mut self, view: &View) {
        self.rehearsed = self.rehearsed.or(view.rehearsed);
        if view.hits.contains_key("kill") {
            self.hit.push(view.round);
        }
    }

    /// The kills in figures; none where the rehearsal did not come to its end. A broken promise ends a sweep, and what was left
    /// then was not tried.
    pub(super) fn kills(&self, broken: bool) -> Option<Kills> {
        let (found, share) = self.rehearsed?;
        let hit = u32::try_from(self.hit.len()).unwrap_or(u32::MAX);
        let left = share.saturating_sub(hit);
        let (beyond, untried) = if broken { (0, left) } else { (left, 0) };
        Some(Kills { found, share, hit, beyond, untried })
    }

    /// The witness of a sweep: points were found, and most of the cell's were hit. The rounds are those of the kills.
    pub(super) fn witness(&self, broken: bool) -> (Sighting, Vec<u32>) {
        let name = "sweep".to_owned();
        let Some(Kills { found, share, hit, beyond, untried }) = self.kills(broken) else {
            let detail = "the rehearsal was not played to its end".to_owned();
            return (Sighting { name, seen: false, detail }, Vec::new());
        };
        let left = match (beyond, untried) {
            (0, 0) => String::new(),
            (0, untried) => format!(", {untried} were not tried any more"),
            (beyond, _) => format!(", {beyond} lay beyond the end of their play"),
        };
        let detail = format!("{found} points found, {share} of them here, {hit} kills hit{left}");
        let seen = hit > 0 && hit * 4 >= share * HIT_OF_FOUR;
        (Sighting { name, seen, detail }, if seen { self.hit.clone() } else { Vec::new() })
    }
}

fn sighting(name: String, found: Result<String, String>) -> Sighting {
    let seen = found.is_ok();
    Sighting { name, seen, detail: found.unwrap_or_else(|missing| missing) }
}

fn raced(view: &View, step: &str) -> Sighting {
    let found = match view.gates.iter().find(|gate| gate.step == step) {
        None => Err(format!("no gate opened for {step}")),
        Some(gate) if gate.early > 0 => {
            Err(format!("{} of {} were answered before the gate opened", gate.early, gate.expected))
        }
        Some(gate) if gate.waiting < gate.expected => Err(format!(
            "{} of {} waited at the {} gate; the rest was held up before it",
            gate.waiting, gate.expected, gate.gate
        )),
        Some(gate) if gate.gate == "lock" => Ok(format!("{} requests waited on the lock", gate.waiting)),
        Some(gate) => {
            let requests = view.requests_of(step);
            all_overlap(&requests).map(|()| {
                format!(
                    "{} requests in flight at once, let go within {} µs ({})",
                    gate.expected, gate.spread_us, gate.gate
                )
            })
        }
    };
    sighting(format!("raced {step}"), found)
}

fn overlap(view: &View, names: &[String]) -> Sighting {
    let requests: Vec<_> = names.iter().flat_map(|name| view.requests_of(name)).collect();
    let found = if requests.len() < 2 {
        Err(format!("only {} of these requests were sent", requests.len()))
    } else {
        all_overlap(&requests).map(|()| format!("{} requests in flight at once", requests.len()))
    };
    sighting(format!("overlap {}", listed(names)), found)
}

fn all_overlap(requests: &[&Request]) -> Result<(), String> {
    let last_sent = requests.iter().map(|request| request.sent).max().unwrap_or(0);
    let early = requests.iter().find(|request| request.end.as_ref().is_some_and(|end| end.seq < last_sent));
    match early {
        None => Ok(()),
        Some(request) => Err(format!("{} was answered before the last was sent", request.step)),
    }
}

fn answered(view: &View, step: &str) -> Sighting {
    let requests = view.requests_of(step);
    let without = requests.iter().find(|request| request.answer().is_none());
    let found = match (requests.len(), without) {
        (0, _) => Err(format!("{step} was never sent")),
        (_, Some(request)) => Err(format!("{} got no answer", request.step)),
        (1, None) => Ok("answered".to_owned()),
        (count, None) => Ok(format!("{count} answers")),
    };
    sighting(format!("answered {step}"), found)
}

fn both_out(view: &View, names: &[String]) -> Sighting {
    let calls: Result<Vec<_>, String> =
        names.iter().map(|name| view.call(name).ok_or_else(|| format!("call {name} never came"))).collect();
    let found = calls.and_then(|calls| {
        let last_in = calls.iter().map(|call| call.called_us).max().unwrap_or(0);
        match calls.iter().find(|call| call.over_us() < last_in) {
            Some(call) => Err(format!("call {} was over before the last came", call.name)),
            None => Ok(format!("{} calls unanswered at one moment", calls.len())),
        }
    });
    sighting(format!("both out {}", listed(names)), found)
}

/// The service stopped waiting for the call: it said `unknown` or hung up while no answer had been given.
fn timed_out(view: &View, name: &str) -> Sighting {
    let found = view.call(name).ok_or_else(|| format!("call {name} never came")).and_then(|call| {
        let over = call.replied.as_ref().map_or(u64::MAX, |(seq, ..)| *seq);
        let gone = call.ended.filter(|(seq, ..)| *seq < over);
        let told = view.requests.iter().find_map(|request| {
            let end = request.end.as_ref()?;
            let unknown = request.answer()?.state.as_deref() == Some("unknown");
            (unknown && end.seq > call.called && end.seq < over).then_some(end.at_us)
        });
        match (told, gone) {
            (Some(at), _) => Ok(format!(
                "unknown after {} ms without an answer",
                at.saturating_sub(call.called_us) / 1_000
            )),
            (None, Some((_, at, _))) => {
                Ok(format!("the service hung up after {} ms", at.saturating_sub(call.called_us) / 1_000))
            }
            (None, None) => Err(format!("nothing shows that the service gave up on call {name}")),
        }
    });
    sighting(format!("timed out {name}"), found)
}

fn late(view: &View, name: &str) -> Sighting {
    let found = view.call(name).ok_or_else(|| format!("call {name} never came")).and_then(|call| {
        let (replied, ..) = call.replied.as_ref().ok_or_else(|| format!("call {name} was never answered"))?;
        let decided = view
            .requests
            .iter()
            .filter(|request| request.answer().is_some_and(crate::history::Answer::is_terminal));
        let known = decided.filter_map(|request| request.end.as_ref().map(|end| end.seq)).min();
        match known {
            Some(known) if known < *replied => Ok("answered after the job had been decided".to_owned()),
            _ => Err(format!("call {name} was answered before anybody was told of a decision")),
        }
    });
    sighting(format!("late {name}"), found)
}

fn hit(view: &View, fault: &str) -> Sighting {
    let found = match (view.hits.contains_key(fault), view.faults.contains_key(fault)) {
        (true, _) => Ok("hit".to_owned()),
        (false, true) => Err(format!("fault {fault} was applied and hit nothing")),
        (false, false) => Err(format!("fault {fault} was never applied")),
    };
    sighting(format!("hit {fault}"), found)
}

fn hidden_effect(view: &View, name: &str) -> Sighting {
    let found = view.call(name).ok_or_else(|| format!("call {name} never came")).and_then(|call| {
        match (call.effects.is_empty(), call.replied.is_some()) {
            (false, false) => Ok("the effect happened, the answer was lost".to_owned()),
            (true, _) => Err(format!("call {name} had no effect")),
            (false, true) => Err(format!("call {name} was answered")),
        }
    });
    sighting(format!("hidden effect {name}"), found)
}
