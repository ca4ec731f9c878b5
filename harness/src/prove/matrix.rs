//! Which scenario kills which defect. Pure.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What one scenario made of one defect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "is")]
pub enum Trial {
    /// A promise broke: the first that did, and the cell.
    Killed {
        /// Name of the cell.
        cell: String,
        /// Name of the promise.
        promise: String,
        /// The sentence.
        sentence: String,
    },
    /// Every cell that could have noticed passed.
    Survived,
    /// Not tried: on the honest service, nothing came to where the defect would have made a difference.
    NotReached,
    /// No promise broke, and at least one cell was inconclusive or an error: this says nothing.
    Unclear {
        /// What happened instead.
        why: String,
    },
}

/// A defect and what it stands for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Culprit {
    /// Its switch.
    pub name: String,
    /// The promise that it breaks.
    pub promise: String,
    /// The public failure that it stands for, in one sentence.
    pub story: String,
}

/// Version of the matrix as JSON; goes up whenever a reader would have to change.
pub const MATRIX_VERSION: u32 = 1;

/// The kill matrix: rows are defects, columns are scenarios, and what was not tried is missing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KillMatrix {
    /// Version of this form.
    pub schema_version: u32,
    /// The defects, in order.
    pub defects: Vec<Culprit>,
    /// The scenarios that passed on the honest service, in order.
    pub scenarios: Vec<String>,
    /// Scenarios that were not tried at all, and why.
    pub left_out: BTreeMap<String, String>,
    /// Trials by defect and scenario.
    pub trials: BTreeMap<String, BTreeMap<String, Trial>>,
    /// Whether every pair was tried, or shown to be out of reach.
    pub complete: bool,
    /// Whether it was broken off.
    pub interrupted: bool,
    /// Wall time in microseconds.
    pub duration_us: u64,
}

impl KillMatrix {
    /// The scenarios that killed a defect.
    #[must_use]
    pub fn killers(&self, defect: &str) -> Vec<&str> {
        let trials = self.trials.get(defect).into_iter().flatten();
        trials
            .filter(|(_, trial)| matches!(trial, Trial::Killed { .. }))
            .map(|(scenario, _)| scenario.as_str())
            .collect()
    }

    /// Defects that no scenario killed.
    #[must_use]
    pub fn survivors(&self) -> Vec<&str> {
        let names = self.defects.iter().map(|defect| defect.name.as_str());
        names.filter(|name| self.killers(name).is_empty()).collect()
    }

    /// How it came out, in a sentence.
    #[must_use]
    pub fn summary(&self) -> String {
        let dead = self.defects.len() - self.survivors().len();
        let useful = self.scenarios.len() - self.idle().len();
        let [killed, survived, unreached, unclear] = self.counts();
        let extent = match (self.interrupted, self.complete) {
            (true, _) => "broken off".to_owned(),
            (_, true) => format!("every pair: {unreached} out of reach"),
            _ => "first killers only".to_owned(),
        };
        format!(
            "{dead} of {} defects killed, {useful} of {} scenarios kill at least one; {extent}, {killed} killed, \
             {survived} survived, {unclear} without a verdict, in {:.1} s",
            self.defects.len(),
            self.scenarios.len(),
            std::time::Duration::from_micros(self.duration_us).as_secs_f64(),
        )
    }

    /// How many pairs were killed, survived, were out of reach, and left the question open.
    #[must_use]
    pub fn counts(&self) -> [usize; 4] {
        let mut counts = [0; 4];
        for trial in self.trials.values().flat_map(BTreeMap::values) {
            counts[match trial {
                Trial::Killed { .. } => 0,
                Trial::Survived => 1,
                Trial::NotReached => 2,
                Trial::Unclear { .. } => 3,
            }] += 1;
        }
        counts
    }

    /// Scenarios that killed nothing: they prove nothing.
    #[must_use]
    pub fn idle(&self) -> Vec<&str> {
        let useful: BTreeSet<&str> =
            self.defects.iter().flat_map(|defect| self.killers(&defect.name)).collect();
        self.scenarios.iter().map(String::as_str).filter(|scenario| !useful.contains(scenario)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(trials: &[(&str, &str, bool)]) -> KillMatrix {
        let mut matrix = KillMatrix::default();
        for (defect, scenario, kills) in trials {
            if matrix.defects.iter().all(|known| known.name != *defect) {
                let culprit =
                    Culprit { name: (*defect).into(), promise: String::new(), story: String::new() };
                matrix.defects.push(culprit);
            }
            if !matrix.scenarios.iter().any(|known| known == scenario) {
                matrix.scenarios.push((*scenario).into());
            }
            let killed =
                Trial::Killed { cell: "c".into(), promise: "p".into(), sentence: "It broke.".into() };
            let trial = if *kills { killed } else { Trial::Survived };
            matrix.trials.entry((*defect).into()).or_default().insert((*scenario).into(), trial);
        }
        matrix
    }

    #[test]
    fn a_defect_that_nothing_kills_survives() {
        let matrix = matrix(&[("d", "s", false), ("d", "t", false), ("e", "s", true)]);
        assert_eq!(matrix.survivors(), ["d"]);
        assert_eq!(matrix.killers("e"), ["s"]);
    }

    #[test]
    fn a_scenario_that_kills_nothing_is_idle() {
        let matrix = matrix(&[("d", "s", true), ("d", "t", false)]);
        assert_eq!(matrix.idle(), ["t"]);
        assert!(matrix.survivors().is_empty());
    }
}
