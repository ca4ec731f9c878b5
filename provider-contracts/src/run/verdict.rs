//! From counts to the verdict on a provider.

use super::outcomes::CaseOutcomes;
use super::tally::Tally;
use crate::contract::{Contract, DeterminismMode};
use crate::statistics::lower_bound;
use crate::verdict::{Code, Verdict};

/// Decides, with a sentence. What is certain comes before what is a matter of counts.
pub(super) fn decide(contract: &Contract, tally: &Tally) -> (Verdict, String) {
    let scored = tally.scored();
    let bar = *contract.spec.thresholds.pass_rate.get_ref();
    let bound = lower_bound(tally.passed, scored);
    let rates = format!("{} of {scored} samples passed, lower bound {bound:.4}, bar {bar}", tally.passed);
    if let Some((code, count)) = tally.inconclusive.iter().next() {
        let total: u32 = tally.inconclusive.values().sum();
        return (
            Verdict::Inconclusive(Code::from_text(code)),
            format!("{total} samples ended without an answer ({count} {code}); {rates}"),
        );
    }
    if scored == 0 {
        return (Verdict::inconclusive("no_samples"), "no sample was taken".to_owned());
    }
    let refusals = f64::from(tally.refused) / f64::from(scored);
    if refusals > contract.spec.thresholds.max_refusal_rate {
        if tally.refused == scored {
            return (Verdict::Refused, format!("all {scored} samples were refused"));
        }
        let message = format!(
            "{} of {scored} samples were refused; at most {} may be",
            tally.refused, contract.spec.thresholds.max_refusal_rate
        );
        return (Verdict::fail("refusal_rate"), message);
    }
    if let Some(found) = unstable(contract, tally) {
        return found;
    }
    if bound < bar {
        return below(tally, scored, bar, &rates);
    }
    let p95 = tally.percentile(0.95);
    if let Some(limit) = contract.spec.latency.p95_ms.filter(|limit| p95 > *limit) {
        return (Verdict::fail("latency"), format!("the 95th percentile is {p95} ms and may be {limit}"));
    }
    (Verdict::Pass, rates)
}

fn below(tally: &Tally, scored: u32, bar: f64, rates: &str) -> (Verdict, String) {
    // Would it pass if everything unknown had been fine? Then nobody can say.
    if tally.unknown > 0 && lower_bound(tally.passed + tally.unknown, scored) >= bar {
        return (
            Verdict::unknown("outcome_unknown"),
            format!("{} outcomes are not known; {rates}", tally.unknown),
        );
    }
    match tally.main_fault() {
        // Every failure of the same kind is that kind's verdict; otherwise it is a matter of rate.
        Some(code) if tally.failed.len() == 1 => (Verdict::Fail(Code::from_text(code)), rates.to_owned()),
        Some(code) => (Verdict::fail("pass_rate"), format!("{rates}; most often {code}")),
        None if tally.refused > 0 => (Verdict::fail("refusal_rate"), rates.to_owned()),
        None if tally.unknown > 0 => (Verdict::unknown("outcome_unknown"), rates.to_owned()),
        None => (Verdict::fail("needs_more_samples"), rates.to_owned()),
    }
}

fn unstable(contract: &Contract, tally: &Tally) -> Option<(Verdict, String)> {
    let determinism = contract.spec.determinism;
    if determinism.mode != DeterminismMode::Required {
        return None;
    }
    let share = |outcomes: &CaseOutcomes| {
        let (_, most) = outcomes.commonest()?;
        Some(f64::from(most) / f64::from(outcomes.with_output()))
    };
    for (how, cases) in [("at production concurrency", &tally.concurrent), ("one at a time", &tally.serial)] {
        for (case, outcomes) in cases {
            if let Some(share) = share(outcomes).filter(|share| *share < determinism.at_least) {
                let serial = tally
                    .serial
                    .get(case)
                    .and_then(share_of)
                    .map_or(String::new(), |serial| format!("; one at a time it is {serial:.2}"));
                let message = format!(
                    "case {case}, {how}: the commonest output comes in {share:.2} of the samples, and {} is asked{serial}",
                    determinism.at_least
                );
                return Some((Verdict::fail("unstable"), message));
            }
        }
    }
    None
}

fn share_of(outcomes: &CaseOutcomes) -> Option<f64> {
    let (_, most) = outcomes.commonest()?;
    Some(f64::from(most) / f64::from(outcomes.with_output()))
}
