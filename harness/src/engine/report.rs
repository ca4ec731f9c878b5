//! From a history to what a report shows of it.

use std::collections::{BTreeMap, BTreeSet};

use onejob_reports::model::{Lane, Mark, Moment, Promise, Verdict};

use crate::{
    history::{Answer, CallEnd, Event, Kind},
    law::{CellJudgement, Judgement},
    scenario::Loaded,
};

/// The most lines that a timeline shows, beside those that show what broke.
const MOST_MOMENTS: usize = 400;
/// The same where nothing is wrong: nobody looks for a needle there, and most cells are so.
const MOST_WHERE_ALL_IS_WELL: usize = 100;

/// A judged promise, as reports show it; its evidence are moments of the timeline.
#[must_use]
pub(super) fn promise(
    judgement: &Judgement,
    broken_rounds: &[u32],
    loaded: &Loaded,
    timeline: &Timeline,
) -> Promise {
    let line = match judgement.name.strip_prefix("expect:") {
        Some(step) => {
            let index = loaded.scenario.step.iter().enumerate().position(|(index, s)| s.name(index) == step);
            index.map(|index| loaded.lines.step(index))
        }
        None => loaded.lines.invariant(&judgement.name.replace('-', "_")),
    };
    Promise {
        name: judgement.name.clone(),
        outcome: judgement.outcome,
        sentence: judgement.sentence.clone(),
        broken_rounds: broken_rounds.to_vec(),
        evidence: timeline.shows(judgement),
        line,
    }
}

/// The gates that opened, by name.
#[derive(Debug, Default)]
pub(super) struct Gates(BTreeSet<String>);

impl Gates {
    pub(super) fn take(&mut self, event: &Event) {
        if let Kind::GateOpened { gate, .. } = &event.kind
            && !self.0.contains(gate)
        {
            self.0.insert(gate.clone());
        }
    }

    pub(super) fn names(self) -> Option<String> {
        (!self.0.is_empty()).then(|| self.0.into_iter().collect::<Vec<_>>().join(", "))
    }
}

/// The moments of a round, and which of them tells of each event.
#[derive(Debug, Default)]
pub(super) struct Timeline {
    pub(super) moments: Vec<Moment>,
    /// How many more there were.
    pub(super) left_out: u64,
    /// Ids of moments by the position of the event: a request and its answer are one moment.
    by_event: BTreeMap<u64, u64>,
}

impl Timeline {
    /// Ids of the moments that show what a law says, in order.
    fn shows(&self, judgement: &Judgement) -> Vec<u64> {
        let events = judgement.evidence.iter().chain(&judgement.against);
        let shown: BTreeSet<u64> = events.filter_map(|seq| self.by_event.get(seq)).copied().collect();
        shown.into_iter().collect()
    }
}

struct Draft {
    timeline: Timeline,
    requests: BTreeMap<u64, usize>,
    calls: BTreeMap<u64, usize>,
    began_us: u64,
    broke: BTreeSet<u64>,
}

/// The timeline of the round that decided the verdict.
#[must_use]
pub(super) fn timeline(round: &[Event], judgement: &CellJudgement, verdict: Verdict) -> Timeline {
    let broken = || judgement.promises.iter().filter(|(_, rounds)| rounds.contains(&judgement.round));
    let mut draft = Draft {
        timeline: Timeline::default(),
        requests: BTreeMap::new(),
        calls: BTreeMap::new(),
        began_us: round.first().map_or(0, |event| event.at_us),
        broke: broken().flat_map(|(judgement, _)| judgement.evidence.iter().copied()).collect(),
    };
    for event in round {
        draft.take(event);
    }
    let mut timeline = draft.timeline;
    let shown: BTreeSet<u64> = broken().flat_map(|(judgement, _)| timeline.shows(judgement)).collect();
    timeline.moments.sort_by_key(|moment| (moment.at_us, moment.id));
    let most = if verdict == Verdict::Pass { MOST_WHERE_ALL_IS_WELL } else { MOST_MOMENTS };
    let mut room = most.saturating_sub(shown.len());
    let all = timeline.moments.len();
    timeline.moments.retain(|moment| {
        let keep = shown.contains(&moment.id) || room > 0;
        room -= usize::from(keep && !shown.contains(&moment.id));
        keep
    });
    timeline.left_out = (all - timeline.moments.len()) as u64;
    // A report holds all cells' timelines at once.
    timeline.moments.shrink_to_fit();
    timeline
}

impl Draft {
    fn push(
        &mut self,
        event: &Event,
        lane: Lane,
        who: impl Into<String>,
        what: impl Into<String>,
        mark: Mark,
    ) -> usize {
        let mark = if self.broke.contains(&event.seq) { Mark::Broke } else { mark };
        self.timeline.by_event.insert(event.seq, event.seq);
        self.timeline.moments.push(Moment {
            id: event.seq,
            at_us: event.at_us.saturating_sub(self.began_us),
            until_us: None,
            lane,
            who: who.into(),
            what: what.into(),
            mark,
        });
        self.timeline.moments.len() - 1
    }

    /// Lengthens a moment to a span that ends with an event.
    fn extend(&mut self, at: Option<usize>, event: &Event, what: &str, mark: Mark) {
        let Some(moment) = at.and_then(|at| self.timeline.moments.get_mut(at)) else { return };
        self.timeline.by_event.insert(event.seq, moment.id);
        moment.until_us = Some(event.at_us.saturating_sub(self.began_us));
        moment.what = format!("{} → {what}", moment.what);
        if self.broke.contains(&event.seq) {
            moment.mark = Mark::Broke;
        } else if mark != Mark::Plain && moment.mark != Mark::Broke {
            moment.mark = mark;
        }
    }

    fn take(&mut self, event: &Event) {
        match &event.kind {
            Kind::Sent { request, step, line, .. } => {
                let at = self.push(event, Lane::Client, step, line, Mark::Plain);
                self.requests.insert(*request, at);
            }
            Kind::Answered { request, answer } => {
                let at = self.requests.get(request).copied();
                self.extend(at, event, &told(answer), mark_of(answer));
            }
            Kind::Unanswered { request, how, detail } => {
                let at = self.requests.get(request).copied();
                self.extend(at, event, &format!("no answer ({how:?}: {detail})"), Mark::Unknown);
            }
            Kind::GateArmed { step, gate, expected } => {
                let what = format!("{gate} gate closed, {expected} to come");
                self.push(event, Lane::Harness, step, what, Mark::Plain);
            }
            Kind::GateOpened { step, gate, waiting, expected, spread_us, .. } => {
                let spread = if *spread_us > 0 { format!(" within {spread_us} µs") } else { String::new() };
                let what = format!("{gate} gate opened on {waiting} of {expected}{spread}");
                self.push(event, Lane::Harness, step, what, Mark::Plain);
            }
            Kind::Called { call, name, reply, provider, attempt, .. } => {
                let attempt =
                    attempt.as_ref().map(|number| format!(" for attempt {number}")).unwrap_or_default();
                let what = format!("{provider} called{attempt} ({reply})");
                let at = self.push(event, Lane::Provider, format!("call {name}"), what, Mark::Plain);
                self.calls.insert(*call, at);
            }
            Kind::Effect { call } => {
                let who = self.who(*call);
                self.push(event, Lane::Provider, who, "the effect happens", Mark::Effect);
            }
            Kind::Released { call } => {
                let who = self.who(*call);
                self.push(event, Lane::Harness, who, "released", Mark::Plain);
            }
            Kind::Replied { call, status, text } => {
                let text = text.as_ref().map(|text| format!(" {text}")).unwrap_or_default();
                let at = self.calls.get(call).copied();
                self.extend(at, event, &format!("{status}{text}"), Mark::Plain);
            }
            Kind::CallEnded { call, how } => {
                let what = match how {
                    CallEnd::CallerGone => "the service hung up",
                    CallEnd::Reset => "connection reset",
                    CallEnd::Truncated => "answer broken off",
                    CallEnd::Abandoned => "still out at the end",
                };
                let at = self.calls.get(call).copied();
                self.extend(at, event, what, Mark::Unknown);
            }
            Kind::Probed { identity, answer } => {
                self.push(event, Lane::Provider, "probe", format!("{identity} → {answer}"), Mark::Plain);
            }
            Kind::FaultApplied { fault, detail } => {
                self.push(event, Lane::Fault, fault, format!("applied: {detail}"), Mark::Plain);
            }
            Kind::FaultHit { fault, detail } => {
                self.push(event, Lane::Fault, fault, format!("hit: {detail}"), Mark::Plain);
            }
            Kind::FaultHealed { fault } => {
                self.push(event, Lane::Fault, fault, "healed", Mark::Plain);
            }
            Kind::Logged { what, attempt, detail, service_us, .. } => {
                self.logged(event, what, attempt.as_deref(), detail.as_deref(), *service_us);
            }
            Kind::Kept { attempt, result, .. } => {
                let who = attempt.as_ref().map_or("job".to_owned(), |number| format!("attempt {number}"));
                let what = format!("kept for audit: {}", result.as_deref().unwrap_or("a result"));
                self.push(event, Lane::Database, who, what, Mark::Discarded);
            }
            Kind::Counted { key, jobs, .. } => {
                let what = format!("{jobs} {}", if *jobs == 1 { "row" } else { "rows" });
                self.push(event, Lane::Database, format!("key {key}"), what, Mark::Plain);
            }
            Kind::EffectsCounted { key, effects, .. } => {
                let what = format!("{effects} effects");
                self.push(event, Lane::Service, format!("key {key}"), what, Mark::Plain);
            }
            Kind::Rehearsed { found, share } => {
                let what = format!("{found} points found, {share} of them are this cell's");
                self.push(event, Lane::Harness, "rehearsal", what, Mark::Plain);
            }
            Kind::Missed { step, what } => {
                self.push(event, Lane::Harness, step, what, Mark::Unknown);
            }
            Kind::CellStarted { .. } | Kind::RoundStarted { .. } | Kind::RoundEnded => {}
        }
    }

    fn who(&self, call: u64) -> String {
        self.calls
            .get(&call)
            .map_or_else(|| format!("call {call}"), |at| self.timeline.moments[*at].who.clone())
    }

    /// The service's own words stand where the service says that they happened.
    fn logged(
        &mut self,
        event: &Event,
        what: &str,
        attempt: Option<&str>,
        detail: Option<&str>,
        service_us: Option<u64>,
    ) {
        let mark = match what {
            word if word.contains("discard") => Mark::Discarded,
            word if word.contains("accept") && word.contains("result") => Mark::Won,
            word if word.contains("refus") || word.contains("conflict") => Mark::Refused,
            word if word.contains("unknown") => Mark::Unknown,
            _ => Mark::Plain,
        };
        let lane = match mark {
            Mark::Won | Mark::Discarded => Lane::Database,
            _ if attempt.is_some() => Lane::Attempt,
            _ => Lane::Service,
        };
        let who = attempt.map_or("job".to_owned(), |number| format!("attempt {number}"));
        let detail = detail.filter(|d| d.len() <= 80).map(|d| format!(" ({d})")).unwrap_or_default();
        let at = self.push(event, lane, who, format!("{what}{detail}"), mark);
        if let Some(service_us) = service_us {
            self.timeline.moments[at].at_us = service_us.saturating_sub(self.began_us);
        }
    }
}

fn told(answer: &Answer) -> String {
    let mut words = vec![answer.status.to_string()];
    if let Some(state) = &answer.state {
        words.push(state.clone());
    }
    if let Some(problem) = answer.fields.get("problem") {
        words.push(problem.rsplit('/').next().unwrap_or(problem).to_owned());
    }
    if let Some(job) = &answer.job {
        words.push(format!(
            "job …{}",
            job.chars().skip(job.chars().count().saturating_sub(6)).collect::<String>()
        ));
    }
    if answer.replayed {
        words.push("replayed".to_owned());
    }
    if let Some(winner) = &answer.winner {
        words.push(format!("won by attempt {winner}"));
    }
    words.join(" ")
}

fn mark_of(answer: &Answer) -> Mark {
    match answer.state.as_deref() {
        _ if answer.refused => Mark::Refused,
        Some("unknown") => Mark::Unknown,
        _ => Mark::Plain,
    }
}

/// The requests of a round as `curl` commands, in the order of their sending.
#[must_use]
pub(super) fn curl(round: &[Event]) -> Vec<String> {
    const MOST: usize = 40;
    round
        .iter()
        .filter_map(|event| match &event.kind {
            Kind::Sent { step, line, headers, body, .. } if step != "closing" => {
                let (method, path) = line.split_once(' ').unwrap_or(("GET", line));
                let mut words =
                    vec!["curl -X".to_owned(), method.to_owned(), format!("\"$BASE\"{}", quoted(path))];
                words.extend(
                    headers.iter().map(|(name, value)| format!("-H {}", quoted(&format!("{name}: {value}")))),
                );
                words.extend(body.iter().map(|body| format!("-d {}", quoted(body))));
                words.push(format!(" # {step}"));
                Some(words.join(" "))
            }
            _ => None,
        })
        .take(MOST)
        .collect()
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// The text as one word of a command line that is to be copied: as it is where a shell would leave it so.
#[must_use]
pub(crate) fn shell_word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+".contains(c);
    if !text.is_empty() && text.chars().all(plain) { text.to_owned() } else { quoted(text) }
}

#[cfg(test)]
mod tests {
    use super::shell_word;

    #[test]
    fn a_path_is_quoted_only_where_a_shell_would_take_it_apart() {
        assert_eq!(shell_word("my/target-1.toml"), "my/target-1.toml");
        assert_eq!(shell_word("my folder/it's.toml"), r"'my folder/it'\''s.toml'");
        assert_eq!(shell_word(""), "''");
        assert_eq!(shell_word("$HOME"), "'$HOME'");
    }
}
