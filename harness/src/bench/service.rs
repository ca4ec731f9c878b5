//! A service under test to measure on: its world, its callers, and empty exchanges beside it.

use std::{
    collections::{BTreeMap, HashMap},
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

use axum::{Router, body::Bytes};
use tokio::{net::TcpListener, sync::Barrier, task::JoinHandle};

use super::{
    Attempt, Calls, Effort, End, Figures, Trouble, Unsound, Venue, Work,
    block::nanos,
    caller::{Caller, Submitted},
    judge::span_ns,
    plan::Life,
};
use crate::{
    engine::{Grounds, World},
    fail::Fault,
    gate::{Client, Origin, Prepared, Protocol},
    history::Kind,
    scenario::Scenario,
    target::Http,
};

/// The setting of a world without any fault.
const PLAIN: &str = r#"
id    = "bench"
title = "Jobs one after the other"
why   = "What they cost is measured."

[[step]]
id   = "submit"
do   = "submit"
with = { key = "K", payload = "P" }

[witness]
answered = ["submit"]
"#;

/// A service under test to measure on.
#[derive(Debug)]
pub struct Service {
    world: Arc<World>,
    empty: Empty,
    run: String,
    blocks: u32,
}

/// What one caller did in a block.
#[derive(Debug, Clone)]
struct Done {
    attempt: Attempt,
    key: String,
    job: Option<String>,
    state: Option<String>,
}

impl Service {
    /// Starts the service, and what it needs, and a server that does nothing beside it.
    pub async fn open(grounds: &Grounds, replicas: usize) -> Result<Self, Fault> {
        let scenario: Scenario = toml::from_str(PLAIN).map_err(|error| {
            Fault::new(crate::fail::Code::Bug, "the plain setting is no scenario", "please report this")
                .because(error)
        })?;
        let world = World::build(grounds, &scenario, replicas).await?;
        let empty = Empty::start().await.map_err(|error| {
            Fault::new(crate::fail::Code::PortInUse, "no server can be started on 127.0.0.1", "free a port")
                .because(error)
        })?;
        Ok(Self { world, empty, run: uuid::Uuid::new_v4().simple().to_string(), blocks: 0 })
    }

    /// Takes it down.
    pub async fn close(self) {
        self.world.end().await;
    }

    async fn callers(&self, count: u32) -> Result<Vec<Caller>, Fault> {
        let mut callers = Vec::new();
        for number in 0..count {
            let (client, _) = self.world.client(None).await?;
            callers.push(Caller::new(number, Arc::clone(&self.world.target), client));
        }
        Ok(callers)
    }

    async fn block(&mut self, life: Life, count: u32, effort: Effort) -> Result<Vec<Done>, Trouble> {
        self.blocks += 1;
        let turns_of_each = (effort.count / i64::from(count)).max(2);
        let effort = Effort { count: turns_of_each, ..effort };
        let stem = format!("ojb-{}-{}", &self.run[..12], self.blocks);
        let calls = Calls { callers: count, per_key: if life == Life::Duplicate { 2 } else { 1 } };
        let callers = self.callers(count).await?;
        let (start, began) = (Arc::new(Barrier::new(callers.len())), Instant::now());
        let mut running = Vec::new();
        for caller in callers {
            let (start, stem) = (Arc::clone(&start), stem.clone());
            running.push(tokio::spawn(async move {
                start.wait().await;
                turns(caller, life, calls, effort, (began, stem)).await
            }));
        }
        let (mut done, mut callers) = (Vec::new(), Vec::new());
        for task in running {
            match task.await {
                Ok(of_one) => {
                    let (caller, of_one) = of_one?;
                    // Jobs that are still waiting would be what the next block is measured on.
                    callers.push((caller, of_one.iter().rev().find_map(|done| done.job.clone())));
                    done.extend(of_one);
                }
                Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
                // Only an ending runtime gives tasks up.
                Err(_) => {}
            }
        }
        for (mut caller, last) in callers {
            if let Some(last) = last {
                caller.end_of(&last, None).await?;
            }
        }
        Ok(done)
    }

    /// Effects by the identity that the provider was given, where a double counts them.
    fn effects(&self) -> BTreeMap<String, u32> {
        self.world.recorder.look(|events| {
            let mut identities = HashMap::new();
            let mut effects: BTreeMap<String, u32> = BTreeMap::new();
            for event in events {
                match &event.kind {
                    Kind::Called { call, identity: Some(identity), .. } => {
                        identities.insert(*call, identity.clone());
                    }
                    Kind::Effect { call } => {
                        if let Some(identity) = identities.get(call) {
                            *effects.entry(identity.clone()).or_default() += 1;
                        }
                    }
                    _ => {}
                }
            }
            effects
        })
    }
}

impl Venue for Service {
    async fn play(&mut self, work: Work, contenders: u32, effort: Effort) -> Result<Figures, Trouble> {
        let Work::Live(life) = work else { return Err(Unsound::Nothing.into()) };
        let done = self.block(life, contenders, effort).await?;
        judge(life, &done)?;
        if let Some((job, times)) = self.effects().into_iter().find(|(_, times)| *times > 1) {
            return Err(Unsound::Effects { job, times }.into());
        }
        let attempts: Vec<Attempt> = done.iter().map(|done| done.attempt).collect();
        Ok(Figures::of(&attempts, (attempts.len(), span_ns(&attempts)), 0.0, None))
    }

    async fn limit(
        &mut self,
        _: Work,
        contenders: u32,
        effort: Effort,
    ) -> Result<Result<f64, String>, Trouble> {
        let target = &self.world.target;
        let protocol = if target.target.http == Http::H2 { Protocol::H2 } else { Protocol::H1 };
        let origin = Origin::resolve(&format!("http://{}", self.empty.address)).await.map_err(Fault::from)?;
        let exchanges = Arc::new(Mutex::new(0_u32));
        let began = Instant::now();
        let mut running = Vec::new();
        for number in 0..contenders {
            let client = Client::new(origin.clone(), protocol);
            let mut caller = Caller::new(number, Arc::clone(target), client);
            let exchanges = Arc::clone(&exchanges);
            running.push(tokio::spawn(async move {
                let request = Prepared {
                    method: "POST".to_owned(),
                    path: "/".to_owned(),
                    body: vec![b'x'; 128],
                    ..Prepared::default()
                };
                for _ in 0..effort.count {
                    if began.elapsed() > effort.within || caller.exchange(&request).await.is_err() {
                        break;
                    }
                    *exchanges.lock().unwrap_or_else(PoisonError::into_inner) += 1;
                }
            }));
        }
        for task in running {
            drop(task.await);
        }
        let made = *exchanges.lock().unwrap_or_else(PoisonError::into_inner);
        if made == 0 {
            return Ok(Err("no empty exchange came to its end".to_owned()));
        }
        Ok(Ok(f64::from(made) / began.elapsed().as_secs_f64()))
    }

    fn has_limit(&self) -> bool {
        true
    }
}

/// One caller's turns.
async fn turns(
    mut caller: Caller,
    life: Life,
    calls: Calls,
    effort: Effort,
    (began, stem): (Instant, String),
) -> Result<(Caller, Vec<Done>), Fault> {
    let mut all = Vec::new();
    for turn in 0..effort.count {
        let call = calls.call(caller.number, turn);
        let due = effort.load.due(call.number);
        if let Some(due) = due {
            tokio::time::sleep_until((began + due).into()).await;
        }
        if began.elapsed() > effort.within {
            break;
        }
        let key = format!("{stem}-{}", call.key);
        let began_ns = nanos(began.elapsed());
        let submitted = caller.submit(&key).await?;
        let (mut end, mut job, mut state) = (End::Unknown, None, None);
        match submitted {
            Submitted::Job { id, state: at_first, replayed } => {
                end = if replayed { End::Lost } else { End::Won };
                if life == Life::ToResult {
                    state = caller.end_of(&id, at_first).await?;
                    end = if state.is_some() { end } else { End::Unknown };
                }
                job = Some(id);
            }
            Submitted::Refused => end = End::Busy,
            Submitted::Unknown => {}
        }
        let attempt = Attempt {
            contender: caller.number,
            job: call.number,
            due_ns: due.map_or(began_ns, nanos),
            began_ns,
            ended_ns: nanos(began.elapsed()),
            end,
            retries: 0,
        };
        all.push(Done { attempt, key, job, state });
    }
    Ok((caller, all))
}

/// One job a key, one key a job, and each at the end that the provider gave it.
fn judge(life: Life, done: &[Done]) -> Result<(), Unsound> {
    let mut by_key: BTreeMap<&str, &str> = BTreeMap::new();
    let mut by_job: BTreeMap<&str, &str> = BTreeMap::new();
    let known = done.iter().filter(|done| done.job.is_some());
    if known.clone().next().is_none() {
        return Err(Unsound::Nothing);
    }
    for one in known {
        let (key, job) = (one.key.as_str(), one.job.as_deref().unwrap_or_default());
        let first = *by_key.entry(key).or_insert(job);
        if first != job {
            let (key, first, second) = (key.to_owned(), first.to_owned(), job.to_owned());
            return Err(Unsound::KeyWithTwoJobs { key, first, second });
        }
        let first = *by_job.entry(job).or_insert(key);
        if first != key {
            return Err(Unsound::JobOfTwoKeys {
                job: job.to_owned(),
                first: first.to_owned(),
                second: key.to_owned(),
            });
        }
        if life == Life::ToResult
            && let Some(state) = one.state.as_deref().filter(|state| *state != "succeeded")
        {
            return Err(Unsound::EndedOtherwise { job: job.to_owned(), state: state.to_owned() });
        }
    }
    Ok(())
}

/// A server that does nothing but answer.
#[derive(Debug)]
struct Empty {
    address: SocketAddr,
    serving: JoinHandle<()>,
}

impl Empty {
    async fn start() -> std::io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let routes = Router::new().fallback(async |_: Bytes| "{\"id\":\"0\",\"state\":\"queued\"}");
        let serving = tokio::spawn(async move {
            // It never ends by itself.
            let _ = axum::serve(listener, routes).await;
        });
        Ok(Self { address, serving })
    }
}

impl Drop for Empty {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn done(number: i64, key: &str, job: &str, state: &str) -> Done {
        let attempt = Attempt {
            contender: 0,
            job: number,
            due_ns: 0,
            began_ns: 0,
            ended_ns: 1,
            end: End::Won,
            retries: 0,
        };
        Done { attempt, key: key.into(), job: Some(job.into()), state: Some(state.into()) }
    }

    #[test]
    fn a_service_that_breaks_its_promise_gives_no_figure() {
        let good =
            [done(0, "a", "1", "succeeded"), done(1, "a", "1", "succeeded"), done(2, "b", "2", "succeeded")];
        assert_eq!(judge(Life::ToResult, &good), Ok(()));
        let two = [done(0, "a", "1", "succeeded"), done(1, "a", "2", "succeeded")];
        assert!(matches!(judge(Life::Duplicate, &two), Err(Unsound::KeyWithTwoJobs { .. })));
        let mixed = [done(0, "a", "1", "succeeded"), done(1, "b", "1", "succeeded")];
        assert!(matches!(judge(Life::Create, &mixed), Err(Unsound::JobOfTwoKeys { .. })));
        let failed = [done(0, "a", "1", "failed")];
        assert!(matches!(judge(Life::ToResult, &failed), Err(Unsound::EndedOtherwise { .. })));
        assert_eq!(judge(Life::Create, &[]), Err(Unsound::Nothing));
    }

    #[test]
    fn the_plain_setting_is_a_scenario() {
        let scenario: Result<Scenario, _> = toml::from_str(PLAIN);
        assert!(scenario.is_ok(), "{scenario:?}");
    }
}
