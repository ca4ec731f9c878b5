//! One round of a history, indexed once so that every law is a walk over short lists.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::index::Index;
use crate::history::{Answer, CallEnd, CallId, Event, Kind, Lost, RequestId};

/// Owner and name of a key.
pub type Intent = (String, String);

/// A request from its first byte to its answer.
#[derive(Debug, Clone)]
pub struct Request {
    /// Number within the cell.
    pub id: RequestId,
    /// `STEP` or `STEP.n`.
    pub step: String,
    /// The verb.
    pub verb: String,
    /// Who asked.
    pub owner: String,
    /// Name of the key that it carried.
    pub key: Option<String>,
    /// Name of the payload that it carried.
    pub payload: Option<String>,
    /// The job that it was about.
    pub about: Option<String>,
    /// W3C trace context that it carried.
    pub traceparent: Option<String>,
    /// Position of its sending.
    pub sent: u64,
    /// Time of its sending, in microseconds.
    pub sent_us: u64,
    /// How it ended, unless it was still out when the round ended.
    pub end: Option<RequestEnd>,
}

/// The end of a request.
#[derive(Debug, Clone)]
pub struct RequestEnd {
    /// Position.
    pub seq: u64,
    /// Time in microseconds.
    pub at_us: u64,
    /// The answer, or how it was lost and what people are told about that.
    pub answer: Result<Answer, (Lost, String)>,
}

impl Request {
    /// The answer, where there is one.
    #[must_use]
    pub fn answer(&self) -> Option<&Answer> {
        self.end.as_ref().and_then(|end| end.answer.as_ref().ok())
    }

    /// The step's name without the number of the request.
    #[must_use]
    pub fn step_id(&self) -> &str {
        step_of(&self.step)
    }

    /// The job that the answer told of, else the one asked about.
    #[must_use]
    pub fn job(&self) -> Option<&str> {
        self.answer().and_then(|answer| answer.job.as_deref()).or(self.about.as_deref())
    }

    pub(super) fn creates(&self) -> bool {
        matches!(self.verb.as_str(), "submit" | "lookup")
    }
}

/// `click.3` belongs to the step `click`.
#[must_use]
pub fn step_of(name: &str) -> &str {
    match name.rsplit_once('.') {
        Some((step, number)) if number.bytes().all(|byte| byte.is_ascii_digit()) => step,
        _ => name,
    }
}

/// A call that the provider saw.
#[derive(Debug, Clone)]
pub struct Call {
    /// Number within the cell.
    pub id: CallId,
    /// Name from the script.
    pub name: String,
    /// What the script did.
    pub reply: String,
    /// Name of the provider.
    pub provider: String,
    /// Identity that it carried.
    pub identity: Option<String>,
    /// Attempt that it carried.
    pub attempt: Option<String>,
    /// Name of the payload that it carried.
    pub payload: Option<String>,
    /// W3C trace context that it carried.
    pub traceparent: Option<String>,
    /// Position of its arrival.
    pub called: u64,
    /// Time of its arrival, in microseconds.
    pub called_us: u64,
    /// Positions of its effects.
    pub effects: Vec<u64>,
    /// Position and time of its release.
    pub released: Option<(u64, u64)>,
    /// Position, time and text of the answer that was taken.
    pub replied: Option<(u64, u64, Option<String>)>,
    /// Position, time and manner of another end.
    pub ended: Option<(u64, u64, CallEnd)>,
}

impl Call {
    /// Position of its end, or of its arrival while it is out.
    #[must_use]
    pub fn end_seq(&self) -> u64 {
        let replied = self.replied.as_ref().map(|(seq, ..)| *seq);
        let ended = self.ended.as_ref().map(|(seq, ..)| *seq);
        replied.or(ended).unwrap_or(self.called)
    }

    /// When the call was over for the service; never, while it is out.
    #[must_use]
    pub fn over_us(&self) -> u64 {
        let replied = self.replied.as_ref().map(|(_, at, _)| *at);
        let ended = self.ended.as_ref().map(|(_, at, _)| *at);
        replied.or(ended).unwrap_or(u64::MAX)
    }
}

/// A gate that opened.
#[derive(Debug, Clone)]
pub struct Gate {
    /// The step.
    pub step: String,
    /// `lock`, `arrival-h1`, `arrival-h2`.
    pub gate: String,
    /// How many waited.
    pub waiting: u32,
    /// How many were expected.
    pub expected: u32,
    /// How many were answered before it opened.
    pub early: u32,
    /// Microseconds between the first and the last release.
    pub spread_us: u64,
}

/// An entry of the service's own log.
#[derive(Debug, Clone)]
pub struct LogEntry {
    /// Position in the history.
    pub seq: u64,
    /// The job.
    pub job: String,
    /// The word.
    pub what: String,
    /// The attempt.
    pub attempt: Option<String>,
}

/// One round.
#[derive(Debug, Clone, Default)]
pub struct View {
    /// The round's number.
    pub round: u32,
    /// Requests in the order of their sending.
    pub requests: Vec<Request>,
    /// Calls in the order of their arrival.
    pub calls: Vec<Call>,
    /// Gates in the order of their opening.
    pub gates: Vec<Gate>,
    /// The service's log.
    pub log: Vec<LogEntry>,
    /// Results that were kept: position, job, text.
    pub kept: Vec<(u64, String, Option<String>)>,
    /// Rows counted by (owner, key): position and rows.
    pub counted: BTreeMap<Intent, (u64, u64)>,
    /// Effects that the target itself counts by (owner, key): position and number.
    pub effects: BTreeMap<Intent, (u64, u64)>,
    /// Faults that were applied, by name: position.
    pub faults: BTreeMap<String, u64>,
    /// Faults that hit, by name: position.
    pub hits: BTreeMap<String, u64>,
    /// In a sweep's rehearsal: points that were found, and those of them that are the cell's.
    pub rehearsed: Option<(u32, u32)>,
    /// Steps that were not carried out: step and what did not come.
    pub missed: Vec<(String, String)>,
    /// Whether the round was carried through.
    pub ended: bool,
    index: Index,
}

impl View {
    /// Indexes the events of one round.
    #[must_use]
    pub fn of<'a>(round: u32, events: impl IntoIterator<Item = &'a Event>) -> Self {
        let mut view = Self { round, ..Self::default() };
        let mut request_at = HashMap::new();
        let mut call_at = HashMap::new();
        for event in events.into_iter().filter(|event| event.round == round) {
            view.take(event, &mut request_at, &mut call_at);
        }
        view.index = Index::of(&view.requests, &view.calls);
        view
    }

    /// All rounds of a cell.
    #[must_use]
    pub fn rounds(events: &[Event]) -> Vec<Self> {
        let mut by_round: BTreeMap<u32, Vec<&Event>> = BTreeMap::new();
        for event in events.iter().filter(|event| event.round > 0) {
            by_round.entry(event.round).or_default().push(event);
        }
        by_round.into_iter().map(|(round, events)| Self::of(round, events)).collect()
    }

    fn take(
        &mut self,
        event: &Event,
        request_at: &mut HashMap<RequestId, usize>,
        call_at: &mut HashMap<CallId, usize>,
    ) {
        let (seq, at_us) = (event.seq, event.at_us);
        match &event.kind {
            Kind::Sent { request, step, verb, owner, key, payload, job, headers, .. } => {
                request_at.insert(*request, self.requests.len());
                self.requests.push(Request {
                    id: *request,
                    step: step.clone(),
                    verb: verb.clone(),
                    owner: owner.clone(),
                    key: key.clone(),
                    payload: payload.clone(),
                    about: job.clone(),
                    traceparent: headers.get("traceparent").cloned(),
                    sent: seq,
                    sent_us: at_us,
                    end: None,
                });
            }
            Kind::Answered { request, answer } => {
                self.end_request(request_at, *request, RequestEnd { seq, at_us, answer: Ok(answer.clone()) });
            }
            Kind::Unanswered { request, how, detail } => {
                let answer = Err((*how, detail.clone()));
                self.end_request(request_at, *request, RequestEnd { seq, at_us, answer });
            }
            Kind::GateOpened { step, gate, waiting, expected, early, spread_us } => self.gates.push(Gate {
                step: step.clone(),
                gate: gate.clone(),
                waiting: *waiting,
                expected: *expected,
                early: *early,
                spread_us: *spread_us,
            }),
            Kind::Called { call, name, reply, provider, identity, attempt, payload, traceparent } => {
                call_at.insert(*call, self.calls.len());
                self.calls.push(Call {
                    id: *call,
                    name: name.clone(),
                    reply: reply.clone(),
                    provider: provider.clone(),
                    identity: identity.clone(),
                    attempt: attempt.clone(),
                    payload: payload.clone(),
                    traceparent: traceparent.clone(),
                    called: seq,
                    called_us: at_us,
                    effects: Vec::new(),
                    released: None,
                    replied: None,
                    ended: None,
                });
            }
            Kind::Effect { call } => {
                if let Some(call) = call_at.get(call).map(|at| &mut self.calls[*at]) {
                    call.effects.push(seq);
                }
            }
            Kind::Released { call } => {
                if let Some(call) = call_at.get(call).map(|at| &mut self.calls[*at]) {
                    call.released = Some((seq, at_us));
                }
            }
            Kind::Replied { call, text, .. } => {
                if let Some(call) = call_at.get(call).map(|at| &mut self.calls[*at]) {
                    call.replied = Some((seq, at_us, text.clone()));
                }
            }
            Kind::CallEnded { call, how } => {
                if let Some(call) = call_at.get(call).map(|at| &mut self.calls[*at]) {
                    call.ended = Some((seq, at_us, *how));
                }
            }
            Kind::Logged { job, what, attempt, .. } => self.log.push(LogEntry {
                seq,
                job: job.clone(),
                what: what.clone(),
                attempt: attempt.clone(),
            }),
            Kind::Kept { job, result, .. } => self.kept.push((seq, job.clone(), result.clone())),
            Kind::Counted { owner, key, jobs } => {
                self.counted.insert((owner.clone(), key.clone()), (seq, *jobs));
            }
            Kind::EffectsCounted { owner, key, effects } => {
                self.effects.insert((owner.clone(), key.clone()), (seq, *effects));
            }
            Kind::FaultApplied { fault, .. } => {
                self.faults.insert(fault.clone(), seq);
            }
            Kind::FaultHit { fault, .. } => {
                self.hits.entry(fault.clone()).or_insert(seq);
            }
            Kind::Rehearsed { found, share } => self.rehearsed = Some((*found, *share)),
            Kind::Missed { step, what } => self.missed.push((step.clone(), what.clone())),
            Kind::RoundEnded => self.ended = true,
            Kind::CellStarted { .. }
            | Kind::RoundStarted { .. }
            | Kind::GateArmed { .. }
            | Kind::Probed { .. }
            | Kind::FaultHealed { .. } => {}
        }
    }

    fn end_request(&mut self, at: &HashMap<RequestId, usize>, request: RequestId, end: RequestEnd) {
        if let Some(at) = at.get(&request) {
            self.requests[*at].end.get_or_insert(end);
        }
    }

    /// Whether the round was played to its end: every step, and the closing look.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.ended && self.missed.is_empty()
    }

    /// Each (owner, key) that was submitted.
    pub fn intents(&self) -> impl Iterator<Item = &Intent> {
        self.index.jobs.keys()
    }

    /// The distinct jobs that answers told of for an (owner, key).
    #[must_use]
    pub fn jobs_of(&self, intent: &Intent) -> &BTreeSet<String> {
        static NONE: BTreeSet<String> = BTreeSet::new();
        self.index.jobs.get(intent).unwrap_or(&NONE)
    }

    /// For each job of an (owner, key), the first answer that told of it: positions in the history, in order.
    #[must_use]
    pub fn first_told(&self, intent: &Intent) -> Vec<u64> {
        let mut told: Vec<u64> =
            self.jobs_of(intent).iter().filter_map(|job| self.index.known.get(job).copied()).collect();
        told.sort_unstable();
        told
    }

    /// The same round, as if nobody had ever been told of these jobs.
    #[must_use]
    pub(super) fn without(&self, jobs: &BTreeSet<String>) -> Self {
        let mut view = self.clone();
        for known in view.index.jobs.values_mut() {
            known.retain(|job| !jobs.contains(job));
        }
        view
    }

    /// Every job that an answer told of.
    pub fn jobs(&self) -> impl Iterator<Item = &str> {
        self.index.all_jobs.iter().map(String::as_str)
    }

    /// Submits of an (owner, key), in the order of their sending.
    pub fn submits_of(&self, intent: &Intent) -> impl Iterator<Item = &Request> {
        self.index.submits.get(intent).into_iter().flatten().map(|at| &self.requests[*at])
    }

    /// The intent that a call served: by the identity that it carried, else by a payload that one intent alone used.
    #[must_use]
    pub fn intent_of(&self, call: &Call) -> Option<&Intent> {
        self.index.intent_of(call)
    }

    /// Calls that served an intent, in the order of their arrival.
    pub fn calls_of(&self, intent: &Intent) -> impl Iterator<Item = &Call> {
        self.index.calls_of_intent.get(intent).into_iter().flatten().map(|at| &self.calls[*at])
    }

    /// Calls that carried a job's identity, in the order of their arrival.
    pub fn calls_for(&self, job: &str) -> impl Iterator<Item = &Call> {
        self.index.calls_of_job.get(job).into_iter().flatten().map(|at| &self.calls[*at])
    }

    /// Answers that told of a job's state, in the order of their arrival.
    #[must_use]
    pub fn told_of(&self, job: &str) -> Vec<(&Request, &Answer)> {
        let places = self.index.told.get(job).into_iter().flatten();
        places
            .filter_map(|at| self.requests[*at].answer().map(|answer| (&self.requests[*at], answer)))
            .collect()
    }

    /// Reads of a job that found nothing although somebody had been told of it before they were sent. An earlier one
    /// may have met the job's creation, and proves nothing.
    pub fn not_found(&self, job: &str) -> impl Iterator<Item = &Request> {
        let known = self.index.known.get(job).copied().unwrap_or(u64::MAX);
        let places = self.index.not_found.get(job).into_iter().flatten();
        places.map(|at| &self.requests[*at]).filter(move |request| request.sent > known)
    }

    /// Requests of a step, or the one request that `STEP.n` names.
    #[must_use]
    pub fn requests_of(&self, name: &str) -> Vec<&Request> {
        self.index.requests_of(name).iter().map(|at| &self.requests[*at]).collect()
    }

    /// The call of this name.
    #[must_use]
    pub fn call(&self, name: &str) -> Option<&Call> {
        self.calls.iter().find(|call| call.name == name)
    }
}
