//! What a check leaves behind.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::ledger::Spent;
use super::outcomes::CaseOutcomes;
use super::sample::SampleResult;
use crate::contract::Digests;
use crate::transport::Secrets;
use crate::verdict::{Finding, Note, Verdict};

/// The result of a check, as it is written and as an attestation is made of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckReport {
    /// The version of this format.
    pub format: u32,
    /// The version of the tool.
    pub tool: String,
    /// The contract's name.
    pub contract: String,
    /// What it was bound to.
    pub digests: Digests,
    /// Who was asked.
    pub provider: ProviderFacts,
    /// What was decided.
    pub verdict: Verdict,
    /// Why, in a sentence.
    pub reason: String,
    /// What decides against the provider, outside of samples.
    pub findings: Vec<Finding>,
    /// What is worth knowing.
    pub notes: Vec<Note>,
    /// The figures.
    pub figures: Figures,
    /// Some failed samples, whole.
    pub failures: Vec<SampleFailure>,
    /// Outputs by case.
    pub outcomes: BTreeMap<String, CaseOutcomes>,
    /// When it began, RFC 3339.
    pub started: String,
    /// When it ended, RFC 3339.
    pub ended: String,
    /// Whether answers came from a cassette.
    pub replayed: bool,
}

/// Who was asked, and how.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ProviderFacts {
    /// The name in the providers file.
    pub name: String,
    /// The dialect.
    pub dialect: String,
    /// The URL that requests go to.
    pub endpoint: String,
    /// The model that was asked for.
    pub model: String,
    /// The models that answered.
    pub models_reported: Vec<String>,
    /// Behind a gateway: who answered.
    pub served_by: Vec<String>,
    /// Whose bytes were judged.
    pub produced_by: Vec<String>,
    /// The parameters.
    pub parameters: BTreeMap<String, Value>,
}

/// The figures of a check.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// Samples that say something.
    pub samples: u32,
    /// Those that passed.
    pub passed: u32,
    /// Lower end of the 95 % Wilson interval.
    pub lower_bound: f64,
    /// Upper end of it.
    pub upper_bound: f64,
    /// The bar that the lower end must reach.
    pub bar: f64,
    /// What a fence-stripping consumer could have used.
    pub recovered: u32,
    /// Refusals.
    pub refused: u32,
    /// Outcomes that nobody knows.
    pub unknown: u32,
    /// Failed samples by code.
    pub failed: BTreeMap<String, u32>,
    /// Infrastructure faults that stayed, by code.
    pub inconclusive: BTreeMap<String, u32>,
    /// Sends beyond one for each sample.
    pub retries: u32,
    /// Calls, tokens, money.
    pub spent: Spent,
    /// Half of the samples took no longer, in milliseconds.
    pub p50_ms: u64,
    /// 95 % took no longer.
    pub p95_ms: u64,
}

/// A failed sample with all that it takes to understand it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SampleFailure {
    /// The case.
    pub case: String,
    /// Which sample.
    pub sample: String,
    /// The verdict.
    pub verdict: Verdict,
    /// What broke.
    pub message: String,
    /// What else broke.
    pub more: Vec<String>,
    /// How often it was sent.
    pub sends: u32,
    /// The body that was sent.
    pub request: Value,
    /// The answer's start.
    pub answer: String,
}

impl SampleFailure {
    /// Keeps what is needed of a sample.
    #[must_use]
    pub fn of(result: SampleResult) -> Self {
        Self {
            case: result.case,
            sample: result.sample,
            verdict: result.judgement.verdict,
            message: result.judgement.message,
            more: result.judgement.more,
            sends: result.sends,
            // A body of one's own may carry a secret, and reports are passed on.
            request: result
                .request
                .map(|request| Secrets::default().redact_document(&request.body))
                .unwrap_or_default(),
            answer: result.raw,
        }
    }
}
