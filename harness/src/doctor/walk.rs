//! The walk itself: one world, one step after the other.

use std::time::Instant;

use serde::Serialize;

use super::{
    check::Check,
    cost::Coverage,
    finding::{Finding, Standing},
    judge::{Seen, judge, leak},
    profiles::{self, Observed},
};
use crate::{
    engine::{Grounds, Stage, reached},
    fail::{Code, Fault},
    history::Event,
    law::View,
    scenario::{Capability, Scenario},
    target::TargetFile,
};
use onejob_reports::exit::ExitCode;

/// All that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Diagnosis {
    /// Of this form.
    pub schema_version: u32,
    /// The target's name.
    pub target: String,
    /// In the order of the walk.
    pub findings: Vec<Finding>,
    /// What can run, and what can't.
    pub coverage: Coverage,
    /// What the profile asks less of than `job` does.
    pub widened: Vec<String>,
    /// How the process ends.
    pub exit_code: u8,
}

/// Gets each finding as soon as it is there.
pub type Told<'t> = &'t mut dyn FnMut(&Finding);

/// What is said where the walk could not begin.
#[must_use]
pub fn unstarted(file: &TargetFile, fault: &Fault, coverage: Coverage) -> Diagnosis {
    let step = if fault.exit() == ExitCode::Infrastructure { "database" } else { "start" };
    let finding = Finding::of_fault(step, fault).hiding(&file.hidden);
    diagnosis(file, vec![finding], coverage, fault.exit())
}

/// Walks. What can't be tried because of what broke before is not tried.
pub async fn walk(grounds: &Grounds, coverage: Coverage, tell: Told<'_>) -> Diagnosis {
    let file = &*grounds.target;
    let mut walk = Walk { grounds, findings: Vec::new(), observed: Observed::default(), tell };
    let exit = walk.all().await;
    let findings = walk.findings;
    diagnosis(file, findings, coverage, exit)
}

fn diagnosis(file: &TargetFile, findings: Vec<Finding>, coverage: Coverage, exit: ExitCode) -> Diagnosis {
    Diagnosis {
        schema_version: 1,
        target: file.target.name.clone(),
        findings,
        coverage,
        widened: file.promises().widens(),
        exit_code: exit as u8,
    }
}

struct Walk<'w> {
    grounds: &'w Grounds,
    findings: Vec<Finding>,
    observed: Observed,
    tell: Told<'w>,
}

impl Walk<'_> {
    async fn all(&mut self) -> ExitCode {
        let file = self.grounds.target.clone();
        let began = Instant::now();
        let plain = match plain(&file) {
            Ok(plain) => plain,
            Err(fault) => return self.ended("start", &fault),
        };
        if file.target.command.is_none()
            && let Err(fault) = reached(&file.target).await
        {
            return self.ended("start", &fault);
        }
        let replicas = if file.capabilities().contains(&Capability::Replicas) { 2 } else { 1 };
        let mut stage = match Stage::open(self.grounds, &plain, replicas).await {
            Ok(stage) => stage,
            Err(fault) => return self.ended("start", &fault),
        };
        let bases = stage.bases().await.join(", ");
        self.say(Finding::works(
            "start",
            match file.target.command {
                Some(_) => {
                    format!("started and ready after {:.1} s, at {bases}", began.elapsed().as_secs_f32())
                }
                None => format!("it takes connections at {bases}"),
            },
        ));
        let exit = self.steps(&file, &mut stage).await;
        stage.end().await;
        self.unmapped(&file);
        exit
    }

    async fn steps(&mut self, file: &TargetFile, stage: &mut Stage) -> ExitCode {
        if let Some(exit) = self.step(file, stage, Check::Submit).await {
            return exit;
        }
        if self.findings.iter().any(|one| one.step == "submit" && one.standing == Standing::Broken) {
            return ExitCode::Baseline;
        }
        for check in Check::FURTHER {
            if check.needs().is_some_and(|need| !file.capabilities().contains(&need)) {
                continue;
            }
            if let Err(why) = check.wants(file) {
                self.say(Finding::untried(check.name(), why));
                continue;
            }
            if let Some(exit) = self.step(file, stage, check).await {
                return exit;
            }
        }
        self.say(profiles::judge(file, &self.observed));
        let broken = self.findings.iter().any(|one| one.standing == Standing::Broken);
        if broken { ExitCode::Target } else { ExitCode::Success }
    }

    /// Plays one step. An exit code where the walk can't go on.
    async fn step(&mut self, file: &TargetFile, stage: &mut Stage, check: Check) -> Option<ExitCode> {
        let scenario = match check.scenario(file) {
            Ok(scenario) => scenario,
            Err(fault) => return Some(self.ended(check.name(), &fault)),
        };
        let played = stage.play(&scenario).await;
        let events = stage.last_round();
        let view = View::of(stage.rounds(), &events);
        let Err(fault) = played else {
            let seen = Seen { file, view, events: &events };
            for finding in judge(check, &seen, &mut self.observed) {
                self.say(finding);
            }
            // Said once: the other steps would show the same.
            let known = self.findings.iter().any(|one| one.step == "secrets");
            if let Some(finding) = leak(&seen).filter(|_| !known) {
                self.say(finding);
            }
            return None;
        };
        self.broke(file, check, &fault, &events, view)
    }

    /// What broke a step is its finding; where that was after its requests, they are judged all the same.
    fn broke(
        &mut self,
        file: &TargetFile,
        check: Check,
        fault: &Fault,
        events: &[Event],
        view: View,
    ) -> Option<ExitCode> {
        let whole = view.missed.is_empty() && fault.code() != Code::TargetDied && is_counting(fault);
        if whole {
            for finding in judge(check, &Seen { file, view, events }, &mut self.observed) {
                if finding.standing != Standing::Broken {
                    self.say(finding);
                }
            }
        }
        let step = if whole { counting(fault) } else { check.name() };
        self.say(Finding::of_fault(step, fault).showing_the_last(events));
        let over = check == Check::Submit && !whole || fault.code() == Code::TargetDied;
        over.then(|| fault.exit())
    }

    fn ended(&mut self, step: &str, fault: &Fault) -> ExitCode {
        self.say(Finding::of_fault(step, fault));
        fault.exit()
    }

    /// Capabilities that the file shows nothing of.
    fn unmapped(&mut self, file: &TargetFile) {
        let there = file.capabilities();
        for capability in Capability::ALL.into_iter().filter(|one| !there.contains(one)) {
            let lacks = file.target.lacks.contains(&capability);
            let said =
                if lacks { "the file says that the service lacks it" } else { "the file doesn't map it" };
            self.say(Finding::new(capability.word(), Standing::Missing, said).help(how_to_map(capability)));
        }
    }

    fn say(&mut self, finding: Finding) {
        let finding = finding.hiding(&self.grounds.target.hidden);
        (self.tell)(&finding);
        self.findings.push(finding);
    }
}

/// The first step, with the knobs as the others need them: a job that failed must stay so.
fn plain(file: &TargetFile) -> Result<Scenario, Fault> {
    let mut plain = Check::Submit.scenario(file)?;
    if file.settings.contains_key("max_attempts") {
        plain.settings.insert("max_attempts".to_owned(), "1".to_owned());
    }
    Ok(plain)
}

/// Whether a fault is about counting jobs or effects, which comes after everything else.
fn is_counting(fault: &Fault) -> bool {
    fault.message().contains("[target.effects]") || fault.message().contains("count_jobs")
}

fn counting(fault: &Fault) -> &'static str {
    if fault.message().contains("[target.effects]") { "effects" } else { "database" }
}

fn how_to_map(capability: Capability) -> &'static str {
    match capability {
        Capability::Read => "[target.read]: the request that reads a job",
        Capability::Attempts => "[target.retry]: the request that asks for a further attempt",
        Capability::Cancel => "[target.cancel]",
        Capability::CancelAttempt => "[target.cancel-attempt]",
        Capability::Resolve => "[target.resolve]: how somebody decides an outcome that is unknown",
        Capability::Provider => {
            "[provider], and the double's URL given to the service; [target.effects] where that can't be"
        }
        Capability::Fallback => "a second name in `names` of [provider]",
        Capability::Callbacks => "[target.callback]: where the provider's messages go",
        Capability::Race => "[target.race]",
        Capability::Process => {
            "[target.command]: how the service is started; then it can be stopped and killed too"
        }
        Capability::Replicas => "`replicas = true` in [target.command], or several addresses in `base`",
        Capability::Database => "[target.database]: races are then certain instead of likely",
        Capability::RowLock => "`lock_job` in [target.database]: how the row of one job is held",
        Capability::Owners => "a second [[owner]] with a token of its own",
        Capability::Audit => "[target.audit]: the service's own log of a job",
        Capability::Failover => "[failover]",
        Capability::Trace => "`traceparent = \"{trace}\"` among the headers of [target.submit]",
        Capability::Lookup => "[target.lookup]: the request that finds a job by its key",
        Capability::Batch => "[target.batch]",
        Capability::Schedule => "[target.schedule]",
        Capability::Reconciler => {
            "`has = [\"reconciler\"]`, where the service asks its provider about unknown outcomes"
        }
        Capability::JsonPayload => {
            "`\"{payload}\"` as a value of its own in `json` of [target.submit], where the service takes an object"
        }
    }
}
