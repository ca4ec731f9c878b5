//! What a step says of its fault, read and refused with a reason.

use std::{collections::BTreeMap, num::NonZeroU32, str::FromStr};

use super::place;
use crate::{
    fail::{Code, Fault},
    fault::{Direction, Ending, HttpFault, Matching, NetFault, ProxyFault, Swallowed, Times, Upstream, When},
    scenario::Span,
};

/// Everything that a fault may be told.
const WORDS: [&str; 21] = [
    "kind",
    "to",
    "bytes",
    "after",
    "by",
    "rate",
    "then",
    "answers",
    "ending",
    "times",
    "method",
    "path",
    "level",
    "waiters",
    "inserting",
    "clock",
    "how",
    "valid",
    "signer",
    "part",
    "job",
];
/// What a step says of its fault.
pub(in crate::engine) struct Terms<'s> {
    pub(in crate::engine) step: &'s str,
    pub(in crate::engine) name: &'s str,
    pub(in crate::engine) with: &'s BTreeMap<String, String>,
}

impl Terms<'_> {
    /// Refuses what no fault takes.
    pub(super) fn known(&self) -> Result<(), Fault> {
        match self.with.keys().find(|key| !WORDS.contains(&key.as_str())) {
            None => Ok(()),
            Some(unknown) => Err(self.wrong(
                format!("it can't be told `{unknown}`"),
                format!("with.fault takes {}", WORDS.join(", ")),
            )),
        }
    }

    /// What is done: `kind`, or the fault's own name without the place that it begins with.
    pub(in crate::engine) fn kind(&self) -> &str {
        let own = match place(self.name) {
            "process" => self.name,
            place => self.name.strip_prefix(place).map_or(self.name, |rest| rest.trim_start_matches('-')),
        };
        self.with.get("kind").map_or(own, String::as_str)
    }

    pub(in crate::engine) fn wrong(&self, message: impl Into<String>, help: impl Into<String>) -> Fault {
        let message: String = message.into();
        Fault::new(Code::ScenarioField, format!("step {}: fault {}: {message}", self.step, self.name), help)
    }

    pub(in crate::engine) fn get<T: FromStr>(&self, key: &str, example: &str) -> Result<Option<T>, Fault> {
        let Some(text) = self.with.get(key) else { return Ok(None) };
        let parsed = text.parse().map_err(|_| {
            self.wrong(
                format!("`{key} = \"{text}\"` can't be read"),
                format!("write it like {key} = \"{example}\""),
            )
        });
        parsed.map(Some)
    }

    pub(in crate::engine) fn must<T: FromStr>(&self, key: &str, example: &str) -> Result<T, Fault> {
        self.get(key, example)?.ok_or_else(|| {
            self.wrong(format!("`{key}` is missing"), format!("say {key} = \"{example}\" in with.fault"))
        })
    }

    fn direction(&self) -> Result<Direction, Fault> {
        // Who calls and who is called at each place.
        let (near, far) = match place(self.name) {
            "client" => ("client", "service"),
            place => ("service", place),
        };
        match self.with.get("to").map_or(near, String::as_str) {
            to if to == near => Ok(Direction::ToClient),
            to if to == far => Ok(Direction::ToUpstream),
            other => Err(self.wrong(
                format!("nothing goes to `{other}` here"),
                format!("write to = \"{far}\" or to = \"{near}\""),
            )),
        }
    }

    /// How far the clock of a process is off that is started; not at all by default.
    pub(super) fn clock(&self) -> Option<&str> {
        self.with.get("clock").map(String::as_str).filter(|clock| *clock != "+0")
    }

    fn ending(&self) -> Result<Ending, Fault> {
        match self.with.get("ending").map_or("close", String::as_str) {
            "close" => Ok(Ending::Close),
            "reset" => Ok(Ending::Reset),
            other => {
                Err(self.wrong(format!("a connection can't end by `{other}`"), "write `close` or `reset`"))
            }
        }
    }

    pub(super) fn times(&self) -> Result<Times, Fault> {
        match self.with.get("times").map_or("once", String::as_str) {
            "once" => Ok(Times::Once),
            "always" => Ok(Times::Always),
            _ => Ok(Times::Exactly(self.must("times", "3")?)),
        }
    }

    /// Requests that an HTTP fault is meant for: all with a body, unless a method or a part of the path is given.
    fn matching(&self) -> Matching {
        let method = self.with.get("method").cloned().unwrap_or_else(|| "POST".to_owned());
        let path = self.with.get("path").cloned().unwrap_or_default();
        Matching::by(move |head| head.method == method && head.target.contains(&path))
    }

    fn swallowed(&self) -> Result<Swallowed, Fault> {
        Ok(match self.with.get("then").map_or("close", String::as_str) {
            "close" => Swallowed::Ended(Ending::Close),
            "reset" => Swallowed::Ended(Ending::Reset),
            "silence" => Swallowed::Silence,
            _ => Swallowed::Status(self.must("then", "503")?),
        })
    }

    /// The fault for a proxy.
    pub(super) fn for_proxy(&self, second: Option<Upstream>) -> Result<ProxyFault, Fault> {
        let http = |fault| ProxyFault::Http { matching: self.matching(), fault };
        let net = |fault: NetFault| ProxyFault::Net(fault);
        Ok(match self.kind() {
            "cut" => {
                let when = match (self.get("bytes", "120")?, self.get::<Span>("after", "30ms")?) {
                    (Some(count), None) => When::Bytes { direction: self.direction()?, count },
                    (None, Some(after)) => When::After(after.0),
                    _ => {
                        return Err(self.wrong(
                            "a cut is made after `bytes` or `after` a time",
                            "say exactly one of them",
                        ));
                    }
                };
                net(NetFault::Cut { when, ending: self.ending()? })
            }
            "delay" => {
                net(NetFault::Delay { direction: self.direction()?, by: self.must::<Span>("by", "200ms")?.0 })
            }
            "throttle" => net(NetFault::Throttle {
                direction: self.direction()?,
                rate: self.must::<NonZeroU32>("rate", "2000")?,
            }),
            "blackhole" => net(NetFault::Blackhole { direction: self.direction()? }),
            "refuse" => net(NetFault::Refuse),
            "hold" => http(HttpFault::Hold),
            "watch" => http(HttpFault::Watch),
            "drop-answer" => http(HttpFault::DropAnswer { then: self.swallowed()? }),
            "duplicate" => {
                let second = second.ok_or_else(|| {
                    self.wrong("there is no second replica", "say with.replica = 2 somewhere")
                })?;
                http(HttpFault::Duplicate {
                    second,
                    second_answers: self.with.get("answers").is_some_and(|answers| answers == "2"),
                })
            }
            other => {
                return Err(self.wrong(
                    format!("there is no fault `{other}`"),
                    "between parts there are: cut, delay, throttle, blackhole, refuse, down, hold, watch, drop-answer, duplicate",
                ));
            }
        })
    }
}
