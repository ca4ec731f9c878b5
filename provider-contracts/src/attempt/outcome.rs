//! What an attempt came to. The one question is: could the work have been done?

use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;

use super::Read;
use crate::answer::{ProviderError, read_error};
use crate::dialect::{Dialect, ErrorClass};
use crate::transport::{Received, retry_after, should_retry};
use crate::verdict::Verdict;

/// What an attempt came to.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// An answer that meets the contract.
    Output {
        /// What the job reads.
        output: Value,
        /// The model that answered, if it says.
        model: Option<String>,
    },
    /// The provider did the work, and what came out can't be used: it was refused, cut off, or breaks the contract.
    Unusable {
        /// What a check would say.
        verdict: Verdict,
        /// Why, in a sentence.
        message: String,
        /// The model that answered, if it says.
        model: Option<String>,
    },
    /// Nothing was sent, because it could not have gone well.
    Withheld {
        /// What a check would say.
        verdict: Verdict,
        /// Why, in a sentence.
        message: String,
    },
    /// The provider says that it did nothing.
    Failed(Failure),
    /// The provider knows the work by its name already.
    Duplicate(String),
    /// Nothing left this machine.
    NeverSent(String),
    /// It was sent, and nobody can say what became of it.
    Unknown(String),
}

/// An error that says that nothing was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The status.
    pub status: u16,
    /// What it means.
    pub class: ErrorClass,
    /// The provider's word for it, or that of the class.
    pub code: String,
    /// The provider's sentence.
    pub message: String,
    /// Whether the same request may succeed later.
    pub retry: bool,
    /// How long the provider asks to wait.
    pub retry_after: Option<Duration>,
}

/// What a body with an error status means for the work.
pub(super) fn of_error(dialect: &Dialect, received: &Received, now: Timestamp) -> Outcome {
    let error = read_error(dialect, received.status, &received.headers, &received.body);
    let wait = retry_after(&dialect.retry, &received.headers, &received.body, now);
    let told = should_retry(&dialect.retry, &received.headers);
    let ProviderError { status, class, code, message, in_shape } = error;
    let said =
        format!("the provider answered {status} {}: {message}", code.as_deref().unwrap_or(class.as_str()));
    match (status, class) {
        // Something of this name exists, so "failed" would be a lie.
        (409, _) => Outcome::Duplicate(said),
        // Told by whoever stopped waiting, who need not be the one who does the work.
        (408 | 499, _) => Outcome::Unknown(said),
        (_, ErrorClass::RejectedOutput) => Outcome::Unusable {
            verdict: Verdict::fail("provider_rejected_output"),
            message: said,
            model: None,
        },
        // A page of some proxy with 503 says nothing about what is behind it; the provider's own words do, and so does
        // the wish to be asked again.
        (500.., class) if class.is_definite() && !(in_shape || wait.is_some() || told == Some(true)) => {
            Outcome::Unknown(said)
        }
        (_, class) if class.is_definite() => Outcome::Failed(Failure {
            status,
            class,
            code: code.unwrap_or_else(|| class.as_str().to_owned()),
            message: said,
            retry: class.is_retryable() && told != Some(false),
            retry_after: wait,
        }),
        _ => Outcome::Unknown(said),
    }
}

/// Faults after which the work may still go on, or of which nobody can say whether it was done.
const OPEN: [&str; 4] = ["envelope", "stream_truncated", "incomplete", "finish_unknown"];

/// What an answer with a success status means for the work.
pub(super) fn of_answer(status: u16, read: Read) -> Outcome {
    let Read { answer, judgement } = read;
    let model = answer.and_then(|answer| answer.model);
    let message = judgement.message;
    match judgement.verdict {
        Verdict::Pass => Outcome::Output { output: judgement.output.unwrap_or_default(), model },
        Verdict::Unknown(_) | Verdict::Inconclusive(_) => Outcome::Unknown(message),
        Verdict::Fail(code) | Verdict::Block(code) if OPEN.contains(&code.family()) => {
            Outcome::Unknown(format!("{code}: {message}"))
        }
        Verdict::Fail(code) if code.as_str() == "provider_filter:prompt" => Outcome::Failed(Failure {
            status,
            class: ErrorClass::FilteredPrompt,
            code: code.to_string(),
            message,
            retry: false,
            retry_after: None,
        }),
        verdict => Outcome::Unusable { verdict, message, model },
    }
}
