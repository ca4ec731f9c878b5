//! Which outputs a case gave, and how often.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How many different outputs of a case are kept; memory stays flat however many samples there are.
const KEPT: usize = 64;

/// The outputs of one case.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CaseOutcomes {
    /// Different outputs with their counts, in the order they were first seen.
    pub outputs: Vec<(Value, u32)>,
    /// Outputs beyond those that are kept.
    pub others: u32,
    /// Samples without a usable output.
    pub without: u32,
}

impl CaseOutcomes {
    /// Adds one sample.
    pub fn add(&mut self, output: Option<&Value>) {
        let Some(output) = output else {
            self.without += 1;
            return;
        };
        if let Some((_, count)) = self.outputs.iter_mut().find(|(known, _)| known == output) {
            *count += 1;
        } else if self.outputs.len() < KEPT {
            self.outputs.push((output.clone(), 1));
        } else {
            self.others += 1;
        }
    }

    /// All samples.
    #[must_use]
    pub fn total(&self) -> u32 {
        self.with_output() + self.without
    }

    /// Samples with an output.
    #[must_use]
    pub fn with_output(&self) -> u32 {
        self.outputs.iter().map(|(_, count)| count).sum::<u32>() + self.others
    }

    /// The commonest output and how often it came; of equally common ones the first seen.
    #[must_use]
    pub fn commonest(&self) -> Option<(&Value, u32)> {
        let mut best: Option<(&Value, u32)> = None;
        for (value, count) in &self.outputs {
            if best.is_none_or(|(_, most)| *count > most) {
                best = Some((value, *count));
            }
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn equal_outputs_are_counted_and_different_ones_kept_apart() {
        let mut outcomes = CaseOutcomes::default();
        for output in [json!({"a": 1, "b": 2}), json!({"b": 2, "a": 1}), json!({"a": 2})] {
            outcomes.add(Some(&output));
        }
        outcomes.add(None);
        assert_eq!(outcomes.commonest(), Some((&json!({"a": 1, "b": 2}), 2)));
        assert_eq!((outcomes.total(), outcomes.with_output()), (4, 3));
    }

    #[test]
    fn memory_stays_flat() {
        let mut outcomes = CaseOutcomes::default();
        for number in 0..10_000 {
            outcomes.add(Some(&json!(number)));
        }
        assert_eq!(outcomes.outputs.len(), KEPT);
        assert_eq!(outcomes.total(), 10_000);
    }
}
