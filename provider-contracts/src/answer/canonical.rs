//! An answer, whatever wire format it came in.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// An answer, whatever wire format it came in.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// The text that the consumer reads.
    pub text: Option<String>,
    /// What the model said when it declined.
    pub refusal: Option<String>,
    /// Text that is not the answer.
    pub reasoning: Option<String>,
    /// The arguments of each tool call, as JSON text.
    pub tool_calls: Vec<String>,
    /// The finish value, as the provider wrote it.
    pub finish: Option<String>,
    /// What blocked the prompt.
    pub blocked: Option<String>,
    /// An error inside a body with status 200.
    pub in_band_error: Option<String>,
    /// The model that answered.
    pub model: Option<String>,
    /// Behind a gateway: who answered.
    pub served_by: Option<String>,
    /// Token counts.
    pub usage: Usage,
    /// How the stream ended, if it was one.
    pub stream: Option<StreamEnd>,
}

/// Token counts as reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of the prompt.
    pub input: Option<u64>,
    /// Tokens of the output.
    pub output: Option<u64>,
    /// Both together, as the provider adds them up.
    pub total: Option<u64>,
}

impl Usage {
    /// The total, added up if the provider does not.
    #[must_use]
    pub fn sum(&self) -> Option<u64> {
        self.total.or_else(|| Some(self.input? + self.output?))
    }
}

/// How a stream ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StreamEnd {
    /// With its end marker.
    Complete,
    /// Without one: what was missing.
    Broken(String),
    /// A second start inside of it.
    Spliced,
}

/// A node as text: a string as it is, anything else as compact JSON.
pub(crate) fn as_text(node: &Value) -> String {
    node.as_str().map_or_else(|| node.to_string(), str::to_owned)
}
