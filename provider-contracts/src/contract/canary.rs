//! What is looked at before samples are taken.

use serde::Deserialize;

/// The canary stage. One call for each case is always made unless `cases` is false; the rest costs extra calls.
#[expect(clippy::struct_excessive_bools, reason = "five independent switches of a file")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct CanarySpec {
    /// One call for each case.
    pub cases: bool,
    /// The first case once more the other way, streamed or whole: both must report the same facts.
    pub streaming: bool,
    /// One deliberately wrong request: the error must have the dialect's shape.
    pub mistake: bool,
    /// One call with room for two tokens: the provider must say that it cut the answer off.
    pub truncation: bool,
    /// One prompt that fills the declared window, with a word at its head and one at its tail that must come back.
    pub window: bool,
}

impl Default for CanarySpec {
    fn default() -> Self {
        Self { cases: true, streaming: false, mistake: false, truncation: false, window: false }
    }
}
