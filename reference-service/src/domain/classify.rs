//! What an answer of the provider says about the effect. The one question is: could it have happened?

use std::time::Duration;

use onejob_contracts::attempt::Outcome;
use onejob_contracts::dialect::ErrorClass;
use onejob_contracts::gate::Trigger;
use onejob_contracts::verdict::Code;

/// What came back from a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// There is no complete answer.
    None(Unanswered),
    /// A complete answer.
    Status {
        /// The HTTP status code.
        code: u16,
        /// The `Retry-After` header, if it was there and readable.
        retry_after: Option<Duration>,
        /// What the body says.
        body: Body,
    },
    /// A complete answer in the provider's own wire format, read under the job's contract.
    Read(Outcome),
}

impl Answer {
    /// The model that answered, if it says.
    #[must_use]
    pub fn model(&self) -> Option<&str> {
        match self {
            Self::Read(Outcome::Output { model, .. } | Outcome::Unusable { model, .. }) => model.as_deref(),
            _ => None,
        }
    }
}

/// How a call ended without an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unanswered {
    /// No byte of the body left: refused connection, DNS, TLS.
    NeverSent(String),
    /// Bytes may have left: timeout, reset, closed or broken answer.
    Lost(String),
}

/// What the body of an answer says.
#[derive(Debug, Clone, PartialEq)]
pub enum Body {
    /// The work is done, and this is what came out.
    Result {
        /// Any JSON.
        result: serde_json::Value,
        /// The provider's own name for the work.
        reference: Option<String>,
    },
    /// The provider took the work and reports later.
    Accepted {
        /// The provider's own name for the work.
        reference: Option<String>,
    },
    /// An error of the provider's own making.
    Error {
        /// A word for machines.
        code: String,
        /// A sentence for people.
        message: String,
    },
    /// Nothing of the above.
    Unreadable,
}

/// What the service concludes.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// The effect happened.
    Succeeded {
        /// Any JSON.
        result: serde_json::Value,
        /// The provider's own name for the work.
        reference: Option<String>,
    },
    /// The provider works on it; the result comes by callback or probe.
    Accepted {
        /// The provider's own name for the work.
        reference: Option<String>,
    },
    /// The effect definitely did not happen.
    Failed {
        /// A word for machines.
        code: String,
        /// A sentence for people.
        message: String,
        /// Whether the same request may succeed later.
        retry: bool,
        /// The provider asks to wait that long.
        retry_after: Option<Duration>,
        /// What a failover is decided on.
        cause: Trigger,
    },
    /// The provider saw this client reference before: evidence that an earlier call arrived.
    Duplicate {
        /// A sentence for people.
        message: String,
    },
    /// The effect may have happened.
    Unknown {
        /// A sentence for people.
        reason: String,
    },
}

/// Judges an answer.
#[must_use]
pub fn classify(answer: &Answer) -> Verdict {
    let (code, retry_after, body) = match answer {
        Answer::None(Unanswered::NeverSent(reason)) => {
            return Verdict::Failed {
                code: "never-sent".to_owned(),
                message: reason.clone(),
                retry: true,
                retry_after: None,
                cause: Trigger::NeverSent,
            };
        }
        Answer::None(Unanswered::Lost(reason)) => return Verdict::Unknown { reason: reason.clone() },
        Answer::Read(outcome) => return read(outcome),
        Answer::Status { code, retry_after, body } => (*code, *retry_after, body),
    };
    let said = || match body {
        Body::Error { code: word, message } => format!("the provider answered {code} {word}: {message}"),
        _ => format!("the provider answered {code}"),
    };
    let failed = |retry| Verdict::Failed {
        code: match body {
            Body::Error { code, .. } => code.clone(),
            _ => format!("http-{code}"),
        },
        message: said(),
        retry,
        retry_after,
        cause: Trigger::Failed(class(code)),
    };
    match (code, body) {
        (200..=299, Body::Result { result, reference }) => {
            Verdict::Succeeded { result: result.clone(), reference: reference.clone() }
        }
        (202, Body::Accepted { reference }) => Verdict::Accepted { reference: reference.clone() },
        // Taken for a duplicate: something with this reference exists, so "failed" would be a lie.
        (409, _) => Verdict::Duplicate { message: said() },
        // 408 and 499 are told by whoever stopped waiting, which need not be whoever does the work.
        (408 | 499, _) => Verdict::Unknown { reason: said() },
        (429, _) => failed(true),
        (503, _) if retry_after.is_some() => failed(true),
        (400..=498, _) => failed(false),
        _ => Verdict::Unknown { reason: said() },
    }
}

/// What an answer under a contract says about the work.
fn read(outcome: &Outcome) -> Verdict {
    let failed = |code: &str, message: &str, cause| Verdict::Failed {
        code: code.to_owned(),
        message: message.to_owned(),
        retry: false,
        retry_after: None,
        cause,
    };
    match outcome {
        Outcome::Output { output, .. } => Verdict::Succeeded { result: output.clone(), reference: None },
        // The work was done once, and paid for. Whether another try is worth as much again is not for a machine to say.
        Outcome::Unusable { verdict, message, .. } => {
            failed(verdict.code().map_or("refused", Code::as_str), message, Trigger::Answered)
        }
        Outcome::Withheld { verdict, message } => {
            let code = verdict.code().map_or("withheld", Code::as_str);
            let class = match code {
                "over_budget_on_fallback" => ErrorClass::ContextOverflow,
                _ => ErrorClass::InvalidRequest,
            };
            failed(code, message, Trigger::Failed(class))
        }
        Outcome::Failed(told) => Verdict::Failed {
            code: told.code.clone(),
            message: told.message.clone(),
            retry: told.retry,
            retry_after: told.retry_after,
            cause: Trigger::Failed(told.class),
        },
        Outcome::Duplicate(message) => Verdict::Duplicate { message: message.clone() },
        Outcome::NeverSent(reason) => classify(&Answer::None(Unanswered::NeverSent(reason.clone()))),
        Outcome::Unknown(reason) => Verdict::Unknown { reason: reason.clone() },
    }
}

/// What a definite answer says about the reason, in the words that a contract's `failover_on` uses.
const fn class(code: u16) -> ErrorClass {
    match code {
        429 => ErrorClass::Throttled,
        503 => ErrorClass::Overloaded,
        401 | 403 => ErrorClass::Auth,
        402 => ErrorClass::Billing,
        404 | 405 | 406 | 415 => ErrorClass::WrongSurface,
        413 => ErrorClass::ContextOverflow,
        _ => ErrorClass::InvalidRequest,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(verdict: &Verdict) -> &'static str {
        match verdict {
            Verdict::Succeeded { .. } => "succeeded",
            Verdict::Accepted { .. } => "accepted",
            Verdict::Failed { retry: true, .. } => "failed, again",
            Verdict::Failed { retry: false, .. } => "failed",
            Verdict::Duplicate { .. } => "duplicate",
            Verdict::Unknown { .. } => "unknown",
        }
    }

    fn bodies() -> [Body; 4] {
        [
            Body::Result { result: serde_json::json!(1), reference: None },
            Body::Accepted { reference: None },
            Body::Error { code: "e".to_owned(), message: "m".to_owned() },
            Body::Unreadable,
        ]
    }

    /// The law, written a second time and differently: by what each status may mean at all.
    fn expected(code: u16, asks_to_wait: bool, body: &Body) -> &'static str {
        match code {
            202 if matches!(body, Body::Accepted { .. }) => "accepted",
            200..=299 if matches!(body, Body::Result { .. }) => "succeeded",
            409 => "duplicate",
            429 => "failed, again",
            503 if asks_to_wait => "failed, again",
            408 | 499 => "unknown",
            c if c / 100 == 4 => "failed",
            _ => "unknown",
        }
    }

    #[test]
    fn every_status_with_every_body_follows_the_table() {
        for code in 100..=599 {
            for retry_after in [None, Some(Duration::from_secs(1))] {
                for body in bodies() {
                    let answer = Answer::Status { code, retry_after, body: body.clone() };
                    let verdict = kind(&classify(&answer));
                    assert_eq!(verdict, expected(code, retry_after.is_some(), &body), "{answer:?}");
                }
            }
        }
    }

    #[test]
    fn whatever_failed_has_a_cause_that_is_definite() {
        for code in 100..=599 {
            for retry_after in [None, Some(Duration::ZERO)] {
                for body in bodies() {
                    let answer = Answer::Status { code, retry_after, body };
                    if let Verdict::Failed { cause, .. } = classify(&answer) {
                        assert!(matches!(cause, Trigger::Failed(class) if class.is_definite()), "{answer:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn only_what_never_left_is_a_failure_without_an_answer() {
        let never = classify(&Answer::None(Unanswered::NeverSent("connection refused".to_owned())));
        assert_eq!(kind(&never), "failed, again");
        let lost = classify(&Answer::None(Unanswered::Lost("connection reset".to_owned())));
        assert_eq!(kind(&lost), "unknown");
    }

    #[test]
    fn a_server_error_without_a_word_about_the_work_is_unknown() {
        for code in [500, 502, 503, 504] {
            let answer = Answer::Status { code, retry_after: None, body: Body::Unreadable };
            assert_eq!(kind(&classify(&answer)), "unknown", "{code}");
        }
    }
}
