//! One field, one rule.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::answer::{equal, selected};
use crate::contract::Agree;
use crate::dialect::Selector;
use crate::rule::{Rule, RuleOutcome};
use crate::run::CaseOutcomes;
use crate::statistics::lower_bound;

/// How often the fallback agrees with the primary on a field.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FieldParity {
    /// The field.
    pub select: String,
    /// Samples of the fallback that agree with what the primary usually answers.
    pub agreed: u32,
    /// Samples of the fallback.
    pub samples: u32,
    /// Lower end of the 95 % Wilson interval.
    pub lower_bound: f64,
    /// The bar.
    pub bar: f64,
    /// The first disagreement, for a reader.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub example: Option<String>,
}

impl FieldParity {
    /// Whether the bar is reached.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.lower_bound >= self.bar
    }
}

/// How often a rule over `primary` holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RuleParity {
    /// The rule.
    pub rule: String,
    /// Samples for which it holds.
    pub held: u32,
    /// Samples.
    pub samples: u32,
    /// Lower end of the 95 % Wilson interval.
    pub lower_bound: f64,
    /// What one that broke it says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub example: Option<String>,
}

/// What the primary usually has at a field, and in which share of its samples.
pub(super) fn settled(outcomes: &CaseOutcomes, select: &Selector, tolerance: f64) -> Option<(Value, f64)> {
    let mut groups: Vec<(Value, u32)> = Vec::new();
    for (output, count) in &outcomes.outputs {
        let value = selected(select, output);
        match groups.iter_mut().find(|(known, _)| equal(known, &value, tolerance)) {
            Some((_, total)) => *total += count,
            None => groups.push((value, *count)),
        }
    }
    let all = outcomes.with_output();
    let (value, count) = groups.into_iter().reduce(|best, next| if next.1 > best.1 { next } else { best })?;
    Some((value, f64::from(count) / f64::from(all)))
}

/// Counts agreement on one field over all cases.
pub(super) fn agreement<'a>(
    agree: &Agree,
    bar: f64,
    cases: impl Iterator<Item = (&'a str, &'a Value, &'a CaseOutcomes)>,
) -> FieldParity {
    let (mut agreed, mut samples, mut example) = (0, 0, None);
    for (case, wanted, outcomes) in cases {
        samples += outcomes.total();
        for (output, count) in &outcomes.outputs {
            let value = selected(&agree.select, output);
            if equal(wanted, &value, agree.tolerance) {
                agreed += count;
            } else if example.is_none() {
                example = Some(format!("case {case}: the primary says {wanted}, the fallback {value}"));
            }
        }
    }
    let select = agree.select.as_str().to_owned();
    FieldParity { select, agreed, samples, lower_bound: lower_bound(agreed, samples), bar, example }
}

/// Counts how often a rule over `primary` holds, over all cases.
pub(super) fn rule<'a>(
    rule: &Rule,
    cases: impl Iterator<Item = (&'a str, &'a Value, &'a Value, &'a CaseOutcomes)>,
) -> RuleParity {
    let (mut held, mut samples, mut example) = (0, 0, None);
    let meta = Value::Object(serde_json::Map::new());
    for (case, input, primary, outcomes) in cases {
        samples += outcomes.total();
        for (output, count) in &outcomes.outputs {
            let variables = [("input", input), ("output", output), ("primary", primary), ("meta", &meta)];
            match rule.cel.decide(&variables) {
                RuleOutcome::Holds => held += count,
                RuleOutcome::Broken => {
                    example
                        .get_or_insert_with(|| format!("case {case}: false for {output} against {primary}"));
                }
                RuleOutcome::Error(problem) => {
                    example.get_or_insert_with(|| format!("case {case}: can't be decided: {problem}"));
                }
            }
        }
    }
    RuleParity { rule: rule.name.clone(), held, samples, lower_bound: lower_bound(held, samples), example }
}
