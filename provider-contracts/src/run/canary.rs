//! Stage S1: one call for each case; what is deterministic stops the check before samples are paid for.

use super::sample::{Caller, SampleResult};
use crate::dialect::FinishClass;
use crate::prompt::Message;
use crate::provider::{PromptFacts, StaticReport};
use crate::verdict::{Finding, Stage, Verdict};

/// Families of codes that come back with every sample: going on would only cost money.
const CERTAIN: [&str; 12] = [
    "auth",
    "wrong_surface",
    "provider_rejected",
    "finish_unknown",
    "other_provider",
    "envelope",
    "config",
    "prompt_truncated",
    "window_smaller_than_declared",
    "budget_unsafe",
    "stream_spliced",
    "usage_missing",
];

/// What the canaries found, and how many calls they took.
pub(super) async fn canaries(
    caller: &Caller<'_>,
    report: &StaticReport,
) -> (Vec<Finding>, Vec<SampleResult>) {
    let mut findings = Vec::new();
    let mut results = Vec::new();
    for case in &caller.contract.cases {
        let (Some(conversation), Some(facts)) =
            (report.conversations.get(&case.name), report.facts.get(&case.name))
        else {
            continue;
        };
        let result = caller.sample(case, conversation, facts, "canary", caller.provider.stream).await;
        findings.extend(finding(caller, &result));
        let stop = !findings.is_empty() || result.broken.is_some() || result.exhausted;
        let first = results.is_empty();
        results.push(result);
        if stop {
            return (findings, results);
        }
        if first && caller.contract.spec.canary.streaming {
            findings.extend(parity(caller, case, conversation, facts, &results[0]).await);
        }
    }
    if caller.contract.spec.canary.mistake && findings.is_empty() {
        findings.extend(super::probe::mistake(caller, report).await);
    }
    if caller.contract.spec.canary.truncation && findings.is_empty() {
        findings.extend(super::probe::truncation(caller, report).await);
    }
    if caller.contract.spec.canary.window && findings.is_empty() {
        findings.extend(super::probe::window(caller).await);
    }
    (findings, results)
}

fn finding(caller: &Caller<'_>, result: &SampleResult) -> Option<Finding> {
    let verdict = &result.judgement.verdict;
    let stops = match verdict {
        Verdict::Fail(code) | Verdict::Block(code) => {
            CERTAIN.contains(&code.family()) || code.as_str() == "provider_filter:prompt"
        }
        Verdict::Inconclusive(_) | Verdict::Unknown(_) => result.broken.is_none(),
        Verdict::Pass | Verdict::Refused => false,
    };
    let at = |verdict: Verdict, message: String| Finding {
        verdict,
        stage: Stage::Canary,
        message,
        place: Some(format!("case {}", result.case)),
    };
    if stops {
        return Some(at(verdict.clone(), result.judgement.message.clone()));
    }
    let budget = caller.contract.spec.budget;
    let needs_usage = budget.tokens.is_some() || budget.usd.is_some();
    if needs_usage && result.usage.sum().is_none() && verdict.is_pass() {
        let message =
            "the provider reports no usage, so the budget in tokens or money can't be kept".to_owned();
        return Some(at(Verdict::fail("usage_missing"), message));
    }
    None
}

/// The same call the other way, streamed or whole: both must report the same facts.
async fn parity(
    caller: &Caller<'_>,
    case: &crate::contract::Case,
    conversation: &[Message],
    facts: &PromptFacts,
    plain: &SampleResult,
) -> Option<Finding> {
    caller.dialect.stream.as_ref()?;
    let other = caller.sample(case, conversation, facts, "parity", !caller.provider.stream).await;
    let class = |result: &SampleResult| -> Option<FinishClass> {
        result.finish.as_ref().and_then(|finish| caller.dialect.finish.get(finish)).copied()
    };
    let facts_of = |result: &SampleResult| {
        (class(result), result.usage.sum().is_some(), result.judgement.output.is_some())
    };
    if facts_of(plain) == facts_of(&other) {
        return None;
    }
    let told = |result: &SampleResult| {
        format!(
            "finish {}, usage {}, output {}",
            result.finish.as_deref().unwrap_or("none"),
            if result.usage.sum().is_some() { "told" } else { "not told" },
            if result.judgement.output.is_some() { "usable" } else { "not usable" },
        )
    };
    Some(Finding {
        verdict: Verdict::fail("streaming_parity"),
        stage: Stage::Canary,
        message: format!("one way: {}; the other way: {}", told(plain), told(&other)),
        place: Some(format!("case {}", case.name)),
    })
}
