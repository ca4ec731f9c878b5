//! Errors and when to come back.

use regex::Regex;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use super::Selector;

/// How errors look and what they mean.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ErrorShape {
    /// The sentence.
    #[serde(default)]
    pub message: Vec<Selector>,
    /// The provider's code or type.
    #[serde(default)]
    pub code: Vec<Selector>,
    /// The first rule that fits decides; the rules common to all dialects come after these.
    #[serde(default)]
    pub rule: Vec<ErrorRule>,
}

/// One rule: every condition that is given must hold.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ErrorRule {
    /// Any of these statuses; empty for all.
    #[serde(default)]
    pub status: Vec<u16>,
    /// The provider's code matches.
    #[serde(default, deserialize_with = "pattern")]
    pub code: Option<Regex>,
    /// The sentence matches.
    #[serde(default, deserialize_with = "pattern")]
    pub message: Option<Regex>,
    /// What it is then.
    pub class: ErrorClass,
}

/// What an error means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ErrorClass {
    /// Too many requests: come back later.
    Throttled,
    /// No capacity, and nothing was done.
    Overloaded,
    /// The server broke; whether it did the work is unknown.
    ServerError,
    /// The server gave up waiting; whether the work goes on is unknown.
    Timeout,
    /// No money, no quota.
    Billing,
    /// The key is wrong or not allowed.
    Auth,
    /// The route can't serve this model or format.
    WrongSurface,
    /// The prompt was blocked by a filter.
    FilteredPrompt,
    /// The provider threw the model's output away.
    RejectedOutput,
    /// The prompt does not fit.
    ContextOverflow,
    /// The request itself is wrong.
    InvalidRequest,
}

impl ErrorClass {
    /// Infrastructure: may pass by itself, and says nothing about the contract.
    #[must_use]
    pub fn is_infrastructure(self) -> bool {
        matches!(self, Self::Throttled | Self::Overloaded | Self::ServerError | Self::Timeout | Self::Billing)
    }

    /// Whether sending again within one check can help.
    #[must_use]
    pub fn is_retryable(self) -> bool {
        self.is_infrastructure() && self != Self::Billing
    }

    /// Whether it is certain that the provider did not do the work. Only then may a job move elsewhere.
    #[must_use]
    pub fn is_definite(self) -> bool {
        !matches!(self, Self::ServerError | Self::Timeout | Self::RejectedOutput)
    }

    /// As the file writes it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Throttled => "throttled",
            Self::Overloaded => "overloaded",
            Self::ServerError => "server_error",
            Self::Timeout => "timeout",
            Self::Billing => "billing",
            Self::Auth => "auth",
            Self::WrongSurface => "wrong_surface",
            Self::FilteredPrompt => "filtered_prompt",
            Self::RejectedOutput => "rejected_output",
            Self::ContextOverflow => "context_overflow",
            Self::InvalidRequest => "invalid_request",
        }
    }
}

/// How the provider says when to come back.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RetryShape {
    /// Headers, most precise first. `…-ms` holds milliseconds; others seconds, an HTTP date, or a duration like `6m0s`.
    pub headers: Vec<String>,
    /// A header that says yes or no.
    pub should_retry: Option<String>,
    /// A duration inside the body, such as `"31s"`.
    pub body: Vec<Selector>,
}

fn pattern<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Regex>, D::Error> {
    let text = String::deserialize(deserializer)?;
    Regex::new(&text).map(Some).map_err(D::Error::custom)
}
