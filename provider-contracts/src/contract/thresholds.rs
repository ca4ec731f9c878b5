//! How good is good enough.

use serde::Deserialize;
use toml::Spanned;

use crate::dialect::Selector;

/// How many samples are taken, and how.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SampleSpec {
    /// Samples for each case.
    #[cfg_attr(feature = "schema", schemars(with = "u32"))]
    pub per_case: Spanned<u32>,
    /// Calls in flight at a time, as in production.
    #[serde(default = "one")]
    pub concurrency: usize,
    /// Additional samples for each case, one at a time, to tell what concurrency changes.
    #[serde(default)]
    pub serial: u32,
    /// How often an infrastructure fault is tried again, for each sample.
    #[serde(default = "three")]
    pub retries: u32,
}

fn one() -> usize {
    1
}

fn three() -> u32 {
    3
}

/// Bars, all in 0..=1.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Thresholds {
    /// Lower Wilson bound of the share of samples that pass.
    #[cfg_attr(feature = "schema", schemars(with = "f64"))]
    pub pass_rate: Spanned<f64>,
    /// The largest share of refusals.
    #[serde(default)]
    pub max_refusal_rate: f64,
    /// Lower Wilson bound of the share of samples that agree with the primary, for each field.
    pub agreement: Option<f64>,
}

/// A field on which fallback and primary must agree.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Agree {
    /// The field.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub select: Selector,
    /// For a number: how far apart the two may be.
    #[serde(default)]
    pub tolerance: f64,
    /// A bar of its own.
    pub at_least: Option<f64>,
}

/// Time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Latency {
    /// The attempt's deadline in the service, in milliseconds. No call waits longer.
    pub deadline_ms: u64,
    /// The 95th percentile, in milliseconds.
    pub p95_ms: Option<u64>,
}

impl Default for Latency {
    fn default() -> Self {
        Self { deadline_ms: 60_000, p95_ms: None }
    }
}

/// Whether the same input must give the same output.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Determinism {
    /// What is asked.
    pub mode: DeterminismMode,
    /// The share of samples of a case that must give the commonest output.
    #[serde(default = "most")]
    pub at_least: f64,
}

fn most() -> f64 {
    0.95
}

impl Default for Determinism {
    fn default() -> Self {
        Self { mode: DeterminismMode::Unchecked, at_least: most() }
    }
}

/// What a contract says about determinism.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum DeterminismMode {
    /// Outputs of the same case must be equal.
    Required,
    /// It is known that there is none: parameters that would ask for it may have no effect.
    Unsupported,
    /// Not looked at, but a parameter that has no effect is still an error.
    #[default]
    Unchecked,
}
