//! Moves about attempts: retries, cancels, evidence, and when the provider's answers come home.

use super::{
    belief::Sure,
    draft::Draft,
    moves::{Manner, Nature, Outcome, Precondition, Signed},
};
use crate::scenario::{Capability, Signature, Step, Verb};

impl Draft<'_> {
    pub(super) fn retry(&mut self, job: usize, fallback: bool, then: Manner) -> bool {
        let Some(known) = self.job(job) else { return false };
        if !self.can(Capability::Attempts) || known.attempts >= 3 {
            return false;
        }
        let (race, sure) = (known.race, known.sure);
        let mut step = self.about("retry", Verb::Retry, job);
        step.after = self.arrived(job);
        if fallback && self.can(Capability::Fallback) {
            step.with.provider = Some("fallback".to_owned());
        }
        match sure {
            Sure::Parked => {
                let step = self.expecting(step, Self::accepted_check());
                self.steps.push(step);
                self.one_more(job, then);
            }
            Sure::Undecided if race => {
                let step = self.expecting(step, Self::accepted_check());
                self.steps.push(step);
                self.jobs[job].licences += 1;
                self.one_more(job, then);
            }
            Sure::Undecided | Sure::Unknown if !race => {
                let step = self.expecting(step, Self::refused());
                self.steps.push(step);
            }
            Sure::Decided(_) => {
                let step = self.expecting(Step { after: Vec::new(), ..step }, Self::refused());
                self.steps.push(step);
            }
            _ => {
                if race {
                    self.jobs[job].licences += 1;
                }
                self.steps.push(Step { after: Vec::new(), ..step });
                self.set(job, Sure::Nothing);
            }
        }
        true
    }

    fn one_more(&mut self, job: usize, then: Manner) {
        let manners = [then, Manner::Succeed];
        let calls = self.calls(job, &manners);
        self.jobs[job].goes_out(calls);
        if self.broken {
            self.jobs[job].sure = Sure::Nothing;
        }
    }

    pub(super) fn cancel(&mut self, job: usize, accept: bool, version: Precondition) -> bool {
        let Some(known) = self.job(job) else { return false };
        if !self.can(Capability::Cancel) || version == Precondition::Missing && !self.ability.reference {
            return false;
        }
        let sure = known.sure;
        let noted = known.cancel_noted;
        let mut step = self.about("cancel", Verb::Cancel, job);
        step.with.accept_unknown = accept;
        if version == Precondition::Missing {
            // A wish to cancel needs no version; it is only tied to one where the client wants that.
            step.with.version = Some("none".to_owned());
        }
        if accept {
            self.accepted = true;
        }
        let reference = self.ability.reference;
        let (check, after) = match sure {
            Sure::Scheduled | Sure::Parked if reference => {
                (Some(Self::accepted_check()), Sure::Decided("cancelled"))
            }
            Sure::Unknown if !accept && reference => (Some(Self::refused()), Sure::Unknown),
            Sure::Unknown if reference => (Some(Self::accepted_check()), Sure::Decided("cancelled")),
            Sure::Decided("succeeded" | "failed") => (Some(Self::refused()), sure),
            Sure::Decided(_) => (None, sure),
            Sure::Undecided if !accept && reference && !self.jobs[job].out.is_empty() => {
                step.after = self.arrived(job);
                self.jobs[job].cancel_noted = true;
                (None, Sure::Undecided)
            }
            _ => {
                self.jobs[job].cancel_noted = true;
                (None, Sure::Nothing)
            }
        };
        if sure == Sure::Parked {
            // What was given up may have had its effect.
            self.accepted = true;
        }
        let step = match check {
            Some(check) if !noted => self.expecting(step, check),
            _ => step,
        };
        self.steps.push(step);
        self.set(job, after);
        true
    }

    pub(super) fn give_up(&mut self, job: usize) -> bool {
        let Some(known) = self.job(job) else { return false };
        if known.sure != Sure::Unknown || known.race || !self.can(Capability::CancelAttempt) {
            return false;
        }
        let (noted, attempt) = (known.cancel_noted, known.attempts);
        let mut step = self.about("give-up", Verb::CancelAttempt, job);
        step.with.attempt = Some(attempt);
        step.with.evidence = Some("nobody answers the telephone".to_owned());
        let step = self.expecting(step, Self::accepted_check());
        self.steps.push(step);
        self.accepted = true;
        self.ends_from_outside(job);
        self.set(job, if noted { Sure::Nothing } else { Sure::Parked });
        true
    }

    /// Whatever is out comes too late from here on.
    fn ends_from_outside(&mut self, job: usize) {
        let known = &mut self.jobs[job];
        known.licences += 1;
        let out = std::mem::take(&mut known.out);
        known.stale.extend(out.into_iter().filter(|call| call.manner.nature() == Nature::Held));
    }

    pub(super) fn resolve(&mut self, job: usize, outcome: Outcome) -> bool {
        let Some(known) = self.job(job) else { return false };
        if known.sure != Sure::Unknown || known.race || !self.can(Capability::Resolve) {
            return false;
        }
        let attempt = known.attempts;
        let noted = known.cancel_noted;
        let mut step = self.about("resolve", Verb::Resolve, job);
        step.with.attempt = Some(attempt);
        step.with.evidence = Some("the provider's books".to_owned());
        let (word, after) = match outcome {
            Outcome::Succeeded => ("succeeded", Sure::Decided("succeeded")),
            Outcome::Failed => ("failed", Sure::Decided("failed")),
            Outcome::NotExecuted => ("not_executed", Sure::Nothing),
        };
        step.with.outcome = Some(word.to_owned());
        let step = self.expecting(step, Self::accepted_check());
        self.steps.push(step);
        self.told = true;
        self.accepted = true;
        self.ends_from_outside(job);
        self.set(job, if noted || !self.ability.reference { Sure::Nothing } else { after });
        true
    }

    pub(super) fn release(&mut self, job: usize, stale: bool) -> bool {
        let Some(known) = self.job(job) else { return false };
        let from = if stale { &known.stale } else { &known.out };
        let Some(at) = from.iter().position(|call| call.manner.nature() == Nature::Held) else {
            return false;
        };
        if !self.can(Capability::Provider) || self.broken {
            return false;
        }
        let known = &mut self.jobs[job];
        let call = if stale { known.stale.remove(at) } else { known.out.remove(at) };
        let (_, step) = self.named("release", Verb::Release);
        let arrived = format!("{}.arrived", call.name);
        self.steps.push(Step { call: Some(call.name.clone()), after: vec![arrived], ..step });
        if !stale {
            self.comes_home(job, &[call.manner]);
        }
        true
    }

    /// Held answers were let go.
    fn comes_home(&mut self, job: usize, manners: &[Manner]) {
        let known = &self.jobs[job];
        let all = |manner: Manner| manners.iter().all(|other| *other == manner);
        let others = !known.out.is_empty();
        let after = match known.sure {
            Sure::Undecided | Sure::Unknown if all(Manner::Hold) => Sure::Coming("succeeded"),
            Sure::Undecided | Sure::Unknown if all(Manner::HoldFail) && !others => {
                Sure::Coming(if known.cancel_noted { "terminal" } else { "failed" })
            }
            // The first word counts: a job that was decided stays so.
            decided @ (Sure::Decided(_) | Sure::Coming(_)) => decided,
            _ => Sure::Nothing,
        };
        self.set(job, after);
    }

    pub(super) fn release_all(&mut self, job: usize, reverse: bool, at_once: bool) -> bool {
        if self.job(job).is_none_or(|job| job.held().count() < 2)
            || !self.can(Capability::Provider)
            || self.broken
        {
            return false;
        }
        let mut names: Vec<String> = self.jobs[job].held().map(|call| call.name.clone()).collect();
        names.sort();
        if reverse {
            names.reverse();
        }
        let known = &mut self.jobs[job];
        let held = |call: &super::belief::Call| call.manner.nature() == Nature::Held;
        let manners: Vec<Manner> =
            known.out.iter().filter(|call| held(call)).map(|call| call.manner).collect();
        known.out.retain(|call| !held(call));
        known.stale.clear();
        let (_, step) = self.named("release", Verb::Release);
        self.steps.push(Step {
            after: names.iter().map(|name| format!("{name}.arrived")).collect(),
            order: Some(names.join(if at_once { "+" } else { " " })),
            calls: names,
            ..step
        });
        if !manners.is_empty() {
            self.comes_home(job, &manners);
        }
        true
    }

    pub(super) fn deliver(&mut self, job: usize, times: u32, together: bool, signed: Signed) -> bool {
        let Some(known) = self.job(job) else { return false };
        let promised = known.out.iter().find(|call| call.manner == Manner::Accept);
        let Some(name) = promised.map(|call| call.name.clone()) else { return false };
        if !self.can(Capability::Callbacks) {
            return false;
        }
        let (_, step) = self.named("deliver", Verb::Deliver);
        let mut step = Step { call: Some(name.clone()), after: vec![format!("{name}.arrived")], ..step };
        if times > 1 {
            step.times = Some(times);
            step.together = together;
        }
        let signature = match signed {
            Signed::Properly => None,
            Signed::NotAtAll => Some(Signature::None),
            Signed::Forged => Some(Signature::Forged),
            Signed::LongAgo => Some(Signature::Old),
        };
        step.with.signature = signature;
        if signature.is_some() {
            let step = self.expecting(step, Self::refused());
            self.steps.push(step);
            return true;
        }
        self.steps.push(step);
        let after = match self.jobs[job].sure {
            Sure::Undecided | Sure::Unknown => Sure::Coming("succeeded"),
            decided @ (Sure::Decided(_) | Sure::Coming(_)) => decided,
            _ => Sure::Nothing,
        };
        self.set(job, after);
        true
    }
}
