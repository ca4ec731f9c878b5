//! What a check would do, without doing it.

use serde::Serialize;

use crate::answer::Usage;
use crate::contract::Contract;
use crate::provider::{Provider, StaticReport};
use crate::statistics::{failures_allowed, lower_bound, samples_needed};

/// What a check would send, and what it would cost at most.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Plan {
    /// Where requests would go.
    pub endpoint: String,
    /// Calls of the canary stage.
    pub canary_calls: u64,
    /// Calls of the sample stage.
    pub sample_calls: u64,
    /// How many samples the bar needs, all passing.
    pub samples_needed: Option<u32>,
    /// How many may fail.
    pub failures_allowed: Option<u32>,
    /// The lower bound if all pass.
    pub best_bound: f64,
    /// Prompt tokens in all, as counted or estimated.
    pub input_tokens: u64,
    /// Output tokens at most, when a limit is set.
    pub output_tokens: Option<u64>,
    /// US dollars at most, when there is a price and a limit.
    pub usd: Option<f64>,
    /// The caps that would end the run early.
    pub capped: Vec<String>,
}

/// Works the plan out.
#[must_use]
pub fn plan(contract: &Contract, provider: &Provider, report: &StaticReport) -> Plan {
    let samples = contract.sample_count();
    let bar = *contract.spec.thresholds.pass_rate.get_ref();
    let canary = contract.spec.canary;
    let cases = contract.cases.len() as u64;
    let extra = u64::from(canary.streaming)
        + u64::from(canary.mistake)
        + u64::from(canary.truncation)
        + u64::from(canary.window);
    let canary_calls = if canary.cases { cases + extra } else { 0 };
    let each = u64::from(contract.spec.samples.per_case.get_ref() + contract.spec.samples.serial)
        + u64::from(canary.cases);
    let input_tokens: u64 = report.facts.values().map(|facts| facts.tokens * each).sum();
    let calls = canary_calls + u64::from(samples);
    let output_tokens = provider.max_output().map(|limit| limit * calls);
    let usage = Usage { input: Some(input_tokens), output: output_tokens, total: None };
    let usd = provider.price.filter(|_| output_tokens.is_some()).map(|price| price.of(&usage));
    let budget = contract.spec.budget;
    let mut capped = Vec::new();
    if budget.calls.is_some_and(|cap| cap < calls) {
        capped.push("calls".to_owned());
    }
    if budget.tokens.is_some_and(|cap| cap < input_tokens + output_tokens.unwrap_or(0)) {
        capped.push("tokens".to_owned());
    }
    if let (Some(cap), Some(usd)) = (budget.usd, usd)
        && cap < usd
    {
        capped.push("usd".to_owned());
    }
    Plan {
        endpoint: report.request.as_ref().map(|request| request.url.clone()).unwrap_or_default(),
        canary_calls,
        sample_calls: u64::from(samples),
        samples_needed: samples_needed(bar),
        failures_allowed: failures_allowed(samples, bar),
        best_bound: lower_bound(samples, samples),
        input_tokens,
        output_tokens,
        usd,
        capped,
    }
}
