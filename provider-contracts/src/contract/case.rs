//! One real input and what must come out of it.

use serde::Deserialize;
use serde_json::Value;

use crate::dialect::Selector;

/// One real input. Written inline as `[[case]]`, or as a line of a JSONL file.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// Unique within the contract.
    pub name: String,
    /// What the prompt's templates see as `input`.
    #[serde(default)]
    pub input: Value,
    /// Messages after those of the prompt, for a conversation.
    #[serde(default)]
    pub turns: Vec<Turn>,
    /// What the output must be.
    #[serde(default)]
    pub expect: Vec<Expectation>,
}

/// One message of a conversation; the content is a template over `input`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Turn {
    /// `system`, `user` or `assistant`.
    pub role: String,
    /// The text.
    pub content: String,
}

/// What must be at a place of the output. Exactly one of the three is given.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Expectation {
    /// Where to look.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub select: Selector,
    /// The value.
    pub equals: Option<Value>,
    /// For a number: how far off it may be.
    #[serde(default)]
    pub tolerance: f64,
    /// The input has nothing there: null or no key.
    #[serde(default)]
    pub absent: bool,
    /// The input has it: anything but null.
    #[serde(default)]
    pub present: bool,
}

impl Expectation {
    /// Whether exactly one expectation is stated.
    #[must_use]
    pub fn is_decidable(&self) -> bool {
        usize::from(self.equals.is_some()) + usize::from(self.absent) + usize::from(self.present) == 1
    }
}
