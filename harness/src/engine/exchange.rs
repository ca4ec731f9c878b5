//! Sends requests and records what came of them.

use std::{
    borrow::Cow,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::{
    task::JoinHandle,
    time::{Duration, Instant},
};

use super::{request::Outgoing, world::World};
use crate::{
    fail::{Code, Fault},
    gate::{Hold, LockGate, Opening, Outcome, Patience, RawAnswer, Timing, Watch, arrive_h1, arrive_h2},
    history::{Answer, Event, Kind, LEAKED},
    negate::{Asked, Liar},
    target::{Http, read_answer, unread_answer},
};

/// How long the service's own transactions may keep the gate's lock from being taken.
const LOCK_WITHIN: Duration = Duration::from_secs(5);

/// On a loaded machine the next request may take a while to reach the lock; only services that let one at a time through
/// pay for the longer wait.
const PATIENCE: Patience = Patience {
    quiet: Duration::from_millis(250),
    linger: Duration::from_millis(3),
    first: Duration::from_secs(2),
    alike: false,
};

/// A request that was sent on its own task.
pub(super) type Sending = JoinHandle<Result<(), Fault>>;

/// Records that a request leaves.
fn sent(world: &World, round: u32, out: &Outgoing) {
    let hide = |text: &str| world.secrets.redact(text);
    let headers = out.prepared.headers.iter();
    let body = String::from_utf8_lossy(&out.prepared.body);
    world.recorder.record(
        round,
        Kind::Sent {
            request: out.id,
            step: out.step.clone(),
            verb: out.verb.to_owned(),
            owner: out.owner.clone(),
            key: out.key.clone(),
            payload: out.payload.clone(),
            job: out.job.clone(),
            line: hide(&format!("{} {}", out.prepared.method, out.prepared.path)),
            headers: headers.map(|(name, value)| (name.to_ascii_lowercase(), hide(value))).collect(),
            body: (!body.is_empty()).then(|| hide(&body)),
            replica: out.replica,
        },
    );
}

/// Records how a request ended. Fails where the answer doesn't fit the target file.
fn ended(world: &World, round: u32, out: &Outgoing, outcome: &Outcome) -> Result<(), Fault> {
    match outcome {
        Ok(raw) => {
            let lie = match &world.liar {
                Some(liar) => Some(lied(world, round, out, raw, liar)?),
                None => None,
            };
            let raw = lie.as_ref().unwrap_or(raw);
            let states = &world.target.target.states;
            // Before anything is read or cut: a part of a secret would not be recognised any more.
            let body = hidden(world, &raw.body);
            let hide = |(name, value): &(String, String)| (name.clone(), world.secrets.redact(value));
            let headers: Vec<_> = raw.headers.iter().map(hide).collect();
            let read = read_answer(&out.operation, states, raw.status, &headers, &body);
            let mut answer = match read {
                Ok(answer) => answer,
                Err(misfit) => {
                    // Whoever looks for what was misread finds it in the history.
                    let answer = unread_answer(raw.status, &headers, &body);
                    world.recorder.record_at(raw.done_at, round, Kind::Answered { request: out.id, answer });
                    return Err(misfit.into());
                }
            };
            if world.snapshots && world.recorder.look(|events| is_duplicate(events, round, out)) {
                // What was played back was true once. Only which job it was is for ever.
                answer = Answer { state: None, result: None, version: None, winner: None, ..answer };
            }
            if raw.status >= 400 && leaks(world, &raw.body, &raw.headers) {
                answer.fields.insert(LEAKED.to_owned(), "***".to_owned());
            }
            world.recorder.record_at(raw.done_at, round, Kind::Answered { request: out.id, answer });
        }
        Err(loss) => {
            let unanswered = Kind::Unanswered { request: out.id, how: loss.how, detail: loss.detail.clone() };
            world.recorder.record_at(loss.at, round, unanswered);
        }
    }
    Ok(())
}

/// Whether an earlier submit of the round had the same owner and key.
fn is_duplicate(events: &[Event], round: u32, out: &Outgoing) -> bool {
    out.verb == "submit"
        && out.key.is_some()
        && events.iter().filter(|event| event.round == round).any(|event| match &event.kind {
            Kind::Sent { request, verb, owner, key, .. } => {
                *request < out.id && verb == "submit" && *owner == out.owner && *key == out.key
            }
            _ => false,
        })
}

/// Whether requests of the step came through an earlier gate without the bytes that it held back.
fn was_early(events: &[Event], of: &str) -> bool {
    events.iter().any(|event| match &event.kind {
        Kind::GateOpened { step, early, .. } => step == of && *early > 0,
        _ => false,
    })
}

/// Shorter values are words that an answer may hold by chance.
const SECRET_LENGTH: usize = 8;

/// Whether an answer holds a value that the target file calls secret.
fn leaks(world: &World, body: &[u8], headers: &[(String, String)]) -> bool {
    world.secrets.values().iter().filter(|secret| secret.len() >= SECRET_LENGTH).any(|secret| {
        body.windows(secret.len()).any(|window| window == secret.as_bytes())
            || headers.iter().any(|(_, value)| value.contains(secret.as_str()))
    })
}

/// The answer as a liar tells it.
fn lied(world: &World, round: u32, out: &Outgoing, raw: &RawAnswer, liar: &Liar) -> Result<RawAnswer, Fault> {
    let states = &world.target.target.states;
    let truth = read_answer(&out.operation, states, raw.status, &raw.headers, &raw.body)?;
    let job = truth.job.as_deref().or(out.job.as_deref());
    let effect = world.recorder.look(|events| job.is_some_and(|job| has_effect(events, job)));
    let asked = Asked {
        round,
        verb: out.verb,
        owner: &out.owner,
        key: out.key.as_deref(),
        job: out.job.as_deref(),
        effect,
    };
    let mut raw = raw.clone();
    liar.tell(asked, &out.operation, states, &truth, &mut raw);
    Ok(raw)
}

/// Whether a call for a job had its effect.
fn has_effect(events: &[Event], job: &str) -> bool {
    let of_job = |id: u64| {
        events.iter().any(|event| {
            matches!(&event.kind, Kind::Called { call, identity, .. } if *call == id && identity.as_deref() == Some(job))
        })
    };
    events.iter().any(|event| matches!(&event.kind, Kind::Effect { call } if of_job(*call)))
}

/// A body without secrets. One without any is taken as it is, byte by byte.
fn hidden<'b>(world: &World, body: &'b [u8]) -> Cow<'b, [u8]> {
    let holds = |secret: &String| body.windows(secret.len()).any(|window| window == secret.as_bytes());
    if world.secrets.values().iter().any(holds) {
        return Cow::Owned(world.secrets.redact(&String::from_utf8_lossy(body)).into_bytes());
    }
    Cow::Borrowed(body)
}

/// Sends one request and waits for its answer.
pub(super) async fn exchange(world: Arc<World>, round: u32, out: Outgoing) -> Result<(), Fault> {
    if once(&world, round, &out).await? || world.tap.is_none() {
        return Ok(());
    }
    // A sweep has killed the service under this request: the client sends the very same bytes once more.
    world.steady().await;
    let (client, replica) = world.client(Some(out.replica)).await?;
    let again = Outgoing { id: world.request_id(), client, replica, ..out };
    once(&world, round, &again).await.map(drop)
}

/// Sends one request. False when it got no answer.
async fn once(world: &World, round: u32, out: &Outgoing) -> Result<bool, Fault> {
    let deadline = Instant::now() + world.target.target.answer_within.0;
    let outcome = out.client.send(&out.prepared, deadline, || sent(world, round, out)).await;
    ended(world, round, out, &outcome)?;
    Ok(outcome.is_ok())
}

/// Sends requests one by one into a lock that all of them run into, and lifts it once they wait there.
pub(super) async fn through_lock(
    world: Arc<World>,
    round: u32,
    step: &str,
    outgoing: Vec<Outgoing>,
    deadline: Instant,
) -> Result<Vec<Sending>, Fault> {
    let expected = count(outgoing.len());
    let gate = arm(&world, round, step, expected).await?;
    let ids: Vec<u64> = outgoing.iter().map(|out| out.id).collect();
    let tasks = outgoing.into_iter().map(|out| tokio::spawn(exchange(world.clone(), round, out))).collect();
    let armed = Armed { step, gate, expected, requests: &ids };
    armed.open(&world, round, deadline).await?;
    Ok(tasks)
}

/// A lock that requests or decisions run into.
pub(super) struct Armed<'a> {
    /// The step that it belongs to.
    pub step: &'a str,
    /// The lock.
    pub gate: LockGate,
    /// How many are to wait behind it.
    pub expected: u32,
    /// Requests whose early answers would show that the gate was useless.
    pub requests: &'a [u64],
}

/// Locks the table that every creation and every decision writes to.
pub(super) async fn arm(world: &World, round: u32, step: &str, expected: u32) -> Result<LockGate, Fault> {
    let (Some(url), Some(database)) = (&world.database_url, &world.target.target.database) else {
        return Err(Fault::new(
            Code::Bug,
            "the lock gate was planned for a target whose database we don't have",
            "please report this with the target file",
        ));
    };
    let gate = LockGate::arm(url, &database.jobs_table, LOCK_WITHIN).await?;
    let armed = Kind::GateArmed { step: step.to_owned(), gate: "lock".to_owned(), expected };
    world.recorder.record(round, armed);
    Ok(gate)
}

impl Armed<'_> {
    /// Waits until all that are expected wait behind the lock, or no further one comes, and lifts it.
    pub(super) async fn open(mut self, world: &World, round: u32, deadline: Instant) -> Result<(), Fault> {
        let waiting = self
            .gate
            .wait_for(self.expected, Patience { alike: !self.requests.is_empty(), ..PATIENCE }, deadline)
            .await?
            .all();
        let early = world.recorder.look(|events| {
            let answered = events.iter().filter(|event| match &event.kind {
                Kind::Answered { request, .. } => self.requests.contains(request),
                _ => false,
            });
            count(answered.count())
        });
        self.gate.open().await?;
        world.recorder.record(
            round,
            Kind::GateOpened {
                step: self.step.to_owned(),
                gate: "lock".to_owned(),
                waiting,
                expected: self.expected,
                early,
                spread_us: 0,
            },
        );
        Ok(())
    }
}

fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

/// Tells the history what happens behind an arrival gate, as it happens.
struct Teller {
    world: Arc<World>,
    round: u32,
    step: String,
    gate: &'static str,
    outgoing: Vec<Outgoing>,
    misfit: Mutex<Option<Fault>>,
}

impl Watch for Teller {
    fn sent(&self, index: usize) {
        sent(&self.world, self.round, &self.outgoing[index]);
    }

    fn opened(&self, opening: &Opening) {
        self.world.recorder.record(
            self.round,
            Kind::GateOpened {
                step: self.step.clone(),
                gate: self.gate.to_owned(),
                waiting: opening.waiting,
                expected: count(self.outgoing.len()),
                early: opening.early,
                spread_us: u64::try_from(opening.spread.as_micros()).unwrap_or(u64::MAX),
            },
        );
    }

    fn ended(&self, index: usize, outcome: &Outcome) {
        if let Err(fault) = ended(&self.world, self.round, &self.outgoing[index], outcome) {
            self.misfit.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(fault);
        }
    }
}

/// Sends all but the last bytes of every request, then the last bytes at once.
pub(super) async fn at_once(
    world: Arc<World>,
    round: u32,
    step: String,
    outgoing: Vec<Outgoing>,
) -> Result<(), Fault> {
    let h2 = world.target.target.http == Http::H2;
    let gate = if h2 { "arrival-h2" } else { "arrival-h1" };
    let armed =
        Kind::GateArmed { step: step.clone(), gate: gate.to_owned(), expected: count(outgoing.len()) };
    world.recorder.record(round, armed);
    let Some(first) = outgoing.first() else { return Ok(()) };
    // One connection, or one listener: requests that are to arrive together go to one replica.
    let origin = first.client.origin().clone();
    let requests: Vec<_> = outgoing.iter().map(|out| out.prepared.clone()).collect();
    // A service that answered before it had the whole request has to be kept from the end of the head.
    let by_the_head = world.recorder.look(|events| was_early(events, &step));
    let hold = if by_the_head { Hold::HeadsEnd } else { Hold::LastByte };
    let timing = Timing { within: world.target.target.answer_within.0, hold, ..Timing::default() };
    let teller = Arc::new(Teller { world, round, step, gate, outgoing, misfit: Mutex::new(None) });
    let watch: Arc<dyn Watch> = teller.clone();
    if h2 {
        arrive_h2(&origin, requests, timing, watch).await?;
    } else {
        arrive_h1(&origin, requests, timing, watch).await?;
    }
    let misfit = teller.misfit.lock().unwrap_or_else(PoisonError::into_inner).take();
    misfit.map_or(Ok(()), Err)
}
