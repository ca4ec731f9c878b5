//! Why a job may not move.

use crate::dialect::ErrorClass;

/// Why a job may not move; names what is missing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Nobody attested this pair.
    #[error("no attestation says that `{to}` may stand in for `{from}` under contract `{contract}`")]
    NoAttestation {
        /// The contract.
        contract: String,
        /// The primary.
        from: String,
        /// The fallback.
        to: String,
    },
    /// There is a file, and it proves nothing.
    #[error("{file}: {reason}")]
    Untrusted {
        /// The file.
        file: String,
        /// Why it proves nothing.
        reason: String,
    },
    /// It held until then.
    #[error("the attestation expired at {at}")]
    Expired {
        /// When, RFC 3339.
        at: String,
    },
    /// It is from the future: one of the clocks is wrong.
    #[error("the attestation was issued at {at}, which is in the future")]
    NotYet {
        /// When, RFC 3339.
        at: String,
    },
    /// What was attested is not what runs.
    #[error("the {what} changed since it was attested: check and attest again")]
    Changed {
        /// `contract`, `prompt`, `schema`, `cases`, `template`, `tokenizer`, `endpoint`, `model`, `parameters`, `dialect`.
        what: String,
    },
    /// Another model answers now.
    #[error("`{reported}` answers now, and {attested} was attested")]
    ModelDrift {
        /// The model that answers.
        reported: String,
        /// Those that were attested.
        attested: String,
    },
    /// A drift check took the permission away.
    #[error("suspended since {since}: {reason}")]
    Suspended {
        /// When, RFC 3339.
        since: String,
        /// Why.
        reason: String,
    },
    /// Nobody knows what became of the attempt: moving could do the work twice.
    #[error("the attempt's outcome is unknown, and an unknown outcome never fails over")]
    UnknownOutcome,
    /// Part of an answer was already passed on.
    #[error("the primary's answer had begun: a second answer would repeat its beginning")]
    AfterFirstByte,
    /// The primary did the work: moving would do it a second time.
    #[error(
        "the primary did the work, and its answer can't be used: another provider would do it a second time"
    )]
    Answered,
    /// The contract does not list this failure.
    #[error("the contract does not list `{}` in failover_on", class.as_str())]
    NotATrigger {
        /// The failure.
        class: ErrorClass,
    },
    /// The attested figures no longer reach the contract's bar.
    #[error("the attested lower bound {bound} is below the bar {bar}")]
    BelowBar {
        /// The bound.
        bound: String,
        /// The bar.
        bar: String,
    },
    /// There are more attestations than can be told apart by what was asked, or none readable.
    #[error("the primary of the attestation is `{found}`, and `{from}` is asked about")]
    OtherBaseline {
        /// The attested primary.
        found: String,
        /// The primary that was asked about.
        from: String,
    },
}

impl Refusal {
    /// A stable name for scripts and metrics.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoAttestation { .. } => "no_attestation",
            Self::Untrusted { .. } => "untrusted",
            Self::Expired { .. } => "expired",
            Self::NotYet { .. } => "not_yet",
            Self::Changed { .. } => "changed",
            Self::ModelDrift { .. } => "model_drift",
            Self::Suspended { .. } => "suspended",
            Self::UnknownOutcome => "unknown_outcome",
            Self::AfterFirstByte => "after_first_byte",
            Self::Answered => "answered",
            Self::NotATrigger { .. } => "not_a_trigger",
            Self::BelowBar { .. } => "below_bar",
            Self::OtherBaseline { .. } => "other_baseline",
        }
    }
}
