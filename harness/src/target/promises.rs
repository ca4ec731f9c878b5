//! What a service promises about keys: the choices that its documentation declares.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The declared choices. Whatever is left out is as in the profile `job`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Promises {
    /// What the document is about, for people.
    #[serde(default)]
    pub title: String,
    /// Address of the public document that makes these promises.
    pub source: String,
    /// What else one has to know of it.
    #[serde(default)]
    pub notes: String,
    /// A known key with another payload.
    #[serde(default)]
    pub mismatch: Mismatch,
    /// A request without a key.
    #[serde(default)]
    pub missing: Missing,
    /// A duplicate of a request that is still being worked on.
    #[serde(default, rename = "in-flight")]
    pub in_flight: InFlight,
    /// A duplicate of a request that was answered.
    #[serde(default)]
    pub replay: Replay,
    /// The keys themselves.
    #[serde(default)]
    pub key: Key,
    /// Refusals.
    #[serde(default)]
    pub refusals: Refusals,
    /// How long a key is known.
    #[serde(default)]
    pub retention: Retention,
}

/// A known key with another payload.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Mismatch {
    /// Whether it is noticed.
    pub answer: OnMismatch,
    /// Statuses of the refusal.
    pub status: Vec<u16>,
}

/// What becomes of a known key with another payload.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OnMismatch {
    /// It is refused and changes nothing.
    #[default]
    Refused,
    /// Nothing is promised: it may be answered like a duplicate of the first request.
    First,
}

/// A request without a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Missing {
    /// Whether it is carried out.
    pub answer: OnMissing,
    /// Statuses of the refusal.
    pub status: Vec<u16>,
}

/// What becomes of a request without a key.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OnMissing {
    /// It is refused and does nothing.
    #[default]
    Refused,
    /// It is carried out, unprotected.
    Allowed,
}

/// A duplicate of a request that is still being worked on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct InFlight {
    /// What it is told.
    pub answer: OnFlight,
    /// Statuses that tell it to come back.
    pub status: Vec<u16>,
}

/// What a duplicate in flight is told.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OnFlight {
    /// The job.
    #[default]
    Job,
    /// To come back.
    Conflict,
    /// Nothing until the first one is answered.
    Wait,
}

/// A duplicate of a request that was answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Replay {
    /// What it is told.
    pub answer: OnReplay,
    /// Statuses of a replayed success.
    pub status: Vec<u16>,
    /// Whether replays are marked as such.
    pub marked: bool,
}

/// What a duplicate is told.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OnReplay {
    /// The job as it is now.
    #[default]
    Live,
    /// The first answer, as it was.
    Snapshot,
}

/// The keys themselves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Key {
    /// Among whom a key has to be unique.
    pub scope: Scope,
    /// What a key may look like.
    pub form: Form,
    /// The most characters that a key may have.
    pub longest: usize,
}

/// Among whom a key has to be unique.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// Each owner's keys are his own.
    #[default]
    Owner,
    /// All owners of the service share one space of keys.
    Service,
}

/// What a key may look like.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// Any visible ASCII.
    #[default]
    VisibleAscii,
    /// A UUID.
    Uuid,
}

/// Refusals.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Refusals {
    /// Whether a refusal tells a program which problem it is.
    pub typed: bool,
}

/// How long a key is known.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Retention {
    /// At least so long after the first request, in the document's words.
    pub least: String,
}

impl Default for Mismatch {
    fn default() -> Self {
        Self { answer: OnMismatch::Refused, status: vec![409, 422] }
    }
}

impl Default for Missing {
    fn default() -> Self {
        Self { answer: OnMissing::Refused, status: vec![400] }
    }
}

impl Default for InFlight {
    fn default() -> Self {
        Self { answer: OnFlight::Job, status: vec![409] }
    }
}

impl Default for Replay {
    fn default() -> Self {
        Self { answer: OnReplay::Live, status: vec![200], marked: true }
    }
}

impl Default for Key {
    fn default() -> Self {
        Self { scope: Scope::Owner, form: Form::VisibleAscii, longest: 255 }
    }
}

impl Default for Refusals {
    fn default() -> Self {
        Self { typed: true }
    }
}
