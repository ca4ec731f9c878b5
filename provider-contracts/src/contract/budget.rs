//! What a check may cost.

use serde::Deserialize;

/// Caps on one run; whatever is reached first ends it as inconclusive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Budget {
    /// Requests sent, retries included.
    pub calls: Option<u64>,
    /// Tokens in and out, as reported.
    pub tokens: Option<u64>,
    /// US dollars, by the provider's price.
    pub usd: Option<f64>,
}
