//! Which pairs of defect and scenario are tried, and in which order. Pure.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::KillMatrix;
use crate::engine::PlannedCell;

/// The cells of each scenario, and the scenarios in the order of the plan. One that the target can't be tried on is left
/// out, and the matrix says why.
pub(super) fn by_scenario(
    cells: Vec<PlannedCell>,
    matrix: &mut KillMatrix,
) -> (BTreeMap<String, Vec<PlannedCell>>, Vec<String>) {
    let mut suite: BTreeMap<String, Vec<PlannedCell>> = BTreeMap::new();
    let mut order = Vec::new();
    for cell in cells {
        let id = cell.loaded.scenario.id.clone();
        if let Some(reason) = &cell.lacks {
            matrix.left_out.insert(id, reason.clone());
            continue;
        }
        if !order.contains(&id) {
            order.push(id.clone());
        }
        suite.entry(id).or_default().push(cell);
    }
    (suite, order)
}

/// Pairs that are still to be tried. In the quick form, only those that may still tell something: the defect is not
/// dead yet, or the scenario has killed nothing yet.
#[derive(Debug)]
pub(super) struct Agenda {
    /// For each defect, scenarios in the order in which they are tried.
    by_defect: BTreeMap<String, VecDeque<String>>,
    /// For each scenario, the defects that it says it kills, and then the others.
    by_scenario: BTreeMap<String, VecDeque<String>>,
    tried: BTreeSet<(String, String)>,
    /// Pairs that are being tried now.
    flying: BTreeSet<(String, String)>,
    dead: BTreeSet<String>,
    useful: BTreeSet<String>,
    all: bool,
}

impl Agenda {
    /// `kills` says which defects each scenario is expected to kill: those pairs come first.
    #[must_use]
    pub(super) fn new(
        defects: &[String],
        scenarios: &[String],
        kills: &BTreeMap<String, Vec<String>>,
        all: bool,
    ) -> Self {
        let expected = |scenario: &String, defect: &String| {
            kills.get(scenario).is_some_and(|list| list.contains(defect))
        };
        let by_defect = defects.iter().map(|defect| {
            let (first, rest): (VecDeque<_>, VecDeque<_>) =
                scenarios.iter().cloned().partition(|scenario| expected(scenario, defect));
            (defect.clone(), first.into_iter().chain(rest).collect())
        });
        let by_scenario = scenarios.iter().map(|scenario| {
            let (first, rest): (VecDeque<_>, VecDeque<_>) =
                defects.iter().cloned().partition(|defect| expected(scenario, defect));
            (scenario.clone(), first.into_iter().chain(rest).collect())
        });
        Self {
            by_defect: by_defect.collect(),
            by_scenario: by_scenario.collect(),
            tried: BTreeSet::new(),
            flying: BTreeSet::new(),
            dead: BTreeSet::new(),
            useful: BTreeSet::new(),
            all,
        }
    }

    /// The next pair to try, defect first. None where nothing more can be learnt before a trial ends: what is being tried
    /// may well answer what the next trial would ask.
    pub(super) fn next(&mut self) -> Option<(String, String)> {
        let pair = self.of_a_defect().or_else(|| self.of_an_idle_scenario())?;
        self.tried.insert(pair.clone());
        self.flying.insert(pair.clone());
        Some(pair)
    }

    /// Breadth first: every defect meets its expected killer before any meets a second scenario.
    fn of_a_defect(&mut self) -> Option<(String, String)> {
        let busy: BTreeSet<&String> = self.flying.iter().map(|(defect, _)| defect).collect();
        let (tried, all, dead) = (&self.tried, self.all, &self.dead);
        for (defect, queue) in &mut self.by_defect {
            while queue.front().is_some_and(|scenario| tried.contains(&(defect.clone(), scenario.clone()))) {
                queue.pop_front();
            }
        }
        let open = |defect: &String| all || !(dead.contains(defect) || busy.contains(defect));
        let (defect, queue) = self
            .by_defect
            .iter_mut()
            .filter(|(defect, queue)| open(defect) && !queue.is_empty())
            .max_by_key(|(_, queue)| queue.len())?;
        Some((defect.clone(), queue.pop_front()?))
    }

    fn of_an_idle_scenario(&mut self) -> Option<(String, String)> {
        let busy: BTreeSet<&String> = self.flying.iter().map(|(_, scenario)| scenario).collect();
        let tried = &self.tried;
        let idle = |scenario: &String| !(self.useful.contains(scenario) || busy.contains(scenario));
        self.by_scenario.iter_mut().filter(|(scenario, _)| idle(scenario)).find_map(|(scenario, queue)| {
            let untried =
                |defect: String| Some((defect, scenario.clone())).filter(|pair| !tried.contains(pair));
            std::iter::from_fn(|| queue.pop_front()).find_map(untried)
        })
    }

    /// Takes pairs out that need no trial, and returns them.
    pub(super) fn drop_pairs(&mut self, useless: impl Fn(&String, &String) -> bool) -> Vec<(String, String)> {
        let mut dropped = Vec::new();
        for (defect, scenarios) in &mut self.by_defect {
            scenarios.retain(|scenario| {
                let drop = useless(defect, scenario);
                if drop {
                    dropped.push((defect.clone(), scenario.clone()));
                }
                !drop
            });
        }
        self.tried.extend(dropped.iter().cloned());
        dropped
    }

    /// How many trials there will be: exactly where all are tried, else the fewest that can do.
    pub(super) fn about(&self) -> usize {
        if self.all {
            self.by_defect.values().map(VecDeque::len).sum()
        } else {
            self.by_defect.len().max(self.by_scenario.len())
        }
    }

    /// Notes how a trial ended: whether the scenario killed the defect.
    pub(super) fn ended(&mut self, defect: &str, scenario: &str, killed: bool) {
        self.flying.remove(&(defect.to_owned(), scenario.to_owned()));
        if killed {
            self.dead.insert(defect.to_owned());
            self.useful.insert(scenario.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    fn expecting(pairs: &[(&str, &str)]) -> BTreeMap<String, Vec<String>> {
        let mut kills: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (scenario, defect) in pairs {
            kills.entry((*scenario).into()).or_default().push((*defect).into());
        }
        kills
    }

    #[test]
    fn every_defect_meets_its_expected_killer_first() {
        let kills = expecting(&[("t", "d"), ("s", "e")]);
        let mut agenda = Agenda::new(&names(&["d", "e"]), &names(&["s", "t"]), &kills, false);
        let mut first: Vec<_> = [agenda.next(), agenda.next()].into_iter().flatten().collect();
        first.sort();
        assert_eq!(first, [("d".to_owned(), "t".to_owned()), ("e".to_owned(), "s".to_owned())]);
    }

    #[test]
    fn the_quick_form_ends_when_all_are_dead_and_every_scenario_has_killed() {
        let kills = expecting(&[("s", "d"), ("t", "e")]);
        let mut agenda = Agenda::new(&names(&["d", "e"]), &names(&["s", "t"]), &kills, false);
        let mut tried = 0;
        while let Some((defect, scenario)) = agenda.next() {
            tried += 1;
            agenda.ended(&defect, &scenario, kills[&scenario].contains(&defect));
        }
        assert_eq!(tried, 2);
    }

    #[test]
    fn an_idle_scenario_is_tried_on_every_defect_before_it_is_called_idle() {
        let kills = expecting(&[("s", "d"), ("s", "e")]);
        let mut agenda = Agenda::new(&names(&["d", "e"]), &names(&["idle", "s"]), &kills, false);
        let mut of_idle = BTreeSet::new();
        while let Some((defect, scenario)) = agenda.next() {
            agenda.ended(&defect, &scenario, scenario == "s");
            if scenario != "s" {
                of_idle.insert(defect);
            }
        }
        assert_eq!(of_idle.len(), 2);
    }

    #[test]
    fn nothing_is_asked_that_a_trial_under_way_may_answer() {
        let kills = expecting(&[("s", "d"), ("t", "d"), ("t", "e")]);
        let mut agenda = Agenda::new(&names(&["d", "e"]), &names(&["s", "t"]), &kills, false);
        let first: BTreeSet<_> = std::iter::from_fn(|| agenda.next()).collect();
        assert_eq!(first, [("d".to_owned(), "s".to_owned()), ("e".to_owned(), "t".to_owned())].into());
        // What was expected didn't come: then the others have their turn.
        agenda.ended("d", "s", false);
        assert_eq!(agenda.next(), Some(("d".to_owned(), "t".to_owned())));
        agenda.ended("e", "t", true);
        agenda.ended("d", "t", true);
        assert_eq!(agenda.next(), Some(("e".to_owned(), "s".to_owned())), "`s` has killed nothing yet");
    }

    #[test]
    fn pairs_that_were_dropped_are_never_tried() {
        let mut agenda = Agenda::new(&names(&["d", "e"]), &names(&["s", "t"]), &BTreeMap::new(), true);
        let dropped = agenda.drop_pairs(|defect, scenario| defect == "d" && scenario == "t");
        assert_eq!(dropped, [("d".to_owned(), "t".to_owned())]);
        assert_eq!(agenda.about(), 3);
        let tried: Vec<_> = std::iter::from_fn(|| agenda.next()).collect();
        assert_eq!(tried.len(), 3);
        assert!(!tried.contains(&dropped[0]));
    }

    #[test]
    fn the_whole_form_tries_every_pair_once() {
        let mut agenda = Agenda::new(&names(&["d", "e"]), &names(&["s", "t", "u"]), &BTreeMap::new(), true);
        let mut seen = BTreeSet::new();
        while let Some((defect, scenario)) = agenda.next() {
            agenda.ended(&defect, &scenario, true);
            assert!(seen.insert((defect, scenario)));
        }
        assert_eq!(seen.len(), 6);
    }
}
