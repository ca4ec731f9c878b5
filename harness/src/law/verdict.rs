//! From rounds to the verdict on a cell.

use std::collections::BTreeMap;

use onejob_reports::model::{Kills, Outcome, Verdict};

use super::{Judgement, Sighting, View, always, attempts, expect, lost, named, witness};
use crate::scenario::Scenario;

/// What a cell came to.
#[derive(Debug, Clone)]
pub struct CellJudgement {
    /// Each promise with its worst outcome, and the rounds in which it broke.
    pub promises: Vec<(Judgement, Vec<u32>)>,
    /// Each witness and the rounds in which it was seen.
    pub witnesses: Vec<(Sighting, Vec<u32>)>,
    /// Steps that waited for what never came, over all rounds.
    pub missed: Vec<(u32, String, String)>,
    /// In a sweep: what was killed where.
    pub kills: Option<Kills>,
    /// The round that shows the verdict best: the first that broke a promise, else the last.
    pub round: u32,
}

/// Judges the rounds of a cell.
#[must_use]
pub fn judge(scenario: &Scenario, rounds: &[View]) -> CellJudgement {
    let mut judge = Judge::of(scenario);
    for view in rounds {
        judge.take(view);
    }
    judge.end()
}

/// Judges the rounds of a cell one by one, so that a long cell's rounds need not be there at once.
#[derive(Debug)]
pub struct Judge<'s> {
    scenario: &'s Scenario,
    /// Statuses that the scenario expects somewhere.
    expected: Vec<u16>,
    place: BTreeMap<String, usize>,
    swept: witness::Swept,
    so_far: CellJudgement,
}

impl<'s> Judge<'s> {
    /// A judge who has seen nothing.
    #[must_use]
    pub fn of(scenario: &'s Scenario) -> Self {
        let checks =
            scenario.step.iter().flat_map(|step| [&step.expect, &step.expect_some, &step.expect_one]);
        let expected = checks.flatten().flat_map(|check| check.status.iter().copied()).collect();
        let so_far = CellJudgement {
            promises: Vec::new(),
            witnesses: Vec::new(),
            missed: Vec::new(),
            kills: None,
            round: 1,
        };
        Self { scenario, expected, place: BTreeMap::new(), swept: witness::Swept::default(), so_far }
    }

    /// Takes the next round.
    pub fn take(&mut self, whole: &View) {
        let scenario = self.scenario;
        // What the scenario lets the database lose is no second job when it is asked for again.
        let lost = lost::lost(whole, &scenario.invariants.may_lose);
        let forgiving = (!lost.is_empty()).then(|| whole.without(&lost));
        let view = forgiving.as_ref().unwrap_or(whole);
        let mut judgements = always::all(view, scenario.invariants.effects.is_some(), &self.expected);
        judgements.extend(attempts::all(view, scenario));
        judgements.extend(named::all(view, &scenario.invariants));
        judgements.extend(expect::all(view, scenario));
        for judgement in judgements {
            self.promise(judgement, view.round);
        }
        for (at, sighting) in witness::all(whole, &scenario.witness).into_iter().enumerate() {
            self.witness(at, sighting, view.round);
        }
        self.swept.take(whole);
        let missed = whole.missed.iter().map(|(step, what)| (whole.round, step.clone(), what.clone()));
        self.so_far.missed.extend(missed);
        self.so_far.round = whole.round;
    }

    fn promise(&mut self, judgement: Judgement, round: u32) {
        let promises = &mut self.so_far.promises;
        let at = *self.place.entry(judgement.name.clone()).or_insert_with(|| {
            promises.push((Judgement::held(judgement.name.clone()), Vec::new()));
            promises.len() - 1
        });
        merge(&mut promises[at], judgement, round);
    }

    fn witness(&mut self, at: usize, sighting: Sighting, round: u32) {
        if let Some((kept, seen_in)) = self.so_far.witnesses.get_mut(at) {
            if sighting.seen {
                seen_in.push(round);
            }
            // What was seen is told rather than what was missing in a later round.
            if !kept.seen {
                *kept = sighting;
            }
        } else {
            let seen_in = if sighting.seen { vec![round] } else { Vec::new() };
            self.so_far.witnesses.push((sighting, seen_in));
        }
    }

    /// What it comes to.
    #[must_use]
    pub fn end(self) -> CellJudgement {
        let mut judgement = self.so_far;
        if self.scenario.sweep.is_some() {
            let broken = judgement.is_broken();
            judgement.kills = self.swept.kills(broken);
            judgement.witnesses.push(self.swept.witness(broken));
        }
        let broken = judgement.promises.iter().filter_map(|(_, rounds)| rounds.first().copied()).min();
        judgement.round = broken.unwrap_or(judgement.round);
        judgement
    }
}

/// The first break is the one that is told; an undecided round doesn't hide that others held or broke.
fn merge(kept: &mut (Judgement, Vec<u32>), new: Judgement, round: u32) {
    match (new.outcome, kept.0.outcome) {
        (Outcome::Broke, Outcome::Broke) => kept.1.push(round),
        (Outcome::Broke, _) => {
            kept.1.push(round);
            kept.0 = new;
        }
        (Outcome::Undecided, Outcome::Held) => kept.0 = new,
        _ => {}
    }
}

impl CellJudgement {
    /// Adds a judgement over the whole cell.
    pub fn add(&mut self, judgement: Judgement) {
        let rounds = if judgement.outcome == Outcome::Broke { vec![self.round] } else { Vec::new() };
        self.promises.push((judgement, rounds));
    }

    /// Whether a promise was broken.
    #[must_use]
    pub fn is_broken(&self) -> bool {
        self.promises.iter().any(|(judgement, _)| judgement.outcome == Outcome::Broke)
    }

    /// The verdict: a broken promise outweighs everything; a missing witness or an undecided promise leaves the
    /// question open.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        if self.is_broken() {
            return Verdict::Fail;
        }
        let undecided = self.promises.iter().any(|(judgement, _)| judgement.outcome == Outcome::Undecided);
        let unseen = self.witnesses.iter().any(|(_, rounds)| rounds.is_empty());
        // Steps that were missed in some rounds are the price of racing; in all of them, nothing was tried.
        if undecided || unseen || self.promises.is_empty() || !self.missed.is_empty() {
            return Verdict::Inconclusive;
        }
        Verdict::Pass
    }
}
