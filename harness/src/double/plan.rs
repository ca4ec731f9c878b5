//! From a rule to what is done with a call. Pure.

use std::time::Duration;

use http::{HeaderName, HeaderValue, StatusCode};

use super::{DoubleError, answer::Answer};
use crate::scenario::{Reply, Script};

/// What is done with one call, in this order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Plan {
    /// Wait until the scenario lets it go.
    pub(super) hold: bool,
    /// The outside world changes.
    pub(super) effect: bool,
    /// What the caller gets.
    pub(super) then: Then,
}

/// What the caller gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Then {
    /// The whole answer.
    Answer(Answer),
    /// The whole answer, its bytes spread evenly over a time.
    Trickle(Answer, Duration),
    /// The first half of the answer.
    Truncated(Answer),
    /// A reset.
    Reset,
    /// Nothing.
    Never,
}

/// How long `slow` takes where the rule doesn't say.
const SLOW: Duration = Duration::from_secs(1);

/// A rule whose status and headers were checked.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Rule {
    pub(super) script: Script,
    status: Option<StatusCode>,
    headers: Vec<(HeaderName, HeaderValue)>,
}

impl Rule {
    pub(super) fn check(script: Script) -> Result<Self, DoubleError> {
        let wrong = |wrong: String| DoubleError::BadRule { call: script.call.clone(), wrong };
        let status = script
            .status
            .map(|status| {
                StatusCode::from_u16(status)
                    .ok()
                    .filter(|known| (200..600).contains(&known.as_u16()))
                    .ok_or_else(|| {
                        wrong(format!("`status = {status}` is no final HTTP status; use 200 to 599"))
                    })
            })
            .transpose()?;
        let headers = script
            .headers
            .iter()
            .map(|(name, value)| {
                let name: HeaderName =
                    name.parse().map_err(|_| wrong(format!("`{name}` can't be the name of a header")))?;
                let value: HeaderValue = value.parse().map_err(|_| {
                    wrong(format!("the header `{name}` can't have that value: use visible ASCII"))
                })?;
                Ok((name, value))
            })
            .collect::<Result<_, DoubleError>>()?;
        Ok(Self { script, status, headers })
    }

    /// A rule that succeeds, for calls that no rule of the scenario takes.
    pub(super) fn succeed() -> Self {
        let script = Script {
            call: "more".to_owned(),
            reply: Reply::Succeed,
            times: None,
            provider: None,
            payload: None,
            answer: None,
            status: None,
            headers: std::collections::BTreeMap::new(),
            delay: None,
            probe: None,
        };
        Self { script, status: None, headers: Vec::new() }
    }

    /// The text of a success: the rule's own, or one that tells which call it came from.
    pub(super) fn text(&self, name: &str) -> String {
        self.script.answer.clone().unwrap_or_else(|| format!("answer-{name}"))
    }

    /// What is done with the call of this number and name.
    pub(super) fn plan(&self, call: u64, name: &str) -> Plan {
        let done = || Answer::done(call, &self.text(name));
        let fail = || {
            let status = self.status.unwrap_or(StatusCode::UNPROCESSABLE_ENTITY);
            Answer::error(status, "rejected", "nothing was done")
        };
        let status = self.status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let (hold, effect, then) = match self.script.reply {
            Reply::Succeed | Reply::Forbid => (false, true, Then::Answer(done())),
            Reply::Fail => (false, false, Then::Answer(fail())),
            Reply::Hold => (true, true, Then::Answer(done())),
            Reply::HoldFail => (true, false, Then::Answer(fail())),
            Reply::Swallow => (false, true, Then::Never),
            Reply::Stall => (false, false, Then::Never),
            Reply::Reset => (false, true, Then::Reset),
            Reply::Truncate => (false, true, Then::Truncated(done())),
            Reply::Garbage => (false, true, Then::Answer(Answer::garbage())),
            Reply::Status => (false, false, Then::Answer(Answer::bare(status))),
            Reply::EffectThenError => {
                (false, true, Then::Answer(Answer::error(status, "internal_error", "something went wrong")))
            }
            // The effect comes first: a caller that gives up in the middle doesn't undo what a provider has begun.
            Reply::Slow => {
                let over = self.script.delay.map_or(SLOW, |span| span.0);
                (false, true, Then::Trickle(done(), over))
            }
            Reply::Accept => (false, true, Then::Answer(Answer::accepted(call))),
            Reply::Duplicate => {
                let status = self.status.unwrap_or(StatusCode::CONFLICT);
                let message = "a request with this client reference exists already";
                (false, false, Then::Answer(Answer::error(status, "duplicate_request", message)))
            }
        };
        let add = |answer: Answer| answer.with_headers(self.headers.clone());
        let then = match then {
            Then::Answer(answer) => Then::Answer(add(answer)),
            Then::Trickle(answer, over) => Then::Trickle(add(answer), over),
            Then::Truncated(answer) => Then::Truncated(add(answer)),
            Then::Reset | Then::Never => then,
        };
        Plan { hold, effect, then }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(reply: Reply) -> Rule {
        let Rule { script, .. } = Rule::succeed();
        Rule::check(Script { call: "A".to_owned(), reply, ..script }).unwrap()
    }

    #[test]
    fn the_effect_happens_exactly_where_the_catalogue_says() {
        use Reply::{
            Accept, Duplicate, EffectThenError, Fail, Forbid, Garbage, Hold, HoldFail, Reset, Slow, Stall,
            Status, Succeed, Swallow, Truncate,
        };
        for reply in [Succeed, Hold, Swallow, Reset, Truncate, Garbage, EffectThenError, Slow, Accept, Forbid]
        {
            assert!(rule(reply).plan(1, "A").effect, "{reply:?}");
        }
        for reply in [Fail, HoldFail, Stall, Status, Duplicate] {
            assert!(!rule(reply).plan(1, "A").effect, "{reply:?}");
        }
    }

    #[test]
    fn only_the_holding_replies_wait_for_a_release() {
        for reply in [Reply::Hold, Reply::HoldFail] {
            assert!(rule(reply).plan(1, "A").hold);
        }
        assert!(!rule(Reply::Stall).plan(1, "A").hold);
    }

    #[test]
    fn swallow_and_stall_give_the_caller_the_very_same_nothing() {
        assert_eq!(rule(Reply::Swallow).plan(1, "A").then, rule(Reply::Stall).plan(1, "A").then);
    }

    #[test]
    fn a_success_names_its_call_unless_the_rule_has_a_text() {
        assert_eq!(rule(Reply::Succeed).text("rest.2"), "answer-rest.2");
        let mut spoken = rule(Reply::Succeed);
        spoken.script.answer = Some("hello".to_owned());
        assert_eq!(spoken.text("rest.2"), "hello");
    }

    #[test]
    fn a_status_or_header_that_http_lacks_is_refused_with_the_rules_name() {
        let Rule { script, .. } = rule(Reply::Status);
        let wrong = Rule::check(Script { status: Some(42), ..script.clone() }).unwrap_err();
        assert!(wrong.to_string().contains("`A`"), "{wrong}");
        let headers = [("retry after".to_owned(), "1".to_owned())].into();
        assert!(Rule::check(Script { headers, ..script }).is_err());
    }
}
