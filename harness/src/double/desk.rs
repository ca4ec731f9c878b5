//! Where calls are taken: which round and payload a call belongs to, which rule takes it, and what became of it.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::oneshot;

use super::{
    DoubleError,
    call::{OpenCall, Word},
    plan::{Plan, Rule},
};
use crate::{
    history::{CallId, Kind, Recorder},
    scenario::Script,
};

/// What `call` says where a rule matches whatever no other rule takes.
const REST: &str = "rest";

/// All that the double knows.
#[derive(Debug)]
pub(super) struct Desk {
    recorder: Arc<Recorder>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
pub(super) struct State {
    rounds: BTreeMap<u32, Round>,
    /// By call number, from 1.
    pub(super) calls: Vec<Call>,
    strays: Vec<String>,
    finishing: bool,
}

#[derive(Debug, Default)]
struct Round {
    rules: Vec<(Rule, u32)>,
    /// Payload name and the marker that gives it away, the longest marker first.
    markers: Vec<(String, String)>,
    /// How many calls went by each name.
    names: BTreeMap<String, u32>,
}

/// One call and what became of it.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) round: u32,
    pub(super) name: String,
    pub(super) provider: String,
    pub(super) identity: Option<String>,
    pub(super) attempt: Option<String>,
    pub(super) rule: Rule,
    pub(super) phase: Phase,
    pub(super) effect: bool,
    word: Option<oneshot::Sender<Word>>,
}

/// How far a call is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    Held,
    Working,
    Released,
    Ended,
}

/// A call as it was heard.
#[derive(Debug, Clone, Default)]
pub(super) struct Heard {
    pub(super) provider: String,
    pub(super) identity: Option<String>,
    pub(super) attempt: Option<String>,
    pub(super) traceparent: Option<String>,
    pub(super) body: String,
}

/// A call that was taken, and what is to be done with it.
#[derive(Debug)]
pub(super) struct Taken {
    pub(super) open: OpenCall,
    pub(super) plan: Plan,
    pub(super) word: oneshot::Receiver<Word>,
}

impl Desk {
    pub(super) fn new(recorder: Arc<Recorder>) -> Arc<Self> {
        Arc::new(Self { recorder, state: Mutex::default() })
    }

    pub(super) fn record(&self, round: u32, kind: Kind) {
        self.recorder.record(round, kind);
    }

    pub(super) fn script(
        &self,
        round: u32,
        rules: Vec<Script>,
        markers: BTreeMap<String, String>,
    ) -> Result<(), DoubleError> {
        let rules = rules
            .into_iter()
            .map(|script| Ok((Rule::check(script)?, 0)))
            .collect::<Result<_, DoubleError>>()?;
        let mut markers: Vec<_> = markers.into_iter().collect();
        // The longest first: one marker may be the beginning of another.
        markers.sort_by_key(|(_, marker)| std::cmp::Reverse(marker.len()));
        self.lock().rounds.insert(round, Round { rules, markers, names: BTreeMap::new() });
        Ok(())
    }

    /// Takes a call: number, name and history are given out under one lock, so that they tell one order of arrival.
    pub(super) fn take(self: &Arc<Self>, heard: Heard) -> Taken {
        let mut state = self.lock();
        let call = state.calls.len() as CallId + 1;
        let (number, payload) = state.place(&heard);
        let round = state.rounds.entry(number).or_default();
        let (rule, name) = round.assign(&heard.provider, payload.as_deref());
        let plan = rule.plan(call, &name);
        let (say, word) = oneshot::channel();
        self.recorder.record(
            number,
            Kind::Called {
                call,
                name: name.clone(),
                reply: word_of(rule.script.reply),
                provider: heard.provider.clone(),
                identity: heard.identity.clone(),
                attempt: heard.attempt.clone(),
                payload,
                traceparent: heard.traceparent,
            },
        );
        state.calls.push(Call {
            round: number,
            name,
            provider: heard.provider,
            identity: heard.identity,
            attempt: heard.attempt,
            rule,
            phase: if plan.hold { Phase::Held } else { Phase::Working },
            effect: false,
            word: Some(say),
        });
        Taken { open: OpenCall::new(Arc::clone(self), call), plan, word }
    }

    /// Lets held calls go, all of them or, where one can't be, none.
    pub(super) fn release(&self, round: u32, names: &[String]) -> Result<(), DoubleError> {
        let mut state = self.lock();
        let mut found = Vec::with_capacity(names.len());
        for name in names {
            found.push(state.held(round, name)?);
        }
        for &index in &found {
            state.calls[index].phase = Phase::Released;
            self.recorder.record(round, Kind::Released { call: index as CallId + 1 });
        }
        for index in found {
            // Nobody listens only where the caller hung up this very moment; its end tells the history so.
            let _ = state.calls[index].word.take().map(|word| word.send(Word::Go));
        }
        Ok(())
    }

    /// Ends the calls of a round, or of all rounds, that are still out.
    pub(super) fn abandon(&self, round: Option<u32>) {
        let mut state = self.lock();
        state.finishing |= round.is_none();
        for call in &mut state.calls {
            if round.is_none_or(|round| round == call.round) {
                let _ = call.word.take().map(|word| word.send(Word::Abandon));
            }
        }
    }

    pub(super) fn finishing(&self) -> bool {
        self.lock().finishing
    }

    pub(super) fn effect(&self, call: CallId) {
        let mut state = self.lock();
        let known = state.call_mut(call);
        known.effect = true;
        let round = known.round;
        self.recorder.record(round, Kind::Effect { call });
    }

    /// Records the end of a call, once.
    pub(super) fn end(&self, call: CallId, kind: Kind) {
        let mut state = self.lock();
        let known = state.call_mut(call);
        if known.phase != Phase::Ended {
            known.phase = Phase::Ended;
            let round = known.round;
            self.recorder.record(round, kind);
        }
    }

    pub(super) fn stray(&self, what: String) {
        self.lock().strays.push(what);
    }

    pub(super) fn strays(&self) -> Vec<String> {
        self.lock().strays.clone()
    }

    pub(super) fn look<T>(&self, look: impl FnOnce(&State) -> T) -> T {
        look(&self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Every change is whole before anything that could panic: the data stands even if the lock is poisoned.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// The number of the newest round, 0 before the first.
    pub(super) fn newest(&self) -> u32 {
        self.rounds.last_key_value().map_or(0, |(number, _)| *number)
    }

    pub(super) fn find(&self, round: u32, name: &str) -> Result<(CallId, &Call), DoubleError> {
        self.calls
            .iter()
            .position(|call| call.round == round && call.name == name)
            .map(|index| (index as CallId + 1, &self.calls[index]))
            .ok_or_else(|| DoubleError::NotCalled {
                call: name.to_owned(),
                round,
                seen: self
                    .calls
                    .iter()
                    .filter(|call| call.round == round)
                    .map(|call| call.name.clone())
                    .collect(),
            })
    }

    /// Which round and payload a call belongs to: by the marker that it carries; else by the identity of an earlier call;
    /// else the newest round.
    fn place(&self, heard: &Heard) -> (u32, Option<String>) {
        for (number, round) in self.rounds.iter().rev() {
            if let Some((name, _)) =
                round.markers.iter().find(|(_, marker)| heard.body.contains(marker.as_str()))
            {
                return (*number, Some(name.clone()));
            }
        }
        let known = |call: &&Call| call.identity.is_some() && call.identity == heard.identity;
        let earlier = self.calls.iter().rev().find(known).map(|call| call.round);
        (earlier.unwrap_or_else(|| self.newest()), None)
    }

    fn held(&self, round: u32, name: &str) -> Result<usize, DoubleError> {
        let (call, known) = self.find(round, name)?;
        let why = match known.phase {
            Phase::Held => return Ok(usize::try_from(call - 1).unwrap_or(usize::MAX)),
            Phase::Working => "its rule doesn't hold it; write `reply = \"hold\"`",
            Phase::Released => "it was released before",
            Phase::Ended => "it is over: it was answered, or its caller hung up",
        };
        Err(DoubleError::NotHeld { call: name.to_owned(), round, why })
    }

    fn call_mut(&mut self, call: CallId) -> &mut Call {
        // Numbers are given out by `take` alone, one for each entry.
        &mut self.calls[usize::try_from(call - 1).unwrap_or(usize::MAX)]
    }
}

impl Round {
    /// The rule that takes the next call, and the call's name.
    fn assign(&mut self, provider: &str, payload: Option<&str>) -> (Rule, String) {
        let fits = |rest: bool, (rule, taken): &(Rule, u32)| {
            let script = &rule.script;
            let limit = script.times.unwrap_or(if rest { u32::MAX } else { 1 });
            (script.call == REST) == rest
                && *taken < limit
                && script.provider.as_deref().is_none_or(|name| name == provider)
                && script.payload.as_deref().is_none_or(|name| Some(name) == payload)
        };
        // Two passes, because `rest` may stand anywhere and still takes only what the others leave.
        let place =
            [false, true].into_iter().find_map(|rest| self.rules.iter().position(|rule| fits(rest, rule)));
        let place = place.map(|index| &mut self.rules[index]);
        let rule = place.map_or_else(Rule::succeed, |(rule, taken)| {
            *taken += 1;
            rule.clone()
        });
        let count = self.names.entry(rule.script.call.clone()).or_default();
        *count += 1;
        let name =
            if *count == 1 { rule.script.call.clone() } else { format!("{}.{count}", rule.script.call) };
        (rule, name)
    }
}

/// A reply as scenario files write it.
fn word_of(reply: crate::scenario::Reply) -> String {
    match serde_json::to_value(reply) {
        Ok(serde_json::Value::String(word)) => word,
        _ => format!("{reply:?}"),
    }
}

#[cfg(test)]
#[path = "desk_tests.rs"]
mod tests;
