//! One thing that a check found.

use serde::{Deserialize, Serialize};

use super::{Code, Verdict};

/// How far a check had come. Stages run cheap to dear.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// S0: no call is made.
    Static,
    /// S1: one call per case, every wire fact looked at.
    Canary,
    /// S2: the samples.
    Samples,
    /// S3: agreement with the primary.
    Parity,
}

impl Stage {
    /// `S0` to `S3`.
    #[must_use]
    pub fn short(self) -> &'static str {
        match self {
            Self::Static => "S0",
            Self::Canary => "S1",
            Self::Samples => "S2",
            Self::Parity => "S3",
        }
    }
}

/// Something that decides against a provider, with its place and the way out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// What it decides.
    pub verdict: Verdict,
    /// Where in the order of stages it was found.
    pub stage: Stage,
    /// What is wrong, in a sentence.
    pub message: String,
    /// Where: a JSON pointer, a file, a field of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
}

impl Finding {
    /// A finding of the static stage.
    #[must_use]
    pub fn at_rest(verdict: Verdict, message: impl Into<String>) -> Self {
        Self { verdict, stage: Stage::Static, message: message.into(), place: None }
    }

    /// The same finding, with its place.
    #[must_use]
    pub fn at(mut self, place: impl Into<String>) -> Self {
        self.place = Some(place.into());
        self
    }
}

/// Something worth knowing that decides nothing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Note {
    /// What kind of note.
    pub code: Code,
    /// The note, in a sentence.
    pub message: String,
}

impl Note {
    /// A note with a code known at compile time.
    #[must_use]
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code: Code::new(code), message: message.into() }
    }
}
