//! Moves that break something. Afterwards nothing is expected of single answers any more; the laws hold all the same.

use super::{
    belief::{Job, Sure},
    draft::Draft,
    moves::{Nature, Trouble},
};
use crate::scenario::{Capability, Step, Verb};

impl Draft<'_> {
    pub(super) fn break_something(&mut self, what: Trouble) -> bool {
        // One trouble is enough to find out what it does, and a world of its own is dear.
        if self.troubles > 0 || !self.allows(what) {
            return false;
        }
        self.troubles += 1;
        let arrived: Vec<String> = (0..self.jobs.len()).flat_map(|job| self.arrived_for_sure(job)).collect();
        match what {
            Trouble::Crash => self.fault("crash", &[], Some(1), arrived),
            Trouble::Restart => self.fault("restart", &[], Some(1), Vec::new()),
            Trouble::Pause => {
                self.fault("stop", &[], Some(1), arrived);
                // Somebody else answers meanwhile. What the sleeper has locked stays locked, so nothing is waited for.
                for act in [Verb::Submit, Verb::Read] {
                    let mut step = if act == Verb::Submit {
                        self.same_request(0, "again")
                    } else {
                        self.about("read", Verb::Read, 0)
                    };
                    step.with.replica = Some(2);
                    self.steps.push(step);
                }
                let (_, step) = self.named("heal", Verb::Heal);
                self.steps.push(Step { fault: Some("stop".to_owned()), ..step });
            }
            Trouble::Database => self.fault("database-terminate", &[], None, arrived),
            Trouble::Answer => {
                self.lost = true;
                self.fault("client-drop-answer", &[("path", "/")], None, Vec::new());
            }
            Trouble::Provider => {
                self.cut = true;
                let how = [("bytes", "20"), ("to", "service"), ("ending", "reset")];
                self.fault("provider-cut", &how, None, Vec::new());
            }
        }
        self.broken = true;
        for job in &mut self.jobs {
            if !job.becomes_unknown() && job.sure != Sure::Unknown {
                job.sure = Sure::Nothing;
            }
        }
        true
    }

    fn allows(&self, what: Trouble) -> bool {
        let waits = |job: &Job| job.out.iter().any(|call| call.manner.nature() != Nature::Done);
        match what {
            Trouble::Crash => self.can(Capability::Process) && !self.jobs.is_empty(),
            // A service that drains waits for what is out, and so would the plan.
            Trouble::Restart => {
                self.can(Capability::Process) && !self.jobs.is_empty() && !self.jobs.iter().any(waits)
            }
            Trouble::Pause => {
                self.can(Capability::Process) && self.can(Capability::Replicas) && !self.jobs.is_empty()
            }
            Trouble::Database => self.can(Capability::Database) && !self.jobs.is_empty(),
            Trouble::Answer => self.jobs.is_empty(),
            Trouble::Provider => self.jobs.is_empty() && self.can(Capability::Provider),
        }
    }

    /// A trouble in the middle of a call, where there is one that stays out.
    fn arrived_for_sure(&self, job: usize) -> Vec<String> {
        if self.jobs[job].becomes_unknown() { self.arrived(job) } else { Vec::new() }
    }

    fn fault(&mut self, name: &str, how: &[(&str, &str)], replica: Option<u32>, after: Vec<String>) {
        let (_, step) = self.named("break", Verb::Fault);
        let mut step = Step { fault: Some(name.to_owned()), after, ..step };
        step.with.replica = replica;
        step.with.fault = how.iter().map(|(word, value)| ((*word).to_owned(), (*value).to_owned())).collect();
        self.steps.push(step);
    }
}
