use std::time::Duration;

use stateright::{Model, Property};

use crate::domain::{
    AttemptState, CancelOutcome, Evidence, Job, JobState, Lapse, Mode, RetryPolicy, Verdict, cancel_attempt,
    fail, lose_track, mark_effect, resolve,
};
use crate::rules::{Conclusion, Found, Mark, Rules};
use crate::signature::{Signed, sign};

use super::promise::broken;
use super::world::MOST_ATTEMPTS;
use super::{Act, Deed, Promise, Reply, Setup, Stage, Try, Wire, World};

const SECRET: &str = "s";
const BODY: &[u8] = b"{}";
const NOW: u64 = 1_000_000;
const MAX_LATENCY: Duration = Duration::from_secs(1);

/// The protocol under one set of rules.
#[derive(Debug, Clone)]
pub(crate) struct Protocol {
    pub(crate) setup: Setup,
    pub(crate) rules: Rules,
    policy: RetryPolicy,
    believes_forged: bool,
    believes_recorded: bool,
}

impl Protocol {
    pub(crate) fn new(setup: Setup, rules: Rules) -> Self {
        let signature = |secret, at| sign(secret, "event", at, BODY);
        let believes = |signature: &str, at: u64| {
            (rules.authentic)(&Signed {
                secret: SECRET,
                id: "event",
                timestamp: &at.to_string(),
                signature,
                body: BODY,
                now: NOW,
                window: Duration::from_mins(5),
            })
            .is_ok()
        };
        assert!(believes(&signature(SECRET, NOW), NOW), "the provider itself is believed");
        let believes_forged = believes(&signature("another", NOW), NOW);
        let believes_recorded = believes(&signature(SECRET, NOW - 100_000), NOW - 100_000);
        Self { setup, rules, policy: RetryPolicy::default(), believes_forged, believes_recorded }
    }

    fn reference(&self, number: i32) -> String {
        (self.rules.reference)("job", number)
    }

    /// Attempts that the provider knows by the same name.
    fn namesakes<'a>(&'a self, world: &'a World, number: i32) -> impl Iterator<Item = &'a Try> {
        let name = self.reference(number);
        world.numbers().filter(move |other| self.reference(*other) == name).map(|other| world.of(other))
    }

    /// What happens by itself: a state that isn't settled must have some of it.
    pub(crate) fn goes_on(&self, world: &World) -> bool {
        let mut acts = Vec::new();
        self.actions(world, &mut acts);
        acts.into_iter().any(|act| !act.is_disturbance() && self.next_state(world, act).is_some())
    }

    fn acts_on(&self, world: &World, number: i32, acts: &mut Vec<Act>) {
        let one = world.of(number);
        let attended = world.is_attended(number);
        match one.stage {
            Stage::Asked => {
                if world.free_worker().is_some() && world.state_of(number) == Some(AttemptState::Starting) {
                    acts.push(Act::Claim(number));
                }
            }
            Stage::Held if attended => match self.rules.mark {
                Mark::BeforeTheCall => acts.push(Act::Mark(number)),
                Mark::AfterTheCall => acts.extend([Act::CannotConnect(number), Act::Send(number)]),
            },
            Stage::Marked if attended => acts.extend([Act::CannotConnect(number), Act::Send(number)]),
            Stage::Sent if attended => {
                if !one.gave_up {
                    acts.push(Act::Deadline(number));
                }
                if let Some(reply) = one.reply {
                    if reply != Reply::NeverSent {
                        acts.extend([Act::LoseAnswer(number), Act::BreakAnswer(number)]);
                    }
                    acts.push(Act::Answer(number));
                    let homeward =
                        |other: i32| world.is_attended(other) && world.of(other).reply == Some(Reply::Done);
                    if reply == Reply::Done {
                        let others = world.numbers().filter(|other| *other != number && homeward(*other));
                        acts.extend(others.map(|other| Act::Collide(other, number)));
                    }
                }
            }
            Stage::Held | Stage::Marked | Stage::Sent | Stage::Over => {}
        }
        match one.wire {
            Wire::Transit => {
                acts.push(Act::LoseCall(number));
                let deeds = Deed::ALL.into_iter().filter(|deed| self.setup.accepts || *deed != Deed::Accept);
                acts.extend(deeds.map(|deed| Act::Arrive(number, deed)));
            }
            Wire::Pending => acts.push(Act::Finish(number)),
            Wire::None | Wire::Gone => {}
        }
        if one.callbacks > 0 {
            acts.push(Act::Callback(number));
        }
        match world.state_of(number) {
            Some(AttemptState::Starting | AttemptState::Running) => {
                // A worker renews its leases as long as it is well, or so it should; the first one lasts until the call.
                // What nobody has taken yet has no lease.
                let neglected = one.stage == Stage::Sent && !self.rules.heartbeats;
                if one.stage != Stage::Asked && (!attended || neglected) {
                    acts.push(Act::Lapse(number));
                }
            }
            Some(AttemptState::Unknown) => acts.push(Act::Probe(number)),
            _ => {}
        }
        if one.wire == Wire::Pending {
            acts.extend([Act::Forge(number), Act::Replay(number)]);
        }
        if world.deliberate > 0 {
            acts.push(Act::GiveUp(number));
        }
    }

    /// What the store makes of a verdict.
    fn conclude(&self, world: &mut World, number: i32, verdict: &Verdict) {
        match verdict {
            Verdict::Succeeded { .. } => self.bring_success(world, number),
            Verdict::Failed { retry, .. } => {
                let again = *retry && self.policy.allows(world.tries.len());
                world.change(|job| fail(job, number, fence_of(job, number), again).ok());
            }
            Verdict::Accepted { .. } => {}
            Verdict::Duplicate { .. } | Verdict::Unknown { .. } => {
                world.change(|job| lose_track(job, number, fence_of(job, number)).ok());
            }
        }
    }

    /// A success comes home, whoever brings it.
    fn bring_success(&self, world: &mut World, number: i32) {
        let Some(job) = &world.job else { return };
        let live = job.attempt(number).is_some_and(|attempt| attempt.state.is_live());
        let decided = job.state.is_terminal();
        match (self.rules.succeed)(job, number, fence_of(job, number)) {
            Ok(mut after) => {
                come_home(&mut after, number);
                if decided && (after.completed_by != job.completed_by || after.version != job.version) {
                    world.note(Promise::Final);
                } else if !live {
                    world.note(Promise::StaleIsDiscarded);
                }
                world.job = Some(after);
            }
            Err(_) if live && !decided => world.note(Promise::LiveIsTaken),
            Err(_) => {}
        }
    }

    fn lapse(&self, world: &mut World, number: i32) {
        if world.is_attended(number) {
            world.note(Promise::WorkIsKept);
        }
        world.change(|job| match (self.rules.lapse)(job, number) {
            Lapse::Requeued(after) | Lapse::Unknown(after) => Some(after),
            Lapse::Nothing => None,
        });
    }

    fn probe(&self, world: &mut World, number: i32) {
        let found = if self.namesakes(world, number).any(|one| one.effect) {
            Found::Succeeded(serde_json::json!("r"))
        } else if self.namesakes(world, number).any(|one| one.wire == Wire::Pending) {
            Found::Pending
        } else {
            Found::Nothing
        };
        let early = self.namesakes(world, number).any(Try::may_turn_up);
        let waited = if early { Duration::ZERO } else { MAX_LATENCY * 2 };
        let evidence = match (self.rules.conclude)(&found, waited, MAX_LATENCY) {
            Conclusion::StillUnknown => return,
            Conclusion::Succeeded(_) => return self.bring_success(world, number),
            Conclusion::Failed(_) => Evidence::Failed,
            Conclusion::NotExecuted => Evidence::NotExecuted { again: self.policy.allows(world.tries.len()) },
        };
        if early {
            world.note(Promise::FailedIsTrue);
        }
        world.change(|job| resolve(job, number, evidence).ok());
    }

    fn arrive(&self, world: &mut World, number: i32, deed: Deed) {
        let known = self.setup.recognises
            && self.namesakes(world, number).any(|one| one.effect || one.wire == Wire::Pending);
        let one = world.of_mut(number);
        one.wire = Wire::Gone;
        if known {
            one.reply = Some(Reply::Duplicate);
            return;
        }
        one.reply = Some(deed.reply());
        if deed == Deed::Accept {
            one.wire = Wire::Pending;
        }
        if deed.has_effect() {
            one.effect = true;
            world.effects += 1;
        }
    }

    fn answer(&self, world: &mut World, number: i32, reply: Reply) {
        world.of_mut(number).reply = None;
        let verdict = (self.rules.classify)(&reply.answer());
        if self.rules.mark == Mark::AfterTheCall && !world.of(number).gave_up && !mark(world, number) {
            world.leave(number);
            return;
        }
        if matches!(verdict, Verdict::Duplicate { .. }) || reply == Reply::Duplicate {
            world.seen_before = true;
        }
        self.conclude(world, number, &verdict);
        // Work that was accepted is waited for, unless the deadline had passed before.
        if !matches!(verdict, Verdict::Accepted { .. }) || world.of(number).gave_up {
            world.leave(number);
        }
    }

    fn deadline(&self, world: &mut World, number: i32) {
        if self.rules.mark == Mark::AfterTheCall && !mark(world, number) {
            world.leave(number);
            return;
        }
        world.of_mut(number).gave_up = true;
        let verdict = (self.rules.at_deadline)(Duration::from_secs(1));
        self.conclude(world, number, &verdict);
    }

    fn send_again(world: &mut World, number: i32) {
        let one = world.of_mut(number);
        (one.reply, one.wire) = (None, Wire::Transit);
        world.note(Promise::OneCall);
    }

    #[expect(clippy::too_many_lines, reason = "one short arm for each thing that can happen")]
    fn apply(&self, world: &mut World, act: Act) {
        match act {
            Act::Submit | Act::SubmitUnanswered => {
                world.job.get_or_insert_with(|| Job::new(self.setup.mode));
                world.told |= act == Act::Submit;
            }
            Act::PickUp => {
                let worker = world.free_worker();
                let rule = self.rules.pick_up;
                if worker.is_some() && world.change(|job| rule(job).ok()) {
                    world.tries.push(Try::new(worker));
                }
            }
            Act::Start => {
                let rule = self.rules.start;
                if world.change(|job| rule(job).ok()) {
                    world.deliberate -= 1;
                    world.tries.push(Try::new(None));
                }
            }
            Act::Claim(number) => {
                let worker = world.free_worker();
                let one = world.of_mut(number);
                (one.worker, one.stage) = (worker, Stage::Held);
            }
            Act::Mark(number) => {
                if mark(world, number) {
                    world.of_mut(number).stage = Stage::Marked;
                } else {
                    world.leave(number);
                }
            }
            Act::Send(number) => {
                let one = world.of_mut(number);
                (one.stage, one.wire) = (Stage::Sent, Wire::Transit);
            }
            Act::CannotConnect(number) => {
                let one = world.of_mut(number);
                (one.stage, one.wire, one.reply) = (Stage::Sent, Wire::Gone, Some(Reply::NeverSent));
            }
            Act::LoseCall(number) => world.of_mut(number).wire = Wire::Gone,
            Act::Arrive(number, deed) => self.arrive(world, number, deed),
            Act::Finish(number) => {
                let one = world.of_mut(number);
                (one.wire, one.effect, one.callbacks) = (Wire::Gone, true, 2);
                world.effects += 1;
            }
            Act::Answer(number) => {
                if let Some(reply) = world.of(number).reply {
                    self.answer(world, number, reply);
                }
            }
            Act::LoseAnswer(number) => world.of_mut(number).reply = None,
            Act::BreakAnswer(number) if self.rules.resends > 0 => Self::send_again(world, number),
            Act::BreakAnswer(number) => self.answer(world, number, Reply::Broken),
            Act::Collide(first, second) => {
                self.answer(world, first, Reply::Done);
                if self.rules.repeat_effect_on_conflict {
                    Self::send_again(world, second);
                } else {
                    self.answer(world, second, Reply::Done);
                }
            }
            Act::Deadline(number) => self.deadline(world, number),
            Act::Lapse(number) => self.lapse(world, number),
            Act::Probe(number) => self.probe(world, number),
            Act::Callback(number) => {
                world.of_mut(number).callbacks -= 1;
                self.bring_success(world, number);
            }
            Act::Forge(number) | Act::Replay(number) => {
                let believed =
                    if act == Act::Forge(number) { self.believes_forged } else { self.believes_recorded };
                if believed {
                    world.note(Promise::OnlyTheProvider);
                    self.bring_success(world, number);
                }
            }
            Act::Crash(worker) => {
                world.asleep[worker] = false;
                for number in world.numbers().collect::<Vec<_>>() {
                    if world.of(number).worker == Some(worker) {
                        world.leave(number);
                    }
                }
            }
            Act::Sleep(worker) => world.asleep[worker] = true,
            Act::Wake(worker) => world.asleep[worker] = false,
            Act::Cancel(accept) => {
                let rule = self.rules.cancel_job;
                let unknown = world.job.as_ref().is_some_and(|job| job.state == JobState::Unknown);
                let done = world.change(|job| match rule(job, accept) {
                    CancelOutcome::Cancelled(after) | CancelOutcome::Requested(after) => Some(after),
                    CancelOutcome::Already | CancelOutcome::Unknown | CancelOutcome::Terminal => None,
                });
                world.cancels -= u8::from(done);
                world.risk_accepted |= done && accept && unknown;
            }
            Act::GiveUp(number) => {
                if world.change(|job| cancel_attempt(job, number).ok()) {
                    world.deliberate -= 1;
                    world.risk_accepted = true;
                }
            }
        }
    }
}

/// The version that an attempt read, as the store finds it beside the attempt.
fn fence_of(job: &Job, number: i32) -> i64 {
    job.attempt(number).map_or(0, |attempt| attempt.job_version)
}

/// What the store writes beside a result: the winner, and that the others are out of the way.
fn come_home(job: &mut Job, winner: i32) {
    for attempt in &mut job.attempts {
        if attempt.number == winner {
            attempt.state = AttemptState::Succeeded;
        } else if attempt.state.is_live() {
            attempt.state = AttemptState::Superseded;
        }
    }
}

fn mark(world: &mut World, number: i32) -> bool {
    world.change(|job| mark_effect(job, number).ok())
}

impl World {
    /// Puts what the rules made of the job in its place; false where they refused.
    fn change(&mut self, rule: impl FnOnce(&Job) -> Option<Job>) -> bool {
        let after = self.job.as_ref().and_then(rule);
        let changed = after.is_some();
        self.job = after.or(self.job.take());
        changed
    }

    /// The worker has nothing more to do with the attempt.
    fn leave(&mut self, number: i32) {
        let one = self.of_mut(number);
        (one.worker, one.reply) = (None, None);
        if one.stage != Stage::Asked {
            (one.stage, one.gave_up) = (Stage::Over, false);
        }
        if one.wire == Wire::None {
            one.wire = Wire::Gone;
        }
    }

    /// Notes that a step broke a promise; the first one counts.
    fn note(&mut self, promise: Promise) {
        self.broke.get_or_insert(promise);
    }
}

impl Model for Protocol {
    type State = World;
    type Action = Act;

    fn init_states(&self) -> Vec<World> {
        vec![World::first(&self.setup)]
    }

    fn actions(&self, world: &World, acts: &mut Vec<Act>) {
        if world.broke.is_some() {
            return;
        }
        // Of ways that are equally short the checker tells the one whose acts stand last: failures come first.
        for worker in 0..world.asleep.len() {
            let works = world.tries.iter().any(|one| one.worker == Some(worker));
            if world.asleep[worker] {
                acts.push(Act::Wake(worker));
            } else if works {
                acts.extend([Act::Sleep(worker), Act::Crash(worker)]);
            }
        }
        if !world.told {
            acts.extend([Act::SubmitUnanswered, Act::Submit]);
        }
        let room = world.tries.len() < MOST_ATTEMPTS;
        if world.job.is_some() && room && world.free_worker().is_some() {
            acts.push(Act::PickUp);
        }
        for number in world.numbers() {
            self.acts_on(world, number, acts);
        }
        if world.cancels > 0 && world.job.is_some() {
            acts.extend([Act::Cancel(true), Act::Cancel(false)]);
        }
        if world.deliberate > 0 && room && world.job.is_some() {
            acts.push(Act::Start);
        }
    }

    fn next_state(&self, last: &World, act: Act) -> Option<World> {
        let mut world = last.clone();
        if act.is_fault() {
            world.faults = world.faults.checked_sub(1)?;
        }
        self.apply(&mut world, act);
        if world.decided.is_none() {
            world.decided = world
                .job
                .as_ref()
                .filter(|job| job.state.is_terminal())
                .map(|job| (job.state, job.version, job.completed_by));
        }
        if world == *last {
            return None;
        }
        if world.broke.is_none() {
            world.broke = broken(&world);
        }
        if world.broke.is_none() && !act.is_disturbance() && world.left_to_do() >= last.left_to_do() {
            world.note(Promise::Progress);
        }
        Some(world.same_for_all())
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let seen = |name, condition| Property::sometimes(name, condition);
        let mut properties: Vec<Property<Self>> = Promise::ALL
            .iter()
            .filter(|promise| **promise != Promise::Progress)
            .map(|promise| promise.property())
            .collect();
        properties.push(Property::always(
            Promise::Progress.words(),
            |model: &Self, world: &World| match world.broke {
                Some(broke) => broke != Promise::Progress,
                None => world.is_settled() || world.is_at_the_edge() || model.goes_on(world),
            },
        ));
        // What must be reachable, or the promises above are kept by a model in which nothing happens.
        properties.extend([
            seen("a job succeeds with the third attempt", |_: &Self, world: &World| {
                world.decided.is_some_and(|(_, _, winner)| winner == Some(3))
            }),
            seen("a job fails", |_, world| {
                world.decided.is_some_and(|(state, ..)| state == JobState::Failed)
            }),
            seen("a job is cancelled", |_, world| {
                world.decided.is_some_and(|(state, ..)| state == JobState::Cancelled)
            }),
            seen("an outcome is unknown although the effect happened", |_, world| {
                world.numbers().any(|n| world.of(n).effect && world.is_in(n, AttemptState::Unknown))
            }),
            seen("an outcome is unknown, and nothing happened or will", |_, world| {
                let nothing = |one: &Try| !one.effect && one.wire == Wire::Gone;
                world.numbers().any(|n| nothing(world.of(n)) && world.is_in(n, AttemptState::Unknown))
            }),
        ]);
        if self.setup.deliberate > 0 && self.setup.cancels > 0 {
            properties.push(seen("what was given up has its effect after all", |_, world| {
                world.numbers().any(|n| world.of(n).effect && world.is_in(n, AttemptState::Cancelled))
            }));
        }
        if self.setup.mode == Mode::Race && self.setup.deliberate > 1 {
            properties.push(seen("three attempts are out at once", |_, world| {
                world.job.as_ref().is_some_and(|job| job.live().count() == 3)
            }));
        }
        properties
    }
}
