//! Moves about keys: new intents, duplicates, and what only looks like one.

use super::{
    belief::{Job, Sure},
    draft::Draft,
    moves::{Ambiguity, Entry, Looker, Manner, Other, Submit, Twin},
};
use crate::scenario::{Capability, Check, Span, Step, Until, Verb, Way};

/// Jobs in one plan. More would say little that fewer don't.
const MOST_JOBS: usize = 2;
/// A payload with the same meaning as the plain one and other bytes.
const RESPELLED: &str = "{  \"text\"  :  \"{marker}\"  }";

impl Draft<'_> {
    pub(super) fn submit(&mut self, submit: &Submit) -> bool {
        let allowed = match submit.by {
            Entry::Plain => true,
            Entry::Batch => self.can(Capability::Batch),
            Entry::Scheduled => self.can(Capability::Schedule),
        };
        if self.jobs.len() >= MOST_JOBS || !allowed || submit.race && !self.can(Capability::Race) {
            return false;
        }
        let (key, payload) = (self.fresh_key(), self.fresh_payload());
        if submit.invalid_first && self.ability.reference {
            let (_, mut step) = self.named("invalid", Verb::Submit);
            step.with.key = Some(key.clone());
            step.with.body_raw = Some("{\"kind\": ".to_owned());
            let step = self.expecting(step, Self::refused());
            self.steps.push(step);
        }
        let (id, mut step) = self.named("submit", Verb::Submit);
        step.with.key = Some(key.clone());
        step.with.payload = Some(payload.clone());
        step.with.race = submit.race;
        enter(&mut step, submit.by);
        if submit.times > 1 {
            step.times = Some(submit.times);
            step.together = true;
        }
        self.steps.push(step);
        self.jobs.push(Job {
            step: id,
            key,
            payload,
            by: submit.by,
            race: submit.race,
            sure: Sure::Nothing,
            out: Vec::new(),
            stale: Vec::new(),
            attempts: 0,
            cancel_noted: false,
            licences: 0,
        });
        let job = self.jobs.len() - 1;
        if submit.by == Entry::Scheduled {
            self.jobs[job].sure = Sure::Scheduled;
        } else if self.can(Capability::Provider) {
            let manners = if submit.then.is_empty() { vec![Manner::Succeed] } else { submit.then.clone() };
            let calls = self.calls(job, &manners);
            self.jobs[job].goes_out(calls);
        }
        if std::mem::take(&mut self.lost) {
            // Whoever got no answer asks again, and learns from the second one which job is his. Both go by the same
            // door, since another one would lose an answer too.
            if let Some(step) = self.steps.last_mut() {
                step.with.replica = Some(1);
            }
            let mut step = self.same_request(job, "again");
            step.with.replica = Some(1);
            self.jobs[job].step = step.id.clone().unwrap_or_default();
            self.steps.push(step);
        }
        if self.broken && (!self.jobs[job].becomes_unknown() || std::mem::take(&mut self.cut)) {
            self.jobs[job].sure = Sure::Nothing;
        }
        true
    }

    pub(super) fn again(&mut self, job: usize, times: u32, together: bool, by: Entry) -> bool {
        let Some(known) = self.job(job) else { return false };
        // Another way in is another route, and thereby another intent, unless the first came by it too.
        if by != known.by {
            return false;
        }
        let mut step = self.same_request(job, "again");
        if times > 1 {
            step.times = Some(times);
            step.together = together;
        }
        let check = self.same_job(job);
        let step = self.expecting(step, check);
        self.steps.push(step);
        true
    }

    pub(super) fn same_request(&mut self, job: usize, word: &'static str) -> Step {
        let mut step = self.about(word, Verb::Submit, job);
        let known = &self.jobs[job];
        step.with.key = Some(known.key.clone());
        step.with.payload = Some(known.payload.clone());
        step.with.race = known.race;
        enter(&mut step, known.by);
        step
    }

    fn same_job(&self, job: usize) -> Check {
        Check { same: vec!["job".to_owned()], than: Some(self.jobs[job].step.clone()), ..Check::default() }
    }

    fn other_job(&self, job: usize) -> Check {
        Check { differ: vec!["job".to_owned()], than: Some(self.jobs[job].step.clone()), ..Check::default() }
    }

    pub(super) fn respelled(&mut self, job: usize) -> bool {
        let Some(known) = self.job(job) else { return false };
        if known.by == Entry::Batch || !self.ability.reference {
            return false;
        }
        let mut step = self.same_request(job, "respelled");
        step.with.payload_text = Some(RESPELLED.to_owned());
        let check = Check { refused: Some(false), ..self.same_job(job) };
        let step = self.expecting(step, check);
        self.steps.push(step);
        true
    }

    pub(super) fn conflict(&mut self, job: usize, how: Other) -> bool {
        let Some(known) = self.job(job) else { return false };
        if known.by != Entry::Plain || how == Other::Query && !self.ability.reference {
            return false;
        }
        let mut step = self.same_request(job, "conflict");
        match how {
            Other::Payload => step.with.payload = Some(self.fresh_payload()),
            Other::Query => step.with.query = Some("warehouse=1".to_owned()),
        }
        let check = Check { never: vec!["result".to_owned()], ..Self::refused() };
        let step = self.expecting(step, check);
        self.steps.push(step);
        true
    }

    pub(super) fn twin(&mut self, job: usize, how: Twin) -> bool {
        let Some(known) = self.job(job) else { return false };
        if known.by == Entry::Batch || known.by == Entry::Scheduled {
            return false;
        }
        let key = known.key.clone();
        let payload = self.fresh_payload();
        let (_, mut step) = self.named("twin", Verb::Submit);
        step.with.payload = Some(payload);
        match how {
            Twin::Owner => {
                let Some(other) = self.ability.owners.get(1) else { return false };
                step.with.owner = Some(other.clone());
                step.with.key = Some(key);
            }
            Twin::LetterCase => step.with.key = Some(key.to_lowercase()),
        }
        let check = self.other_job(job);
        let step = self.expecting(step, check);
        self.steps.push(step);
        true
    }

    pub(super) fn ambiguous(&mut self, how: Ambiguity) -> bool {
        if !self.ability.reference {
            return false;
        }
        let (key, payload) = (self.fresh_key(), self.fresh_payload());
        let (_, mut step) = self.named("ambiguous", Verb::Submit);
        step.with.key = Some(key);
        step.with.payload = Some(payload);
        step.with.payload_text = Some(
            match how {
                Ambiguity::BigNumber => "{\"text\": \"{marker}\", \"amount\": 9007199254740993}",
                Ambiguity::MemberTwice => "{\"text\": \"{marker}\", \"amount\": 1, \"amount\": 100}",
            }
            .to_owned(),
        );
        let step = self.expecting(step, Self::refused());
        self.steps.push(step);
        true
    }

    pub(super) fn read(&mut self, job: usize, by: Looker) -> bool {
        if self.job(job).is_none() || !self.can(Capability::Read) {
            return false;
        }
        let mut step = self.about("read", Verb::Read, job);
        let check = match by {
            Looker::Stranger => {
                let Some(other) = self.ability.owners.get(1) else { return false };
                step.with.owner = Some(other.clone());
                Some(Self::refused())
            }
            Looker::SecondReplica if !self.can(Capability::Replicas) => return false,
            Looker::Owner | Looker::SecondReplica => {
                if by == Looker::SecondReplica {
                    step.with.replica = Some(2);
                }
                state_of(self.jobs[job].sure)
            }
        };
        let step = match check {
            Some(check) => self.expecting(step, check),
            None => step,
        };
        self.steps.push(step);
        true
    }

    pub(super) fn lookup(&mut self, job: usize) -> bool {
        if self.job(job).is_none() || !self.can(Capability::Lookup) {
            return false;
        }
        let (_, mut step) = self.named("lookup", Verb::Lookup);
        step.with.key = Some(self.jobs[job].key.clone());
        let check = self.same_job(job);
        let step = self.expecting(step, check);
        self.steps.push(step);
        true
    }

    pub(super) fn settle(&mut self, job: usize) -> bool {
        if !self.job(job).is_some_and(Job::becomes_unknown) || !self.can(Capability::Read) {
            return false;
        }
        let step = self.about("limbo", Verb::Read, job);
        self.steps.push(Self::waiting(Until::Unknown, step));
        self.set(job, Sure::Unknown);
        true
    }

    pub(super) fn overdue(&mut self, job: usize) -> bool {
        let known = self.job(job).is_some_and(|job| job.sure == Sure::Unknown);
        if !known || !self.ability.reference || self.broken {
            return false;
        }
        let step = self.about("overdue", Verb::Read, job);
        let check = Check { state: vec!["unknown".to_owned()], ..Check::default() };
        let step = self.expecting(step, check);
        self.steps.push(Self::waiting(Until::Attention, step));
        true
    }

    pub(super) fn finish(&mut self, job: usize) -> bool {
        let Some(Sure::Coming(state)) = self.job(job).map(|job| job.sure) else { return false };
        if !self.can(Capability::Read) || self.broken {
            return false;
        }
        let until = match state {
            "succeeded" => Until::Succeeded,
            "failed" => Until::Failed,
            _ => Until::Terminal,
        };
        let step = self.about("end", Verb::Read, job);
        self.steps.push(Self::waiting(until, step));
        self.set(job, Sure::Decided(state));
        true
    }
}

/// What a job may be told to be.
fn state_of(sure: Sure) -> Option<Check> {
    let states: &[&str] = match sure {
        Sure::Scheduled | Sure::Parked => &["accepted"],
        Sure::Undecided => &["accepted", "running", "unknown"],
        Sure::Unknown => &["unknown"],
        Sure::Decided("terminal") => &["terminal"],
        Sure::Decided(state) => return Some(in_states(&[state])),
        Sure::Coming(_) | Sure::Nothing => return None,
    };
    Some(in_states(states))
}

fn in_states(states: &[&str]) -> Check {
    Check { state: states.iter().map(|state| (*state).to_owned()).collect(), ..Check::default() }
}

fn enter(step: &mut Step, by: Entry) {
    match by {
        Entry::Plain => {}
        Entry::Batch => step.with.through = Some(Way::Batch),
        Entry::Scheduled => {
            step.with.through = Some(Way::Schedule);
            step.with.run_in = Some(Span(std::time::Duration::from_mins(1)));
        }
    }
}
