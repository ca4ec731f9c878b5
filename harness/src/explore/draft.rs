//! Turns moves into a scenario. A move that makes no sense where it stands is left out, so any part of a plan's moves is
//! a plan again: this is what makes shrinking safe.

use std::collections::BTreeMap;

use super::{
    ability::Ability,
    belief::{Call, Job, Sure},
    moves::{Manner, Move, Nature},
};
use crate::scenario::{
    Bounds, Capability, Check, Invariants, Per, Reply, Scenario, Script, Setup, Span, Step, Verb, Witnesses,
};

/// The most that a step may wait for what is sure to come. Far more than it takes, since a machine may be busy.
const PATIENCE: Span = Span(std::time::Duration::from_secs(12));

/// A scenario in the making.
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent facts, each of which forbids something of its own"
)]
pub(super) struct Draft<'a> {
    pub(super) ability: &'a Ability,
    pub(super) jobs: Vec<Job>,
    pub(super) steps: Vec<Step>,
    pub(super) rules: Vec<Script>,
    /// Something broke, so answers may be lost and nothing is expected of them any more.
    pub(super) broken: bool,
    /// A restarted service has lost its calls.
    pub(super) troubles: u32,
    /// The next answer to a client is lost.
    pub(super) lost: bool,
    /// The next connection to the provider is cut.
    pub(super) cut: bool,
    /// An operator has told an outcome, which need not be what the provider says.
    pub(super) told: bool,
    /// Somebody accepted that a cancelled job may have had its effect, or took it upon himself that it had none.
    pub(super) accepted: bool,
    keys: u32,
    payloads: u32,
    names: BTreeMap<&'static str, u32>,
}

impl<'a> Draft<'a> {
    #[must_use]
    pub(super) fn new(ability: &'a Ability) -> Self {
        Self {
            ability,
            jobs: Vec::new(),
            steps: Vec::new(),
            rules: Vec::new(),
            broken: false,
            troubles: 0,
            lost: false,
            cut: false,
            told: false,
            accepted: false,
            keys: 0,
            payloads: 0,
            names: BTreeMap::new(),
        }
    }

    /// Adds a move; false where it makes no sense here.
    pub(super) fn add(&mut self, what: &Move) -> bool {
        match what {
            Move::Submit(submit) => self.submit(submit),
            Move::Again { job, times, together, by } => self.again(*job, *times, *together, *by),
            Move::Respelled { job } => self.respelled(*job),
            Move::Conflict { job, how } => self.conflict(*job, *how),
            Move::Twin { job, how } => self.twin(*job, *how),
            Move::Ambiguous { how } => self.ambiguous(*how),
            Move::Read { job, by } => self.read(*job, *by),
            Move::Lookup { job } => self.lookup(*job),
            Move::Settle { job } => self.settle(*job),
            Move::Overdue { job } => self.overdue(*job),
            Move::Finish { job } => self.finish(*job),
            Move::Retry { job, fallback, then } => self.retry(*job, *fallback, *then),
            Move::Cancel { job, accept, match_ } => self.cancel(*job, *accept, *match_),
            Move::GiveUp { job } => self.give_up(*job),
            Move::Resolve { job, outcome } => self.resolve(*job, *outcome),
            Move::Release { job, stale } => self.release(*job, *stale),
            Move::ReleaseAll { job, reverse, at_once } => self.release_all(*job, *reverse, *at_once),
            Move::Deliver { job, times, together, signed } => self.deliver(*job, *times, *together, *signed),
            Move::Break { what } => self.break_something(*what),
        }
    }

    pub(super) fn can(&self, capability: Capability) -> bool {
        self.ability.can(capability)
    }

    pub(super) fn fresh_key(&mut self) -> String {
        self.keys += 1;
        format!("K{}", self.keys)
    }

    pub(super) fn fresh_payload(&mut self) -> String {
        self.payloads += 1;
        format!("P{}", self.payloads)
    }

    /// A step with a name that nothing else has.
    pub(super) fn named(&mut self, word: &'static str, act: Verb) -> (String, Step) {
        let count = self.names.entry(word).or_default();
        *count += 1;
        let id = if *count == 1 { word.to_owned() } else { format!("{word}-{count}") };
        (id.clone(), Step { id: Some(id), ..Step::new(act) })
    }

    /// A step about a job.
    pub(super) fn about(&mut self, word: &'static str, act: Verb, job: usize) -> Step {
        let (_, step) = self.named(word, act);
        let of = &self.jobs[job];
        let mut step = Step { job: Some(of.step.clone()), ..step };
        if act == Verb::Submit {
            step.job = None;
        }
        step
    }

    /// What an answer must be, where nothing has broken that would excuse it.
    pub(super) fn expecting(&self, step: Step, check: Check) -> Step {
        if self.broken { step } else { Step { expect: Some(check), ..step } }
    }

    pub(super) fn refused() -> Check {
        Check { refused: Some(true), ..Check::default() }
    }

    pub(super) fn accepted_check() -> Check {
        Check { refused: Some(false), ..Check::default() }
    }

    pub(super) fn waiting(until: crate::scenario::Until, step: Step) -> Step {
        Step { until: Some(until), within: Some(PATIENCE), ..step }
    }

    /// Adds rules for the calls of a job's next attempts; those that fail for now are followed by the next.
    pub(super) fn calls(&mut self, job: usize, manners: &[Manner]) -> Vec<Call> {
        const LETTERS: [&str; 3] = ["A", "B", "C"];
        let payload = self.jobs[job].payload.clone();
        let mut calls = Vec::new();
        for manner in manners {
            let number = self.jobs[job].attempts as usize + calls.len();
            let attempt = u32::try_from(number + 1).unwrap_or(u32::MAX);
            let Some(letter) = LETTERS.get(number) else { break };
            let name = if job == 0 { (*letter).to_owned() } else { format!("{letter}{}", job + 1) };
            self.rules.push(rule(&name, *manner, &payload));
            calls.push(Call { name, manner: *manner, attempt });
            if manner.nature() != Nature::Next {
                break;
            }
        }
        calls
    }

    /// The condition that a job's newest call has arrived.
    pub(super) fn arrived(&self, job: usize) -> Vec<String> {
        self.jobs[job].newest().map(|call| format!("{}.arrived", call.name)).into_iter().collect()
    }

    /// The scenario, with every law that holds for it.
    #[must_use]
    pub(super) fn scenario(&self, id: String) -> Scenario {
        let licences = self.jobs.iter().map(|job| job.licences).max().unwrap_or(0);
        let provider = self.can(Capability::Provider);
        let bounded = |max| Bounds { max: Some(max), ..Bounds::default() };
        let first = self.jobs.first().map(|job| job.step.clone()).unwrap_or_default();
        Scenario {
            id,
            title: String::from("A plan made by chance"),
            why: String::from("Nobody thought of it."),
            tags: vec![String::from("explored")],
            covers: Vec::new(),
            requires: Vec::new(),
            kills: Vec::new(),
            rounds: 1,
            within: Span(PATIENCE.0 * 2),
            exclusive: None,
            on_request: false,
            sweep: None,
            matrix: BTreeMap::new(),
            without: Vec::new(),
            derive: Vec::new(),
            setup: Setup::default(),
            settings: self.ability.settings(self.troubles > 0),
            provider: self.rules.clone(),
            step: self.steps.clone(),
            invariants: Invariants {
                effects: (provider && licences > 0).then(|| bounded(u64::from(1 + licences))),
                winners: Some(Bounds { per: Per::Job, ..bounded(1) }),
                result_of_winner: !self.told,
                decided_once: !self.told,
                cancelled_had_no_effect: provider && !self.accepted,
                // Where an answer was lost, a job may be nobody's that we know of.
                identity: provider && self.troubles == 0,
                ..Invariants::default()
            },
            witness: Witnesses { answered: vec![first], ..Witnesses::default() },
        }
    }

    pub(super) fn job(&self, job: usize) -> Option<&Job> {
        self.jobs.get(job)
    }

    pub(super) fn set(&mut self, job: usize, sure: Sure) {
        self.jobs[job].sure = if self.broken && !matches!(sure, Sure::Unknown | Sure::Undecided) {
            Sure::Nothing
        } else {
            sure
        };
    }
}

fn rule(name: &str, manner: Manner, payload: &str) -> Script {
    let (reply, status) = match manner {
        Manner::Succeed => (Reply::Succeed, None),
        Manner::Slow => (Reply::Slow, None),
        Manner::Fail => (Reply::Fail, None),
        Manner::FailForNow => (Reply::Fail, Some(429)),
        Manner::Hold => (Reply::Hold, None),
        Manner::HoldFail => (Reply::HoldFail, None),
        Manner::Swallow => (Reply::Swallow, None),
        Manner::Stall => (Reply::Stall, None),
        Manner::Reset => (Reply::Reset, None),
        Manner::Truncate => (Reply::Truncate, None),
        Manner::Garbage => (Reply::Garbage, None),
        Manner::EffectThenError => (Reply::EffectThenError, Some(500)),
        Manner::ServerError => (Reply::Status, Some(502)),
        Manner::Accept => (Reply::Accept, None),
        Manner::Duplicate => (Reply::Duplicate, None),
    };
    Script {
        call: name.to_owned(),
        reply,
        times: None,
        provider: None,
        payload: Some(payload.to_owned()),
        answer: None,
        status,
        headers: BTreeMap::new(),
        delay: (manner == Manner::Slow).then_some(Span(std::time::Duration::from_millis(400))),
        probe: None,
    }
}
