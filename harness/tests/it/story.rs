//! A history told in a few words, for tests of laws and witnesses.

use std::collections::BTreeMap;

use onejob::{
    history::{Answer, CallEnd, Event, Kind, Lost},
    law::View,
};

/// Tells a history event by event. Every call of a method happens 100 µs after the one before.
#[derive(Default)]
pub struct Story {
    events: Vec<Event>,
    requests: BTreeMap<String, u64>,
    calls: BTreeMap<String, u64>,
    idle_us: u64,
}

/// An answer in few words.
pub fn answer(status: u16) -> Answer {
    Answer { status, refused: status >= 400, ..Answer::default() }
}

/// What is told of a job.
pub fn job(status: u16, id: &str, state: &str) -> Answer {
    Answer { job: Some(id.into()), state: Some(state.into()), ..answer(status) }
}

/// A job that was decided.
pub fn decided(id: &str, winner: &str, result: &str) -> Answer {
    Answer {
        winner: Some(winner.into()),
        result: Some(result.into()),
        version: Some("2".into()),
        ..job(200, id, "succeeded")
    }
}

impl Story {
    pub fn new() -> Self {
        Self::default()
    }

    fn tell(mut self, kind: Kind) -> Self {
        let seq = self.events.len() as u64;
        self.events.push(Event { seq, at_us: seq * 100 + self.idle_us, round: 1, kind });
        self
    }

    fn send(
        mut self,
        step: &str,
        verb: &str,
        key: Option<&str>,
        payload: Option<&str>,
        about: Option<&str>,
    ) -> Self {
        let request = self.requests.len() as u64 + 1;
        self.requests.insert(step.into(), request);
        self.tell(Kind::Sent {
            request,
            step: step.into(),
            verb: verb.into(),
            owner: "alice".into(),
            key: key.map(Into::into),
            payload: payload.map(Into::into),
            job: about.map(Into::into),
            line: "POST /jobs".into(),
            headers: BTreeMap::new(),
            body: None,
            replica: 1,
        })
    }

    /// A submit of key K with payload P leaves.
    pub fn submits(self, step: &str) -> Self {
        self.send(step, "submit", Some("K"), Some("P"), None)
    }

    /// A submit of another key leaves.
    pub fn submits_with(self, step: &str, key: &str, payload: &str) -> Self {
        self.send(step, "submit", Some(key), Some(payload), None)
    }

    /// A read of a job leaves.
    pub fn reads(self, step: &str, about: &str) -> Self {
        // A step that looks again keeps its name; the number tells the looks apart.
        self.send(step, "read", None, None, Some(about))
    }

    /// A request about a job leaves.
    pub fn asks(self, step: &str, verb: &str, about: &str) -> Self {
        self.send(step, verb, None, None, Some(about))
    }

    /// Nothing happens for so long.
    pub fn later(mut self, us: u64) -> Self {
        self.idle_us += us;
        self
    }

    /// The request of this step is answered.
    pub fn answered(self, step: &str, answer: Answer) -> Self {
        let request = self.requests[step];
        self.tell(Kind::Answered { request, answer })
    }

    /// The request of this step is lost.
    pub fn lost(self, step: &str) -> Self {
        let request = self.requests[step];
        self.tell(Kind::Unanswered { request, how: Lost::Timeout, detail: "no answer".into() })
    }

    /// A read that is answered at once.
    pub fn saw(self, step: &str, answer: Answer) -> Self {
        let about = answer.job.clone().unwrap_or_default();
        self.reads(step, &about).answered(step, answer)
    }

    /// A submit that is answered at once.
    pub fn created(self, step: &str, answer: Answer) -> Self {
        self.submits(step).answered(step, answer)
    }

    /// The provider is called for a job's attempt.
    pub fn called(self, name: &str, identity: &str, attempt: &str) -> Self {
        self.call(name, identity, attempt, "succeed")
    }

    /// The provider is called although the script forbids it.
    pub fn called_against_orders(self, name: &str, identity: &str, attempt: &str) -> Self {
        self.call(name, identity, attempt, "forbid")
    }

    fn call(mut self, name: &str, identity: &str, attempt: &str, reply: &str) -> Self {
        let call = self.calls.len() as u64 + 1;
        self.calls.insert(name.into(), call);
        self.tell(Kind::Called {
            call,
            name: name.into(),
            reply: reply.into(),
            provider: "primary".into(),
            identity: (!identity.is_empty()).then(|| identity.into()),
            attempt: Some(attempt.into()),
            payload: Some("P".into()),
            traceparent: None,
        })
    }

    /// The last request or call carried a trace context.
    pub fn traced(mut self, context: &str) -> Self {
        match self.events.last_mut().map(|event| &mut event.kind) {
            Some(Kind::Sent { headers, .. }) => {
                headers.insert("traceparent".into(), context.into());
            }
            Some(Kind::Called { traceparent, .. }) => *traceparent = Some(context.into()),
            other => panic!("neither a request nor a call: {other:?}"),
        }
        self
    }

    /// The effect of a call happens.
    pub fn effect(self, name: &str) -> Self {
        let call = self.calls[name];
        self.tell(Kind::Effect { call })
    }

    /// A held call is let go.
    pub fn released(self, name: &str) -> Self {
        let call = self.calls[name];
        self.tell(Kind::Released { call })
    }

    /// The provider's answer is taken.
    pub fn replied(self, name: &str, text: &str) -> Self {
        let call = self.calls[name];
        self.tell(Kind::Replied { call, status: 200, text: Some(text.into()) })
    }

    /// The service hangs up on a call.
    pub fn hung_up(self, name: &str) -> Self {
        let call = self.calls[name];
        self.tell(Kind::CallEnded { call, how: CallEnd::CallerGone })
    }

    /// A gate opens.
    pub fn gate(self, step: &str, gate: &str, waiting: u32, expected: u32, early: u32) -> Self {
        self.tell(Kind::GateOpened {
            step: step.into(),
            gate: gate.into(),
            waiting,
            expected,
            early,
            spread_us: 18,
        })
    }

    /// The service's log tells of something.
    pub fn logged(self, what: &str) -> Self {
        let entry = Kind::Logged {
            job: "a".into(),
            what: what.into(),
            attempt: None,
            detail: None,
            service_us: None,
        };
        self.tell(entry)
    }

    /// A late result was kept.
    pub fn kept(self, result: &str) -> Self {
        self.tell(Kind::Kept { job: "a".into(), attempt: Some("1".into()), result: Some(result.into()) })
    }

    /// The database holds this many jobs for K.
    pub fn counted(self, jobs: u64) -> Self {
        self.tell(Kind::Counted { owner: "alice".into(), key: "K".into(), jobs })
    }

    /// The target itself counts this many effects for K.
    pub fn effects_counted(self, effects: u64) -> Self {
        self.tell(Kind::EffectsCounted { owner: "alice".into(), key: "K".into(), effects })
    }

    /// A fault is applied.
    pub fn fault(self, name: &str) -> Self {
        self.tell(Kind::FaultApplied { fault: name.into(), detail: String::new() })
    }

    /// A fault hits.
    pub fn rehearsed(self, found: u32, share: u32) -> Self {
        self.tell(Kind::Rehearsed { found, share })
    }

    pub fn hit(self, name: &str) -> Self {
        self.tell(Kind::FaultHit { fault: name.into(), detail: String::new() })
    }

    /// A step waited in vain.
    pub fn missed(self, step: &str) -> Self {
        self.tell(Kind::Missed { step: step.into(), what: "nothing came".into() })
    }

    /// The round, indexed.
    pub fn view(self) -> View {
        self.tell(Kind::RoundEnded).unfinished()
    }

    /// The same as another round.
    pub fn view_of(self, round: u32) -> View {
        let mut whole = self.tell(Kind::RoundEnded);
        for event in &mut whole.events {
            event.round = round;
        }
        View::of(round, &whole.events)
    }

    /// The round, indexed, as if it had been broken off.
    pub fn unfinished(self) -> View {
        View::of(1, &self.events)
    }
}
