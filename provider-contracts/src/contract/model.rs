//! The contract.

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::Value;

use super::{Agree, Budget, CanarySpec, Case, Determinism, Latency, SampleSpec, Thresholds, Turn};
use crate::dialect::ErrorClass;
use crate::rule::Rule;

/// A contract as its file says.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ContractFile {
    /// Lower case, digits and dashes.
    pub name: String,
    /// What the job is, for people.
    #[serde(default)]
    pub purpose: String,
    /// How the job asks.
    pub prompt: PromptSpec,
    /// What it reads from the answer.
    pub output: OutputSpec,
    /// Inline inputs.
    #[serde(default)]
    pub case: Vec<Case>,
    /// A JSONL file with more of them, relative to the contract.
    pub cases: Option<PathBuf>,
    /// Rules over every output.
    #[serde(default)]
    pub rule: Vec<Rule>,
    /// How many samples.
    pub samples: SampleSpec,
    /// What is looked at before samples are taken.
    #[serde(default)]
    pub canary: CanarySpec,
    /// How good is good enough.
    pub thresholds: Thresholds,
    /// Fields on which primary and fallback must agree.
    #[serde(default)]
    pub agree: Vec<Agree>,
    /// Time.
    #[serde(default)]
    pub latency: Latency,
    /// Cost.
    #[serde(default)]
    pub budget: Budget,
    /// Same input, same output?
    #[serde(default)]
    pub determinism: Determinism,
    /// How long an attestation holds, in hours.
    #[serde(default = "thirty_days")]
    pub expires_after_hours: u32,
    /// Which definite failures of the primary may trigger a failover.
    #[serde(default = "definite")]
    pub failover_on: Vec<ErrorClass>,
}

fn thirty_days() -> u32 {
    30 * 24
}

fn definite() -> Vec<ErrorClass> {
    vec![ErrorClass::Throttled, ErrorClass::Overloaded]
}

/// How the job asks.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PromptSpec {
    /// The messages; each content is a template over `input`.
    pub messages: Vec<Turn>,
    /// The job is a conversation: some case must have two turns of the user.
    #[serde(default)]
    pub conversation: bool,
}

/// What the consumer reads.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct OutputSpec {
    /// A JSON Schema file, relative to the contract.
    pub schema: Option<PathBuf>,
    /// Or the schema itself.
    pub inline_schema: Option<Value>,
    /// Keys at the top that the schema does not name.
    #[serde(default)]
    pub extra_keys: ExtraKeys,
    /// Keys for which the consumer reads absent and null alike.
    #[serde(default)]
    pub null_equals_missing: Vec<String>,
    /// How the consumer takes the JSON out of the text.
    #[serde(default)]
    pub extract: Extract,
    /// Contradictions between finish value and content that the consumer can live with, as `stop+tool_calls`.
    #[serde(default)]
    pub finish_aliases: Vec<String>,
    /// The output is the arguments of a tool call.
    #[serde(default)]
    pub from_tool_call: bool,
}

/// Keys at the top that the schema does not name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ExtraKeys {
    /// They fail the sample, even if the schema forgot to say so.
    #[default]
    Forbid,
    /// As the schema says.
    BySchema,
}

/// How the consumer takes the JSON out of the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Extract {
    /// The text is the JSON.
    #[default]
    Raw,
    /// The text may be one Markdown fence with the JSON in it, and nothing else.
    Fence,
}

/// A contract with everything that it refers to.
#[derive(Clone, Debug)]
pub struct Contract {
    /// The file's content.
    pub spec: ContractFile,
    /// Where it was read from.
    pub path: PathBuf,
    /// Its text, byte for byte.
    pub source: String,
    /// The text of the JSONL file, byte for byte.
    pub cases_source: Option<String>,
    /// The consumer's schema.
    pub schema: Option<Value>,
    /// The schema file's text, byte for byte; of an inline schema its compact form.
    pub schema_source: Option<String>,
    /// All cases, inline ones first.
    pub cases: Vec<Case>,
}

impl Contract {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.spec.name
    }

    /// The samples that a check takes in all, without canaries.
    #[must_use]
    pub fn sample_count(&self) -> u32 {
        let cases = u32::try_from(self.cases.len()).unwrap_or(u32::MAX);
        let each = self.spec.samples.per_case.get_ref().saturating_add(self.spec.samples.serial);
        cases.saturating_mul(each)
    }
}
