//! Plays one round of a scenario: the steps in order, then the closing look at everything.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use tokio::time::Instant;

use super::{
    closing,
    delivery::deliver,
    exchange::{Armed, Sending, arm, at_once, exchange, through_lock},
    fault,
    fresh::Fresh,
    request::{About, Outgoing, prepare},
    world::World,
};
use crate::{
    fail::{Code, Fault},
    history::{Event, Kind},
    law::step_of,
    scenario::{Capability, GateChoice, Scenario, Step, Until, Verb},
};

/// Between two looks at a job. Only an answer can tell its state; short, since the wait is part of every round.
const LOOK_EVERY: Duration = Duration::from_millis(4);
const LOOK_AT_LEAST_EVERY: Duration = Duration::from_millis(40);

/// A round in progress.
pub(super) struct Round<'s> {
    world: Arc<World>,
    scenario: &'s Scenario,
    number: u32,
    fresh: Fresh,
    deadline: Instant,
    has_database: bool,
    pending: Vec<Sending>,
}

/// Why a round went no further.
enum Halt {
    /// Something that a step waited for did not come: the history tells.
    Missed,
    /// The harness, the double or the target broke.
    Broken(Fault),
}

impl From<Fault> for Halt {
    fn from(fault: Fault) -> Self {
        Self::Broken(fault)
    }
}

impl<'s> Round<'s> {
    /// Prepares a round: fresh values, told to the double and the history.
    pub(super) fn new(
        world: Arc<World>,
        scenario: &'s Scenario,
        number: u32,
        fresh: Fresh,
    ) -> Result<Self, Fault> {
        world
            .recorder
            .record(number, Kind::RoundStarted { keys: fresh.keys.clone(), payloads: fresh.markers.clone() });
        if let Some(double) = &world.double {
            double.script(number, scenario.provider.clone(), fresh.markers.clone())?;
        }
        let capabilities = world.target.capabilities();
        Ok(Self {
            deadline: Instant::now() + scenario.within.0,
            has_database: capabilities.contains(&Capability::Database) && world.database_url.is_some(),
            world,
            scenario,
            number,
            fresh,
            pending: Vec::new(),
        })
    }

    /// Plays it. A step that could not be carried out is in the history and ends the round early; only a broken
    /// harness, double or target is an error.
    pub(super) async fn play(mut self) -> Result<(), Fault> {
        for (index, step) in self.scenario.step.iter().enumerate() {
            let name = step.name(index);
            match self.step(&name, step).await {
                Ok(()) => {}
                Err(Halt::Missed) => break,
                Err(Halt::Broken(fault)) => return Err(self.explained(fault).await),
            }
        }
        // What the round did to the world must not outlive it: the closing look is at a world that works.
        if let Err(fault) = fault::heal_all(&self.world, self.number).await {
            return Err(self.explained(fault).await);
        }
        self.world.steady().await;
        let pending = std::mem::take(&mut self.pending);
        if let Err(fault) =
            closing::close(&self.world, self.number, pending, self.deadline, &self.scenario.invariants).await
        {
            return Err(self.explained(fault).await);
        }
        self.world.recorder.record(self.number, Kind::RoundEnded);
        Ok(())
    }

    /// A target that has died explains more than the error that this caused.
    async fn explained(&self, fault: Fault) -> Fault {
        if self.world.has_died().await {
            let output = self.world.last_output().await;
            return Fault::new(
                Code::TargetDied,
                format!("the service ended in the middle of a scenario\nits output:\n{output}"),
                "run it by hand with the same arguments; a service that dies under load is a finding of its own",
            )
            .because(fault);
        }
        fault
    }

    async fn step(&mut self, name: &str, step: &Step) -> Result<(), Halt> {
        for condition in &step.after {
            self.seen(name, condition, step).await?;
        }
        match step.act {
            Verb::Await => self.await_call(name, step).await,
            Verb::Release => self.release(name, step).await,
            Verb::Fault => Ok(fault::apply(&self.world, self.number, name, step).await?),
            Verb::Heal => {
                let fault = step.fault.as_deref().unwrap_or_default();
                Ok(fault::heal(&self.world, self.number, fault).await?)
            }
            Verb::Read if step.until.is_some() => self.look_until(name, step).await,
            _ => self.requests(name, step).await,
        }
    }

    fn deadline_of(&self, step: &Step) -> Instant {
        step.within.map_or(self.deadline, |within| self.deadline.min(Instant::now() + within.0))
    }

    fn missed(&self, step: &str, what: impl Into<String>) -> Halt {
        self.world.recorder.record(self.number, Kind::Missed { step: step.to_owned(), what: what.into() });
        Halt::Missed
    }

    /// Waits for `CALL.arrived`, `CALL.answered`, `CALL.gone` or `STEP.answered`.
    async fn seen(&self, name: &str, condition: &str, step: &Step) -> Result<(), Halt> {
        let round = self.number;
        let (subject, what) = condition.rsplit_once('.').unwrap_or((condition, "arrived"));
        let seen = self
            .world
            .recorder
            .wait_for(self.deadline_of(step), |events| happened(events, round, subject, what).then_some(()));
        seen.await.map_err(|_| self.missed(name, format!("{condition} was not seen")))
    }

    async fn await_call(&self, name: &str, step: &Step) -> Result<(), Halt> {
        for call in step.call.iter().chain(&step.calls) {
            self.seen(name, &format!("{call}.arrived"), step).await?;
        }
        Ok(())
    }

    async fn release(&mut self, name: &str, step: &Step) -> Result<(), Halt> {
        let Some(double) = &self.world.double else { return Ok(()) };
        let named: Vec<String> = step.call.iter().chain(&step.calls).cloned().collect();
        let order = step.order.clone().unwrap_or_else(|| named.join(" "));
        let deadline = self.deadline_of(step);
        // `A B+C`: A, and when its answer was taken, B and C at the same moment.
        for group in order.split_whitespace() {
            let calls: Vec<String> = group.split('+').map(str::to_owned).collect();
            let gate = match step.meet {
                Some(meet) if self.has_database => {
                    Some((arm(&self.world, self.number, name, meet).await?, meet))
                }
                _ => None,
            };
            double
                .release_together(self.number, &calls)
                .map_err(|error| self.missed(name, error.to_string()))?;
            if let Some((gate, meet)) = gate {
                let armed = Armed { step: name, gate, expected: meet, requests: &[] };
                armed.open(&self.world, self.number, deadline).await?;
            }
            for call in calls {
                let round = self.number;
                let over = self.world.recorder.wait_for(deadline, |events| {
                    (happened(events, round, &call, "answered") || happened(events, round, &call, "gone"))
                        .then_some(())
                });
                over.await
                    .map_err(|_| self.missed(name, format!("call {call} was released and never taken")))?;
            }
        }
        Ok(())
    }

    /// Sends a step's requests.
    async fn requests(&mut self, name: &str, step: &Step) -> Result<(), Halt> {
        let about = self.about(name, step).await?;
        let times = step.times.unwrap_or(1);
        let together = step.together && times > 1;
        if !together && !step.open {
            for number in 1..=times {
                let number = if times == 1 { 0 } else { number };
                let out = self.outgoing(name, step, number, &about).await?;
                exchange(self.world.clone(), self.number, out).await?;
            }
            return Ok(());
        }
        let mut outgoing = Vec::new();
        for number in 1..=times {
            let number = if times == 1 { 0 } else { number };
            outgoing.push(self.outgoing(name, step, number, &about).await?);
        }
        let tasks = if together { self.race(name, step, outgoing).await? } else { self.spawn(outgoing) };
        if step.open {
            self.pending.extend(tasks);
            let round = self.number;
            // The next step begins when the requests have left.
            let left = self.world.recorder.wait_for(self.deadline, |events| {
                let sent = events.iter().filter(|event| event.round == round);
                let sent = sent
                    .filter(|event| matches!(&event.kind, Kind::Sent { step, .. } if step_of(step) == name));
                (sent.count() >= times as usize).then_some(())
            });
            return left.await.map_err(|_| self.missed(name, "its requests never left"));
        }
        for task in tasks {
            joined(task.await)?;
        }
        Ok(())
    }

    /// Makes the `number`-th request of a step.
    async fn outgoing(&self, name: &str, step: &Step, number: u32, about: &About) -> Result<Outgoing, Halt> {
        if step.act != Verb::Deliver {
            return Ok(prepare(&self.world, &self.fresh, (name, step), number, about).await?);
        }
        let (Some(double), Some(call)) = (&self.world.double, &step.call) else {
            return Err(self.missed(name, "there is no double to deliver a callback of"));
        };
        self.seen(name, &format!("{call}.arrived"), step).await?;
        let callback =
            double.callback(self.number, call).map_err(|error| self.missed(name, error.to_string()))?;
        Ok(deliver(&self.world, &callback, (name, step), number, about).await?)
    }

    fn spawn(&self, outgoing: Vec<Outgoing>) -> Vec<Sending> {
        outgoing.into_iter().map(|out| tokio::spawn(exchange(self.world.clone(), self.number, out))).collect()
    }

    async fn race(&self, name: &str, step: &Step, outgoing: Vec<Outgoing>) -> Result<Vec<Sending>, Halt> {
        let gate =
            step.gate.unwrap_or(if self.has_database { GateChoice::Lock } else { GateChoice::Arrival });
        let (world, round) = (self.world.clone(), self.number);
        Ok(match gate {
            GateChoice::Lock => through_lock(world, round, name, outgoing, self.deadline_of(step)).await?,
            GateChoice::Arrival => vec![tokio::spawn(at_once(world, round, name.to_owned(), outgoing))],
        })
    }

    /// The job and version that a step is about.
    async fn about(&self, name: &str, step: &Step) -> Result<About, Halt> {
        let Some(of) = &step.job else { return Ok(About::default()) };
        let round = self.number;
        // Once everybody has answered, nobody will tell of a job any more.
        let job = self.world.recorder.wait_for(self.deadline_of(step), |events| {
            job_told(events, round, of)
                .map(Some)
                .or_else(|| happened(events, round, of, "answered").then_some(None))
        });
        let job = job
            .await
            .ok()
            .flatten()
            .ok_or_else(|| self.missed(name, format!("no answer to {of} told of a job")))?;
        let operation = super::request::operation(&self.world, step.act, &step.with)?;
        let wants_version = operation.headers.values().any(|value| value.contains("{version}"));
        let version = match step.with.version.as_deref() {
            Some("none") => None,
            Some(other) if other != "current" => {
                self.world.recorder.look(|events| version_told(events, round, other))
            }
            _ if wants_version => self.current_version(name, step, &job).await?,
            _ => None,
        };
        Ok(About { job: Some(job), version })
    }

    async fn current_version(&self, name: &str, step: &Step, job: &str) -> Result<Option<String>, Halt> {
        let look = format!("{name}-look");
        self.look(&look, step, job).await?;
        let round = self.number;
        Ok(self.world.recorder.look(|events| version_told(events, round, &look)))
    }

    /// Reads a job once.
    async fn look(&self, name: &str, step: &Step, job: &str) -> Result<(), Halt> {
        let read = Step { act: Verb::Read, ..step.clone() };
        let about = About { job: Some(job.to_owned()), version: None };
        let out = prepare(&self.world, &self.fresh, (name, &read), 0, &about).await?;
        Ok(exchange(self.world.clone(), self.number, out).await?)
    }

    /// Reads a job again and again until it is in the wanted state, or in one that it can't leave.
    async fn look_until(&mut self, name: &str, step: &Step) -> Result<(), Halt> {
        let about = self.about(name, step).await?;
        let job = about.job.unwrap_or_default();
        let until = step.until.unwrap_or(Until::Terminal);
        let deadline = self.deadline_of(step);
        let round = self.number;
        let mut pause = LOOK_EVERY;
        loop {
            self.look(name, step, &job).await?;
            let last = self.world.recorder.look(|events| answers(events, round, name).last().cloned());
            let last = last.unwrap_or_default();
            if until.is_seen_in(&last) {
                return Ok(());
            }
            // A terminal state never changes: waiting on would only make a failing run slower.
            let over = last.is_terminal() && !matches!(until, Until::Attention | Until::Gone);
            if over || Instant::now() >= deadline {
                return Err(self.missed(name, format!("the job never became {}", until.word())));
            }
            // Anything that happens may be what moves the job; the pause bounds the wait for what we can't see.
            let now = self.world.recorder.look(<[Event]>::len);
            let wait = (Instant::now() + pause).min(deadline);
            let moved = self.world.recorder.wait_for(wait, |events| (events.len() > now).then_some(()));
            let _ = moved.await;
            pause = (pause * 2).min(LOOK_AT_LEAST_EVERY);
        }
    }
}

/// Unwraps a finished task. A panic in one is a bug of ours.
pub(super) fn joined(result: Result<Result<(), Fault>, tokio::task::JoinError>) -> Result<(), Fault> {
    result.unwrap_or_else(|error| {
        Err(Fault::new(Code::Bug, format!("a request's task broke: {error}"), "please report this"))
    })
}

fn happened(events: &[Event], round: u32, subject: &str, what: &str) -> bool {
    let mut of_round = events.iter().filter(|event| event.round == round);
    if what == "answered" {
        let requests: BTreeSet<u64> = events
            .iter()
            .filter(|event| event.round == round)
            .filter_map(|event| match &event.kind {
                Kind::Sent { request, step, .. } if step == subject || step_of(step) == subject => {
                    Some(*request)
                }
                _ => None,
            })
            .collect();
        if !requests.is_empty() {
            let ended = of_round
                .filter(|event| match &event.kind {
                    Kind::Answered { request, .. } | Kind::Unanswered { request, .. } => {
                        requests.contains(request)
                    }
                    _ => false,
                })
                .count();
            return ended == requests.len();
        }
    }
    if what == "hit" {
        return of_round.any(|event| matches!(&event.kind, Kind::FaultHit { fault, .. } if fault == subject));
    }
    let Some((call, passed_on)) = events.iter().find_map(|event| match &event.kind {
        Kind::Called { call, name, identity, .. } if event.round == round && name == subject => {
            Some((*call, identity))
        }
        _ => None,
    }) else {
        return false;
    };
    match what {
        "arrived" => true,
        "probed" => of_round.any(|event| matches!(&event.kind, Kind::Probed { identity, .. } if Some(identity) == passed_on.as_ref())),
        "answered" => of_round.any(|event| matches!(&event.kind, Kind::Replied { call: c, .. } if *c == call)),
        _ => of_round.any(|event| matches!(&event.kind, Kind::CallEnded { call: c, .. } if *c == call)),
    }
}

/// The first job that an answer to a step told of.
pub(super) fn job_told(events: &[Event], round: u32, step: &str) -> Option<String> {
    answers(events, round, step).find_map(|answer| answer.job.clone())
}

fn version_told(events: &[Event], round: u32, step: &str) -> Option<String> {
    answers(events, round, step).filter_map(|answer| answer.version.clone()).last()
}

fn answers<'e>(
    events: &'e [Event],
    round: u32,
    step: &str,
) -> impl Iterator<Item = &'e crate::history::Answer> {
    let requests: BTreeSet<u64> = events
        .iter()
        .filter(|event| event.round == round)
        .filter_map(|event| match &event.kind {
            Kind::Sent { request, step: name, .. } if name == step || step_of(name) == step => Some(*request),
            _ => None,
        })
        .collect();
    events.iter().filter_map(move |event| match &event.kind {
        Kind::Answered { request, answer } if requests.contains(request) => Some(answer),
        _ => None,
    })
}
