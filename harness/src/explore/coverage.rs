//! What the plans reached: which events met a job or an attempt in which state. Pure.

use std::collections::BTreeMap;

use onejob_reports::explore as report;

use crate::{
    history::{CallEnd, Event, Kind},
    law::View,
};

/// States of a job, as tables list them.
const JOB_STATES: [&str; 7] = ["new", "accepted", "running", "unknown", "succeeded", "failed", "cancelled"];
/// What may happen to a job.
const JOB_EVENTS: [&str; 15] = [
    "submit",
    "again",
    "conflict",
    "read",
    "lookup",
    "retry",
    "cancel",
    "cancel-attempt",
    "resolve",
    "deliver",
    "answer",
    "refusal",
    "lost",
    "hung-up",
    "fault",
];
/// States of an attempt.
const ATTEMPT_STATES: [&str; 8] =
    ["none", "starting", "running", "unknown", "succeeded", "failed", "cancelled", "superseded"];
/// Words of the log that tell what happened to an attempt, as the reference service spells them.
const ATTEMPT_EVENTS: [&str; 19] = [
    "attempt-started",
    "attempt-refused",
    "effect-started",
    "provider-accepted",
    "duplicate-reported",
    "attempt-unknown",
    "attempt-failed",
    "attempt-cancelled",
    "attempt-resolved",
    "lease-lapsed",
    "requeued",
    "result-accepted",
    "result-discarded",
    "callback-received",
    "cancel-requested",
    "cancel-refused",
    "job-cancelled",
    "attention-raised",
    "replayed",
];

/// How often each pair of a state and an event was seen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pairs(pub BTreeMap<(String, String), u64>);

/// Everything that was reached.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Coverage {
    /// States of jobs.
    pub jobs: Pairs,
    /// States of attempts, as far as the target's log tells of them.
    pub attempts: Pairs,
}

impl Pairs {
    fn add(&mut self, state: &str, event: &str) {
        *self.0.entry((state.to_owned(), event.to_owned())).or_default() += 1;
    }

    fn map(&self, states: &[&str], events: &[&str]) -> report::Map {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let reached = self.0.iter().map(|((state, event), count)| report::Pair {
            state: state.clone(),
            event: event.clone(),
            count: *count,
        });
        report::Map { states: owned(states), events: owned(events), reached: reached.collect() }
    }
}

impl Coverage {
    /// What was reached, beside all that there is, as reports show it.
    #[must_use]
    pub fn shown(&self) -> report::Coverage {
        report::Coverage {
            jobs: self.jobs.map(&JOB_STATES, &JOB_EVENTS),
            attempts: self.attempts.map(&ATTEMPT_STATES, &ATTEMPT_EVENTS),
        }
    }
}

/// A job's states and the microseconds at which they began.
type Life<'a> = Vec<(u64, &'a str)>;

impl Coverage {
    /// Adds what one round reached.
    pub fn take(&mut self, view: &View, events: &[Event]) {
        for job in view.jobs() {
            let life = life(job, view, events);
            self.requests(job, &life, view);
            self.provider(job, &life, view, events);
            self.attempts(job, view);
        }
    }

    fn requests(&mut self, job: &str, life: &Life<'_>, view: &View) {
        let mut known = false;
        for request in view.requests.iter().filter(|request| request.job() == Some(job)) {
            let refused = request.answer().is_some_and(|answer| answer.status >= 400);
            let event = match request.verb.as_str() {
                "submit" if refused => "conflict",
                "submit" if known => "again",
                verb => verb,
            };
            known |= request.verb == "submit";
            self.jobs.add(state_at(life, request.sent_us), event);
        }
        // Refusals don't tell of the job, but their key does.
        for intent in view.intents().filter(|intent| view.jobs_of(intent).contains(job)) {
            for request in view.submits_of(intent).filter(|request| request.job().is_none()) {
                self.jobs.add(state_at(life, request.sent_us), "conflict");
            }
        }
    }

    fn provider(&mut self, job: &str, life: &Life<'_>, view: &View, events: &[Event]) {
        for call in view.calls.iter().filter(|call| call.identity.as_deref() == Some(job)) {
            if let Some((_, at, text)) = &call.replied {
                let event = if text.is_some() { "answer" } else { "refusal" };
                self.jobs.add(state_at(life, *at), event);
            }
            if let Some((_, at, how)) = &call.ended {
                let event = if *how == CallEnd::CallerGone { "hung-up" } else { "lost" };
                self.jobs.add(state_at(life, *at), event);
            }
        }
        for event in events {
            if matches!(event.kind, Kind::FaultHit { .. }) {
                self.jobs.add(state_at(life, event.at_us), "fault");
            }
        }
    }

    fn attempts(&mut self, job: &str, view: &View) {
        let mut states: BTreeMap<String, &'static str> = BTreeMap::new();
        for entry in view.log.iter().filter(|entry| entry.job == job) {
            let attempt = entry.attempt.clone().or_else(|| {
                // What is about the job meets its newest attempt.
                states.keys().max_by_key(|name| name.parse::<u64>().unwrap_or(0)).cloned()
            });
            let before = attempt.as_ref().and_then(|name| states.get(name)).copied().unwrap_or("none");
            self.attempts.add(before, &entry.what);
            let Some(name) = attempt else { continue };
            let live = |state: &str| matches!(state, "starting" | "running" | "unknown");
            let after = match entry.what.as_str() {
                "attempt-started" => "starting",
                "effect-started" => "running",
                "attempt-unknown" => "unknown",
                "attempt-failed" | "attempt-resolved" => "failed",
                "attempt-cancelled" => "cancelled",
                "lease-lapsed" => "superseded",
                "result-accepted" => "succeeded",
                "job-cancelled" if live(before) => "cancelled",
                _ => before,
            };
            if entry.what == "result-accepted" {
                states.values_mut().filter(|state| live(state)).for_each(|state| *state = "superseded");
            }
            if after != "none" {
                states.insert(name, after);
            }
        }
    }
}

/// When a job was in which state: by the target's own log where it tells, and by what answers told.
fn life<'a>(job: &str, view: &'a View, events: &'a [Event]) -> Life<'a> {
    let logged = events.iter().filter_map(|event| match &event.kind {
        Kind::Logged { job: of, what, service_us: Some(at), .. } if of == job => {
            state_after(what).map(|state| (*at, state))
        }
        _ => None,
    });
    let mut life: Life<'a> = logged.collect();
    if life.is_empty() {
        let told = view.told_of(job).into_iter();
        life = told
            .filter_map(|(request, answer)| Some((request.end.as_ref()?.at_us, answer.state.as_deref()?)))
            .collect();
    }
    life.sort_by_key(|(at, _)| *at);
    life
}

fn state_at<'a>(life: &Life<'a>, at: u64) -> &'a str {
    life.iter().take_while(|(began, _)| *began <= at).last().map_or("new", |(_, state)| state)
}

/// What a word of the log means for the job, where it means anything.
fn state_after(what: &str) -> Option<&'static str> {
    Some(match what {
        "created" | "requeued" | "attempt-cancelled" => "accepted",
        "attempt-started" | "effect-started" => "running",
        "attempt-unknown" => "unknown",
        "result-accepted" => "succeeded",
        "job-failed" => "failed",
        "job-cancelled" => "cancelled",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_is_the_last_that_began() {
        let life = vec![(5, "accepted"), (9, "running")];
        assert_eq!(state_at(&life, 4), "new");
        assert_eq!(state_at(&life, 5), "accepted");
        assert_eq!(state_at(&life, 90), "running");
    }

    #[test]
    fn what_is_shown_has_every_pair_that_there_is_and_how_often_it_was_reached() {
        let mut coverage = Coverage::default();
        coverage.jobs.add("unknown", "retry");
        coverage.jobs.add("unknown", "retry");
        let shown = coverage.shown();
        assert_eq!(shown.jobs.share(), (1, JOB_STATES.len() * JOB_EVENTS.len()));
        assert_eq!((shown.jobs.count("unknown", "retry"), shown.jobs.count("failed", "retry")), (2, 0));
        assert_eq!(shown.attempts.share().0, 0);
    }
}
