//! One round of a history, indexed once so that every law is a walk over short lists.

use std::collections::{BTreeMap, BTreeSet, HashMap};

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

    fn creates(&self) -> bool {
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
    /// Steps that were not carried out: step and what did not come.
    pub missed: Vec<(String, String)>,
    /// Whether the round was carried through.
    pub ended: bool,
    jobs: BTreeMap<Intent, BTreeSet<String>>,
    intent_of_job: HashMap<String, Intent>,
    intents_of_payload: HashMap<String, BTreeSet<Intent>>,
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
        view.attribute();
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

    fn attribute(&mut self) {
        for request in self.requests.iter().filter(|request| request.creates()) {
            let Some(key) = &request.key else { continue };
            let intent = (request.owner.clone(), key.clone());
            if let Some(payload) = &request.payload {
                self.intents_of_payload.entry(payload.clone()).or_default().insert(intent.clone());
            }
            let jobs = self.jobs.entry(intent.clone()).or_default();
            let told =
                request.answer().filter(|answer| answer.status < 400).and_then(|answer| answer.job.as_ref());
            if let Some(job) = told {
                jobs.insert(job.clone());
                self.intent_of_job.entry(job.clone()).or_insert(intent);
            }
        }
    }

    /// Whether the round was played to its end: every step, and the closing look.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.ended && self.missed.is_empty()
    }

    /// Each (owner, key) that was submitted.
    pub fn intents(&self) -> impl Iterator<Item = &Intent> {
        self.jobs.keys()
    }

    /// The distinct jobs that answers told of for an (owner, key).
    #[must_use]
    pub fn jobs_of(&self, intent: &Intent) -> &BTreeSet<String> {
        static NONE: BTreeSet<String> = BTreeSet::new();
        self.jobs.get(intent).unwrap_or(&NONE)
    }

    /// For each job of an (owner, key), the first answer that told of it: positions in the history, in order.
    #[must_use]
    pub fn first_told(&self, intent: &Intent) -> Vec<u64> {
        let of_job = |job: &String| {
            let told = self.requests.iter().filter(|request| {
                request.creates()
                    && request.answer().is_some_and(|a| a.status < 400 && a.job.as_ref() == Some(job))
            });
            told.filter_map(|request| request.end.as_ref().map(|end| end.seq)).min()
        };
        let mut told: Vec<u64> = self.jobs_of(intent).iter().filter_map(of_job).collect();
        told.sort_unstable();
        told
    }

    /// Every job that an answer told of.
    pub fn jobs(&self) -> impl Iterator<Item = &str> {
        let all: BTreeSet<&str> = self.jobs.values().flatten().map(String::as_str).collect();
        all.into_iter()
    }

    /// Submits of an (owner, key), in the order of their sending.
    pub fn submits_of<'a>(&'a self, intent: &'a Intent) -> impl Iterator<Item = &'a Request> {
        self.requests.iter().filter(move |request| {
            request.verb == "submit" && request.owner == intent.0 && request.key.as_ref() == Some(&intent.1)
        })
    }

    /// The intent that a call served: by the identity that it carried, else by a payload that one intent alone used.
    #[must_use]
    pub fn intent_of(&self, call: &Call) -> Option<&Intent> {
        if let Some(intent) = call.identity.as_ref().and_then(|identity| self.intent_of_job.get(identity)) {
            return Some(intent);
        }
        let intents = self.intents_of_payload.get(call.payload.as_ref()?)?;
        if intents.len() == 1 { intents.first() } else { None }
    }

    /// Calls that served an intent.
    pub fn calls_of<'a>(&'a self, intent: &'a Intent) -> impl Iterator<Item = &'a Call> {
        self.calls.iter().filter(move |call| self.intent_of(call) == Some(intent))
    }

    /// Answers that told of a job's state, in the order of their arrival.
    #[must_use]
    pub fn told_of<'a>(&'a self, job: &str) -> Vec<(&'a Request, &'a Answer)> {
        let mut told: Vec<_> = self
            .requests
            .iter()
            .filter(|request| request.job() == Some(job))
            .filter_map(|request| request.answer().map(|answer| (request, answer)))
            .filter(|(_, answer)| answer.state.is_some())
            .collect();
        told.sort_by_key(|(request, _)| request.end.as_ref().map(|end| end.seq));
        told
    }

    /// Requests of a step, or the one request that `STEP.n` names.
    #[must_use]
    pub fn requests_of(&self, name: &str) -> Vec<&Request> {
        let of = |matches: &dyn Fn(&Request) -> bool| {
            self.requests.iter().filter(|r| matches(r)).collect::<Vec<_>>()
        };
        let exact = of(&|request| request.step == name);
        if exact.is_empty() { of(&|request| request.step_id() == name) } else { exact }
    }

    /// The call of this name.
    #[must_use]
    pub fn call(&self, name: &str) -> Option<&Call> {
        self.calls.iter().find(|call| call.name == name)
    }
}
