//! What a job moved on, as the database keeps it.

use onejob_contracts::dialect::ErrorClass;
use onejob_contracts::gate::Trigger;
use serde::Deserialize as _;
use serde::de::IntoDeserializer as _;
use serde::de::value::{Error, StrDeserializer};

const NEVER_SENT: &str = "never_sent";

/// The word for a cause that lets a job move; no other is ever kept.
pub(crate) fn spell_cause(cause: Trigger) -> &'static str {
    match cause {
        Trigger::NeverSent => NEVER_SENT,
        Trigger::Failed(class) => class.as_str(),
        _ => "unknown",
    }
}

/// Reads it back. A word that means nothing to this version is a cause that lets nothing move.
pub(crate) fn read_cause(word: &str) -> Trigger {
    if word == NEVER_SENT {
        return Trigger::NeverSent;
    }
    let word: StrDeserializer<'_, Error> = word.into_deserializer();
    ErrorClass::deserialize(word).map_or(Trigger::Unknown, Trigger::Failed)
}

/// Whether what happened may be over by itself, so that the provider can be asked again.
pub(crate) fn may_pass(cause: Trigger) -> bool {
    match cause {
        Trigger::NeverSent => true,
        Trigger::Failed(class) => class.is_retryable(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_comes_back_as_it_was_and_a_strange_one_moves_nothing() {
        for cause in [
            Trigger::NeverSent,
            Trigger::Failed(ErrorClass::Throttled),
            Trigger::Failed(ErrorClass::Overloaded),
            Trigger::Failed(ErrorClass::Auth),
            Trigger::Failed(ErrorClass::Billing),
            Trigger::Failed(ErrorClass::ContextOverflow),
            Trigger::Failed(ErrorClass::FilteredPrompt),
            Trigger::Failed(ErrorClass::WrongSurface),
            Trigger::Failed(ErrorClass::InvalidRequest),
        ] {
            assert_eq!(read_cause(spell_cause(cause)), cause);
        }
        assert_eq!(read_cause("moonlight"), Trigger::Unknown);
        assert_eq!(read_cause(""), Trigger::Unknown);
    }

    #[test]
    fn only_what_may_be_over_is_asked_again() {
        assert!(may_pass(Trigger::NeverSent) && may_pass(Trigger::Failed(ErrorClass::Throttled)));
        assert!(!may_pass(Trigger::Failed(ErrorClass::Auth)) && !may_pass(Trigger::Unknown));
    }
}
