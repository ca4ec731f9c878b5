//! What was found at one step, with the exchange that shows it.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::{
    fail::Fault,
    history::{Event, Kind},
    law::step_of,
    target::Hidden,
};

/// How a step stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// It works as the file says.
    Works,
    /// It works, and does something else than the profile says.
    Differs,
    /// The file doesn't map it, or says that the service lacks it.
    Missing,
    /// The situation that it takes could not be made here, so nothing is known.
    Untried,
    /// The file maps it, and it doesn't work.
    Broken,
}

impl Standing {
    /// The word for people.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Works => "works",
            Self::Differs => "differs",
            Self::Missing => "missing",
            Self::Untried => "untried",
            Self::Broken => "broken",
        }
    }
}

/// What was found at one step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The step.
    pub step: String,
    /// How it stands.
    pub standing: Standing,
    /// What was seen, in one sentence.
    pub said: String,
    /// What to do.
    pub help: Option<String>,
    /// The error's code, where it is one that a run would end with.
    pub code: Option<String>,
    /// What went over the wire, where it shows more than the sentence.
    pub exchanges: Vec<Exchange>,
}

/// One request and its answer, secrets hidden.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Exchange {
    /// Lines of the request.
    pub request: Vec<String>,
    /// Lines of the answer; one that says why there is none.
    pub answer: Vec<String>,
}

impl Finding {
    pub(super) fn new(step: &str, standing: Standing, said: impl Into<String>) -> Self {
        Self {
            step: step.to_owned(),
            standing,
            said: said.into(),
            help: None,
            code: None,
            exchanges: Vec::new(),
        }
    }

    pub(super) fn works(step: &str, said: impl Into<String>) -> Self {
        Self::new(step, Standing::Works, said)
    }

    pub(super) fn differs(step: &str, said: impl Into<String>) -> Self {
        Self::new(step, Standing::Differs, said)
    }

    pub(super) fn broken(step: &str, said: impl Into<String>) -> Self {
        Self::new(step, Standing::Broken, said)
    }

    pub(super) fn untried(step: &str, said: impl Into<String>) -> Self {
        Self::new(step, Standing::Untried, said)
    }

    pub(super) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// With the last exchange of each of these steps.
    pub(super) fn showing(mut self, events: &[Event], steps: &[&str]) -> Self {
        let all = Exchange::all(events);
        let last = |wanted: &str| all.iter().rev().find(|(name, _)| step_of(name) == wanted);
        self.exchanges = steps.iter().filter_map(|step| last(step)).map(|(_, one)| one.clone()).collect();
        self
    }

    /// With the newest exchange of a round: the one that broke it.
    pub(super) fn showing_the_last(mut self, events: &[Event]) -> Self {
        self.exchanges = Exchange::all(events).pop().map(|(_, one)| one).into_iter().collect();
        self
    }

    /// What ended a step.
    pub(super) fn of_fault(step: &str, fault: &Fault) -> Self {
        let mut said = fault.message().to_owned();
        let mut cause = std::error::Error::source(fault);
        while let Some(deeper) = cause {
            said = format!("{said}: {deeper}");
            cause = deeper.source();
        }
        Self { code: Some(fault.code().number().to_owned()), ..Self::broken(step, said) }.help(fault.advice())
    }

    /// Without what must not be seen.
    #[must_use]
    pub fn hiding(mut self, hidden: &Hidden) -> Self {
        let texts = [Some(&mut self.said), self.help.as_mut()].into_iter().flatten();
        let lines = self.exchanges.iter_mut().flat_map(|one| one.request.iter_mut().chain(&mut one.answer));
        for text in texts.chain(lines) {
            *text = hidden.redact(text);
        }
        self
    }
}

impl Exchange {
    /// All exchanges of a round and their steps, in the order of their requests.
    fn all(events: &[Event]) -> Vec<(&str, Self)> {
        let ends: BTreeMap<u64, Vec<String>> = events
            .iter()
            .filter_map(|event| match &event.kind {
                Kind::Answered { request, answer } => {
                    let headers = answer.headers.iter().map(|(name, value)| format!("{name}: {value}"));
                    let head = std::iter::once(answer.status.to_string()).chain(headers);
                    Some((*request, head.chain(body(&answer.body)).collect()))
                }
                Kind::Unanswered { request, how: _, detail } => {
                    Some((*request, vec![format!("(no answer: {detail})")]))
                }
                _ => None,
            })
            .collect();
        let sent = events.iter().filter_map(|event| match &event.kind {
            Kind::Sent { request, step, line, headers, body: sent, .. } => {
                let headers = headers.iter().map(|(name, value)| format!("{name}: {value}"));
                let head = std::iter::once(line.clone()).chain(headers);
                let lines = head.chain(body(sent.as_deref().unwrap_or_default())).collect();
                Some((step.as_str(), *request, lines))
            }
            _ => None,
        });
        sent.map(|(step, request, lines)| {
            let answer = ends.get(&request).cloned().unwrap_or_else(|| vec!["(no answer yet)".to_owned()]);
            (step, Self { request: lines, answer })
        })
        .collect()
    }
}

/// The lines of a body, after an empty one; the first of many.
fn body(text: &str) -> Vec<String> {
    const SHOWN: usize = 24;
    if text.is_empty() {
        return Vec::new();
    }
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    if lines.len() > SHOWN {
        let more = lines.len() - SHOWN;
        lines.truncate(SHOWN);
        lines.push(format!("… {more} lines more"));
    }
    lines.insert(0, String::new());
    lines
}
