//! What a client may be told, as a sequential specification, and a history held against it. Nothing here is shared
//! with the laws: it reads the events by itself.

use std::collections::{BTreeMap, BTreeSet};

use onejob::history::{Answer, Event, Kind};
use stateright::semantics::{ConsistencyTester as _, LinearizabilityTester, SequentialSpec};

use super::Says;

/// The job of one (owner, key): made once, for good, unless it is purged.
#[derive(Debug, Clone, Default)]
struct KeyOf {
    job: Option<String>,
    purged: bool,
}

#[derive(Debug, Clone)]
enum KeyOp {
    Submit,
    Look(String),
    Purge,
}

#[derive(Debug, Clone, PartialEq)]
enum KeyRet {
    Job(String),
    NotFound,
    Purged,
}

impl SequentialSpec for KeyOf {
    type Op = KeyOp;
    type Ret = KeyRet;

    fn invoke(&mut self, op: &KeyOp) -> KeyRet {
        match op {
            KeyOp::Purge => {
                self.purged = true;
                KeyRet::Purged
            }
            KeyOp::Submit => self.job.clone().map_or(KeyRet::NotFound, KeyRet::Job),
            KeyOp::Look(job) => KeyRet::Job(job.clone()),
        }
    }

    fn is_valid_step(&mut self, op: &KeyOp, ret: &KeyRet) -> bool {
        match (op, ret) {
            // Whatever id the service chose first is the id.
            (KeyOp::Submit, KeyRet::Job(told)) => self.job.get_or_insert_with(|| told.clone()) == told,
            (KeyOp::Look(job), KeyRet::NotFound) => self.purged || self.job.as_ref() != Some(job),
            _ => false,
        }
    }
}

/// The decision of one job: undecided, then decided, for good. What the decision was comes out answer by answer.
#[derive(Debug, Clone, Default)]
struct Decision {
    fallen: bool,
    told: [Option<String>; 4],
}

#[derive(Debug, Clone)]
enum DecisionOp {
    Complete,
    Read,
}

#[derive(Debug, Clone, PartialEq)]
enum DecisionRet {
    Done,
    Undecided,
    Decided([Option<String>; 4]),
}

impl SequentialSpec for Decision {
    type Op = DecisionOp;
    type Ret = DecisionRet;

    fn invoke(&mut self, op: &DecisionOp) -> DecisionRet {
        match op {
            DecisionOp::Complete => {
                self.fallen = true;
                DecisionRet::Done
            }
            DecisionOp::Read if self.fallen => DecisionRet::Decided(self.told.clone()),
            DecisionOp::Read => DecisionRet::Undecided,
        }
    }

    fn is_valid_step(&mut self, op: &DecisionOp, ret: &DecisionRet) -> bool {
        match (op, ret) {
            (DecisionOp::Read, DecisionRet::Undecided) => !self.fallen,
            (DecisionOp::Read, DecisionRet::Decided(fields)) => {
                let fits = |(known, told): (&mut Option<String>, &Option<String>)| match (&known, told) {
                    (Some(known), Some(told)) => known == told,
                    (None, Some(told)) => {
                        *known = Some(told.clone());
                        true
                    }
                    (_, None) => true,
                };
                self.fallen && self.told.iter_mut().zip(fields).all(fits)
            }
            _ => false,
        }
    }
}

/// Numbers of threads that no request has.
const COMPLETER: u64 = u64::MAX;
const PURGER: u64 = u64::MAX;

/// What is known of a request from the events alone.
struct Asked<'a> {
    owner: &'a str,
    verb: &'a str,
    key: Option<&'a str>,
    about: Option<&'a str>,
    answer: Option<&'a Answer>,
}

impl Asked<'_> {
    fn job(&self) -> Option<&str> {
        self.answer.and_then(|answer| answer.job.as_deref()).or(self.about)
    }

    /// The job that it was told of because of its key.
    fn made(&self) -> Option<&str> {
        let answer = self.answer.filter(|answer| answer.status < 400 && self.verb == "submit")?;
        answer.job.as_deref()
    }
}

/// What the tester says.
pub fn tester(events: &[Event]) -> Says {
    let Ok(asked) = requests(events) else { return Says::Undecidable };
    let intents: BTreeSet<(&str, &str)> = asked
        .values()
        .filter(|one| one.verb == "submit")
        .filter_map(|one| one.key.map(|key| (one.owner, key)))
        .collect();
    let jobs: BTreeSet<&str> = asked.values().filter_map(Asked::made).collect();
    // Linearizability is local: a history is linearizable when each object's part of it is.
    let keys = intents.into_iter().all(|intent| key_is_linearizable(events, &asked, intent));
    if keys && jobs.into_iter().all(|job| decision_is_linearizable(events, &asked, job)) {
        Says::Good
    } else {
        Says::Bad
    }
}

/// The requests by their numbers, found by a tester that holds nothing but them: it refuses what can't be a history.
fn requests(events: &[Event]) -> Result<BTreeMap<u64, Asked<'_>>, String> {
    let mut form = LinearizabilityTester::new(Anything);
    let mut asked: BTreeMap<u64, Asked<'_>> = BTreeMap::new();
    let mut called: BTreeSet<u64> = BTreeSet::new();
    for (place, event) in events.iter().enumerate() {
        if event.seq != place as u64 {
            return Err("a position is missing".to_owned());
        }
        match &event.kind {
            Kind::Sent { request, owner, verb, key, job, .. } => {
                if asked.contains_key(request) {
                    return Err("sent twice".to_owned());
                }
                form.on_invoke(*request, ())?;
                let (key, about) = (key.as_deref(), job.as_deref());
                asked.insert(*request, Asked { owner, verb, key, about, answer: None });
            }
            Kind::Answered { request, answer } => {
                form.on_return(*request, ())?;
                if let Some(one) = asked.get_mut(request) {
                    one.answer = Some(answer);
                }
            }
            Kind::Called { call, .. } if !called.insert(*call) => return Err("called twice".to_owned()),
            Kind::Effect { call }
            | Kind::Released { call }
            | Kind::Replied { call, .. }
            | Kind::CallEnded { call, .. }
                if !called.contains(call) =>
            {
                return Err("a call that never came".to_owned());
            }
            _ => {}
        }
    }
    Ok(asked)
}

/// An object that allows everything.
#[derive(Debug, Clone)]
struct Anything;

impl SequentialSpec for Anything {
    type Op = ();
    type Ret = ();

    fn invoke(&mut self, (): &()) {}
}

fn key_is_linearizable(events: &[Event], asked: &BTreeMap<u64, Asked<'_>>, intent: (&str, &str)) -> bool {
    let made: BTreeSet<&str> = asked
        .values()
        .filter(|one| (Some(one.owner), one.key) == (Some(intent.0), Some(intent.1)))
        .filter_map(Asked::made)
        .collect();
    let step = |one: &Asked<'_>| -> Option<(KeyOp, KeyRet)> {
        let status = one.answer?.status;
        match one.verb {
            "submit" if (one.owner, one.key) == (intent.0, Some(intent.1)) => {
                Some((KeyOp::Submit, KeyRet::Job(one.made()?.to_owned())))
            }
            "read" if status == 404 && one.owner == intent.0 => {
                let about = one.about.filter(|job| made.contains(job))?;
                Some((KeyOp::Look(about.to_owned()), KeyRet::NotFound))
            }
            _ => None,
        }
    };
    let mut tester = LinearizabilityTester::new(KeyOf::default());
    let of_intent = |one: &&Asked<'_>| (one.owner, one.key) == (intent.0, Some(intent.1));
    if asked.values().filter(of_intent).any(|one| one.answer.is_some_and(|answer| answer.status == 410)) {
        tester.on_invoke(PURGER, KeyOp::Purge).expect("nobody else is the purger");
    }
    run(&mut tester, events, asked, step, |_| None)
}

fn decision_is_linearizable(events: &[Event], asked: &BTreeMap<u64, Asked<'_>>, job: &str) -> bool {
    let step = |one: &Asked<'_>| -> Option<(DecisionOp, DecisionRet)> {
        let answer = one.answer.filter(|_| one.job() == Some(job))?;
        let ret = match answer.state.as_deref()? {
            "succeeded" | "failed" | "cancelled" => {
                let fields = [&answer.state, &answer.winner, &answer.result, &answer.version];
                DecisionRet::Decided(fields.map(Clone::clone))
            }
            _ => DecisionRet::Undecided,
        };
        Some((DecisionOp::Read, ret))
    };
    // The decision can't fall before the call that brings it was let go, where the double held it.
    let winner = asked.values().filter_map(|one| match step(one)? {
        (_, DecisionRet::Decided([_, winner, ..])) => winner,
        _ => None,
    });
    let winners: BTreeSet<String> = winner.collect();
    let winning = events.iter().find_map(|event| match &event.kind {
        Kind::Called { call, identity, attempt: Some(attempt), .. }
            if identity.as_deref() == Some(job) && winners.contains(attempt) =>
        {
            Some(*call)
        }
        _ => None,
    });
    let lets_go = |kind: &Kind| matches!(kind, Kind::Released { call } if Some(*call) == winning);
    let last = events.iter().rev().find(|event| lets_go(&event.kind)).map(|event| event.seq);
    let mut tester = LinearizabilityTester::new(Decision::default());
    if last.is_none() {
        tester.on_invoke(COMPLETER, DecisionOp::Complete).expect("nobody else is the completer");
    }
    run(&mut tester, events, asked, step, |event| {
        (Some(event.seq) == last).then_some((COMPLETER, DecisionOp::Complete))
    })
}

/// Tells the tester what happened to one object, in order.
fn run<Spec: SequentialSpec + Clone>(
    tester: &mut LinearizabilityTester<u64, Spec>,
    events: &[Event],
    asked: &BTreeMap<u64, Asked<'_>>,
    step: impl Fn(&Asked<'_>) -> Option<(Spec::Op, Spec::Ret)>,
    besides: impl Fn(&Event) -> Option<(u64, Spec::Op)>,
) -> bool
where
    Spec::Op: Clone + std::fmt::Debug,
    Spec::Ret: Clone + std::fmt::Debug,
{
    for event in events {
        if let Some((thread, op)) = besides(event) {
            tester.on_invoke(thread, op).expect("once");
        }
        match &event.kind {
            Kind::Sent { request, .. } => {
                if let Some((op, _)) = step(&asked[request]) {
                    tester.on_invoke(*request, op).expect("each request is sent once");
                }
            }
            Kind::Answered { request, .. } => {
                if let Some((_, ret)) = step(&asked[request]) {
                    tester.on_return(*request, ret).expect("each request is answered once");
                }
            }
            _ => {}
        }
    }
    tester.is_consistent()
}
