//! Two reports against each other.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::field::{FieldParity, RuleParity, agreement, rule, settled};
use crate::contract::Contract;
use crate::run::{CaseOutcomes, CheckReport};
use crate::verdict::{Code, Verdict};

/// A primary whose own answers agree less than this can't be compared with.
const SETTLED: f64 = 0.8;

/// A fallback against its primary.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The version of this format.
    pub format: u32,
    /// What was decided.
    pub verdict: Verdict,
    /// Why, in a sentence.
    pub reason: String,
    /// Agreement by field.
    pub fields: Vec<FieldParity>,
    /// Rules that speak of the primary.
    pub rules: Vec<RuleParity>,
    /// The primary's check.
    pub primary: CheckReport,
    /// The fallback's check.
    pub fallback: CheckReport,
}

/// Compares. Each sample of the fallback is held against what the primary usually answers to the same input: a primary
/// that is sometimes wrong must not excuse a fallback that is.
#[must_use]
pub fn compare(contract: &Contract, primary: CheckReport, fallback: CheckReport) -> Comparison {
    let mut fields = Vec::new();
    let mut rules = Vec::new();
    let decided = ready(&primary, &fallback)
        .or_else(|| parity(contract, &primary, &fallback, &mut fields, &mut rules))
        .unwrap_or_else(|| {
            (Verdict::Pass, "the fallback meets the contract and agrees with the primary".to_owned())
        });
    let (verdict, reason) = decided;
    Comparison { format: 1, verdict, reason, fields, rules, primary, fallback }
}

type Decided = (Verdict, String);

/// Whether there is something to compare.
fn ready(primary: &CheckReport, fallback: &CheckReport) -> Option<Decided> {
    for name in ["contract", "prompt", "schema", "cases"] {
        if primary.digests.0.get(name) != fallback.digests.0.get(name) {
            let message = format!(
                "the two were checked against different versions of the {name}: check the primary again"
            );
            return Some((Verdict::fail("other_contract"), message));
        }
    }
    if !fallback.verdict.is_pass() {
        return Some((fallback.verdict.clone(), format!("the fallback: {}", fallback.reason)));
    }
    match &primary.verdict {
        Verdict::Pass => None,
        Verdict::Inconclusive(_) | Verdict::Unknown(_) => Some((
            Verdict::inconclusive("baseline"),
            format!("the primary: {}: {}", primary.verdict, primary.reason),
        )),
        verdict => {
            let code = verdict.code().map_or("refused", Code::as_str);
            Some((
                Verdict::Fail(Code::with("baseline", code)),
                format!("the primary itself does not meet the contract: {}", primary.reason),
            ))
        }
    }
}

fn parity(
    contract: &Contract,
    primary: &CheckReport,
    fallback: &CheckReport,
    fields: &mut Vec<FieldParity>,
    rules: &mut Vec<RuleParity>,
) -> Option<Decided> {
    let none = CaseOutcomes::default();
    let outcomes =
        |report: &'_ CheckReport, case: &str| report.outcomes.get(case).cloned().unwrap_or_default();
    for agree in &contract.spec.agree {
        let bar = agree.at_least.or(contract.spec.thresholds.agreement).unwrap_or(1.0);
        let mut wanted = Vec::new();
        for case in &contract.cases {
            let place = agree.select.as_str();
            match settled(&outcomes(primary, &case.name), &agree.select, agree.tolerance) {
                Some((value, share)) if share >= SETTLED => wanted.push((case.name.as_str(), value)),
                found => {
                    let share = found.map_or(0.0, |(_, share)| share);
                    let message = format!(
                        "case {}, {place}: the primary's commonest answer comes in {share:.2} of its own samples",
                        case.name
                    );
                    return Some((Verdict::inconclusive("baseline_unstable"), message));
                }
            }
        }
        let cases =
            wanted.iter().map(|(case, value)| (*case, value, fallback.outcomes.get(*case).unwrap_or(&none)));
        fields.push(agreement(agree, bar, cases));
    }
    for one in contract.spec.rule.iter().filter(|rule| rule.cel.reads("primary")) {
        let known: Vec<(&str, &Value, Value)> = contract
            .cases
            .iter()
            .filter_map(|case| {
                let commonest = outcomes(primary, &case.name).commonest()?.0.clone();
                Some((case.name.as_str(), &case.input, commonest))
            })
            .collect();
        let cases = known.iter().map(|(case, input, primary)| {
            (*case, *input, primary, fallback.outcomes.get(*case).unwrap_or(&none))
        });
        rules.push(rule(one, cases));
    }
    let weak_field = fields.iter().find(|field| !field.holds());
    if let Some(field) = weak_field {
        let message = format!(
            "{}: {} of {} samples agree with the primary, lower bound {:.4}, bar {}. {}",
            field.select,
            field.agreed,
            field.samples,
            field.lower_bound,
            field.bar,
            field.example.as_deref().unwrap_or_default()
        );
        return Some((Verdict::Fail(Code::with("disagrees", &field.select)), message));
    }
    let bar = *contract.spec.thresholds.pass_rate.get_ref();
    let weak_rule = rules.iter().find(|rule| rule.lower_bound < bar)?;
    let message = format!(
        "rule {}: holds for {} of {} samples, lower bound {:.4}, bar {bar}. {}",
        weak_rule.rule,
        weak_rule.held,
        weak_rule.samples,
        weak_rule.lower_bound,
        weak_rule.example.as_deref().unwrap_or_default()
    );
    Some((Verdict::Fail(Code::with("rule", &weak_rule.rule)), message))
}
