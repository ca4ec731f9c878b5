//! What comes back.

use serde::{Deserialize, Serialize};

use super::Selector;

/// Where the parts of an answer are. Lists are tried in order; text is the concatenation of all nodes of the first
/// selector that finds any.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AnswerShape {
    /// The text that the consumer reads.
    pub text: Vec<Selector>,
    /// What the model says when it declines.
    pub refusal: Vec<Selector>,
    /// Text that is not the answer, such as reasoning.
    pub reasoning: Vec<Selector>,
    /// Tool calls.
    pub tool_calls: Vec<Selector>,
    /// Inside one tool call: its arguments, as text or as an object.
    pub tool_arguments: Vec<Selector>,
    /// The finish value.
    pub finish: Vec<Selector>,
    /// What blocked the prompt, when a block comes with status 200.
    pub blocked: Vec<Selector>,
    /// An error inside a body with status 200.
    pub in_band_error: Vec<Selector>,
    /// The model that answered.
    pub model: Vec<Selector>,
    /// Behind a gateway: who answered.
    pub served_by: Vec<Selector>,
    /// Token counts.
    pub usage: UsageShape,
    /// Set when tool calls end with the ordinary finish value, so that this is no contradiction.
    pub tool_calls_end_ok: bool,
    /// Set when the format has no finish value at all and a whole body is a finished answer.
    pub finish_is_implied: bool,
}

/// Where token counts are.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct UsageShape {
    /// Tokens of the prompt.
    pub input: Vec<Selector>,
    /// Tokens of the output.
    pub output: Vec<Selector>,
    /// Both together.
    pub total: Vec<Selector>,
}

/// What a finish value means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FinishClass {
    /// The answer is complete.
    Ok,
    /// The output limit or the window ended it.
    Truncated,
    /// The model calls a tool.
    Tool,
    /// The model declined.
    Refused,
    /// A content filter stepped in.
    Filtered,
    /// Paused or still running.
    Incomplete,
    /// A gateway says that its upstream broke off: infrastructure.
    UpstreamError,
    /// The provider says, with status 200, that it failed: infrastructure.
    Failed,
    /// The model produced something malformed.
    ModelError,
    /// Known, and never an answer.
    Other,
}

impl FinishClass {
    /// As the file writes it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Truncated => "truncated",
            Self::Tool => "tool",
            Self::Refused => "refused",
            Self::Filtered => "filtered",
            Self::Incomplete => "incomplete",
            Self::UpstreamError => "upstream_error",
            Self::Failed => "failed",
            Self::ModelError => "model_error",
            Self::Other => "other",
        }
    }
}
