//! How a provider streams.

use serde::Deserialize;
use serde_json::Value;

use super::{Selector, UsageShape};

/// The streaming form of a dialect. Selectors apply to each event.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StreamShape {
    /// How events are separated.
    pub framing: Framing,
    /// Another path than the plain request's.
    pub path: Option<String>,
    /// Merged into the body to ask for a stream.
    #[serde(default)]
    pub ask: Value,
    /// The data of the last event, when it is not JSON.
    pub done: Option<String>,
    /// Finds something in the event that ends the stream.
    #[serde(default)]
    pub end: Vec<Selector>,
    /// Finds something in the event that starts a stream; twice means spliced.
    #[serde(default)]
    pub start: Vec<Selector>,
    /// A piece of text.
    #[serde(default)]
    pub text: Vec<Selector>,
    /// A piece of a refusal.
    #[serde(default)]
    pub refusal: Vec<Selector>,
    /// A piece of reasoning.
    #[serde(default)]
    pub reasoning: Vec<Selector>,
    /// A piece of a tool call's arguments.
    #[serde(default)]
    pub tool_arguments: Vec<Selector>,
    /// The finish value.
    #[serde(default)]
    pub finish: Vec<Selector>,
    /// What blocked the prompt.
    #[serde(default)]
    pub blocked: Vec<Selector>,
    /// An error after status 200.
    #[serde(default)]
    pub error: Vec<Selector>,
    /// The model that answers.
    #[serde(default)]
    pub model: Vec<Selector>,
    /// Token counts; the last ones count.
    #[serde(default)]
    pub usage: UsageShape,
}

/// How events are separated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Framing {
    /// Server-sent events.
    Sse,
    /// One JSON document a line.
    Ndjson,
    /// AWS's binary event stream; each event becomes `{"<event type>": payload}`.
    AwsEventStream,
}

impl Framing {
    /// As the file writes it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sse => "sse",
            Self::Ndjson => "ndjson",
            Self::AwsEventStream => "aws-event-stream",
        }
    }
}
