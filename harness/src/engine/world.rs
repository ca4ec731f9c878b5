//! Everything that one cell has to itself: database, provider double, replicas of the service, history.

use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
};

use sqlx::{Connection as _, PgConnection, postgres::PgConnectOptions};
use tokio::sync::{RwLock, watch};

use super::{
    fault::Standing,
    foundation::Foundation,
    launch::Placeholders,
    own::Own,
    proof::Proof,
    service::{Launch, Replica},
    wiring::{self, Reach, Wiring},
};
use crate::{
    double::Double,
    fail::{Code, Fault},
    fault::{Armed, GroupSignal, HttpFault, Matching, Proxy, ProxyFault, Tap, Times, Upstream, signal_group},
    gate::Client,
    history::Recorder,
    leash::Leash,
    middlebox::Balancer,
    negate::{Liar, Negation},
    postgres::Template,
    scenario::Scenario,
    suite::{Given, Hosted, Running},
    target::{Hidden, OnReplay, Owner, TargetFile},
};

/// What is the same for all cells of a run.
#[derive(Debug, Clone)]
pub struct Grounds {
    /// The target.
    pub target: Arc<TargetFile>,
    /// This program, for `{onejob}`.
    pub program: PathBuf,
    /// The migrated database to clone; none where the target brings its own or has none.
    pub template: Option<Template>,
    /// Kills what is left.
    pub leash: Leash,
    /// Defects to switch on.
    pub defects: Vec<String>,
    /// The promise that is negated in what the target answers; none outside of `prove --target`.
    pub negation: Option<Negation>,
    /// Identifies the run; part of every key.
    pub run_id: String,
    /// A file for the reference service to note in which defects could have made a difference.
    pub reach: Option<PathBuf>,
    /// Whether a cell ends with its first round that breaks a promise.
    pub first_break: bool,
    /// How to start the service in this process, in place of a command or of one that runs.
    pub hosted: Option<Hosted>,
}

/// One cell's world.
#[derive(Debug)]
pub struct World {
    /// The target.
    pub target: Arc<TargetFile>,
    /// The history.
    pub recorder: Arc<Recorder>,
    /// The provider, where the target calls one.
    pub double: Option<Double>,
    /// URL of the database, where the target lets us have it.
    pub database_url: Option<String>,
    /// Running replicas, where we start them; none in the place of one that a fault has ended.
    pub replicas: RwLock<Vec<Option<Replica>>>,
    /// Between service and provider, where a fault is planned there.
    pub provider_proxy: Option<Arc<Proxy>>,
    /// Between service and database, where a fault is planned there.
    pub database_proxy: Option<Arc<Proxy>>,
    /// In the same place, where the scenario sweeps over what the service says there.
    pub(super) tap: Option<Arc<Tap>>,
    /// True while a sweep's kill and the start after it are under way.
    pub(super) outage: watch::Sender<bool>,
    /// What lets the service move jobs by itself, where the target says that it does.
    pub(super) proof: Option<Proof>,
    /// Makes answers wrong, where a promise is to be negated.
    pub(super) liar: Option<Liar>,
    /// Sends each call twice, where that is the lie.
    _twice: Option<Armed>,
    /// Faults that are in force.
    pub(super) standing: tokio::sync::Mutex<Standing>,
    /// Whether a duplicate is told the first answer, which says nothing about now.
    pub snapshots: bool,
    /// How to start another.
    pub launch: Option<Launch>,
    /// Whose they are.
    pub leash: Leash,
    /// What must not be seen in the history.
    pub secrets: Hidden,
    /// How to reach the replicas, in their order.
    clients: RwLock<Vec<Reach>>,
    /// The balancer before them, where the scenario asks for one.
    front: Option<(Client, Balancer)>,
    /// Counts rows for the laws, where the target lets us.
    pub(super) counter: tokio::sync::Mutex<Option<PgConnection>>,
    /// Copies of the service in this process; they end with the world.
    _hosted: Vec<Running>,
    next_request: AtomicU64,
    next_replica: AtomicUsize,
    foundation: RwLock<Foundation>,
}

impl World {
    /// Builds it: database, double, service, in this order, since each needs the one before.
    pub async fn build(grounds: &Grounds, scenario: &Scenario, replicas: usize) -> Result<Arc<Self>, Fault> {
        let target = grounds.target.clone();
        let recorder = Recorder::new();
        let mut placeholders =
            Placeholders::of(&target, &grounds.program, &scenario.settings, &grounds.defects);
        let mut wiring = Wiring::planned(scenario);
        let twice = grounds.negation == Some(Negation::SecondEffect);
        wiring.provider |= twice;
        // Most cells need little of what it can do, and would carry all of it about.
        let foundation = Box::pin(Foundation::lay(grounds, scenario, wiring)).await?;
        if let Some(url) = &foundation.of_service {
            placeholders.set("database.url", url);
        }
        let (double, provider_proxy) =
            doubled(&target, &recorder, &mut placeholders, wiring.provider).await?;
        let twice = twice.then(|| twice_each(provider_proxy.as_deref(), double.as_ref())).flatten();
        let proof = Proof::of(&target, &mut placeholders, &grounds.leash)?;
        let launch = match &target.target.command {
            Some(command) => {
                let mut env = Vec::new();
                for (name, value) in &command.env {
                    env.push((name.clone(), placeholders.text(value)?));
                }
                if let Some(reach) = &grounds.reach {
                    env.push(("ONEJOB_REACH".to_owned(), reach.display().to_string()));
                }
                let mut launch = Launch::of(command, placeholders.argv(&command.start)?, env)?;
                launch.ready.clone_from(&target.target.ready);
                launch.trust = target.target.trust();
                launch.stop = placeholders.argv(&command.stop)?;
                launch.kill = placeholders.argv(&command.kill)?;
                launch.base = target.target.base.first().cloned();
                Some(launch)
            }
            None => None,
        };
        let mut running = Vec::new();
        if let Some(launch) = &launch {
            for _ in 0..replicas.max(1) {
                running.push(launch.start(&grounds.leash).await?);
            }
        }
        let hosted = match &grounds.hosted {
            Some(service) => hosted(service, &target, &placeholders).await?,
            None => Vec::new(),
        };
        let bases: Vec<&str> = if !hosted.is_empty() {
            hosted.iter().map(Running::base).collect()
        } else if running.is_empty() {
            target.target.base.iter().map(String::as_str).collect()
        } else {
            running.iter().map(Replica::base).collect()
        };
        let mut clients = Vec::new();
        for base in bases {
            clients.push(Reach::new(&target, base, wiring.client).await?);
        }
        let front = match scenario.setup.balancer {
            Some(kind) => {
                let addresses: Vec<_> = clients.iter().filter_map(Reach::address).collect();
                let balancer = Balancer::start(kind, &addresses, &grounds.leash).await?;
                let base = running.first().map_or("http://127.0.0.1", Replica::base);
                Some((wiring::to_balancer(&balancer, base).await?, balancer))
            }
            None => None,
        };
        Ok(Arc::new(Self {
            snapshots: target.promises().replay.answer == OnReplay::Snapshot,
            target,
            recorder,
            double,
            database_url: foundation.url.clone(),
            replicas: RwLock::new(running.into_iter().map(Some).collect()),
            provider_proxy,
            database_proxy: foundation.proxy.clone(),
            tap: foundation.tap.clone(),
            outage: watch::Sender::new(false),
            proof,
            liar: grounds.negation.map(Liar::new),
            _twice: twice,
            standing: tokio::sync::Mutex::default(),
            launch,
            leash: grounds.leash.clone(),
            secrets: grounds.target.hidden.clone(),
            clients: RwLock::new(clients),
            front,
            counter: tokio::sync::Mutex::default(),
            _hosted: hosted,
            next_request: AtomicU64::new(1),
            next_replica: AtomicUsize::new(0),
            foundation: RwLock::new(foundation),
        }))
    }

    /// How to reach the replica that gets the next request, and its number, from 1; 0 where a balancer chooses.
    /// `wanted` asks for one replica.
    pub async fn client(&self, wanted: Option<u32>) -> Result<(Client, u32), Fault> {
        if let (Some((front, _)), None) = (&self.front, wanted) {
            return Ok((front.clone(), 0));
        }
        let clients = self.clients.read().await;
        let index = match wanted {
            Some(number) => (number.max(1) - 1) as usize,
            None => self.next_replica.fetch_add(1, Ordering::Relaxed),
        };
        let index = index % clients.len().max(1);
        let client = clients.get(index).map(|reach| reach.client.clone()).ok_or_else(|| {
            Fault::new(
                Code::TargetIncomplete,
                "nothing says where the service listens",
                "give `base` in [target], or `[target.command]` to start it",
            )
        })?;
        Ok((client, u32::try_from(index + 1).unwrap_or(u32::MAX)))
    }

    /// Where the replicas listen, as their URLs have it.
    pub(super) async fn bases(&self) -> Vec<String> {
        self.clients.read().await.iter().map(|reach| reach.client.origin().to_string()).collect()
    }

    /// Waits until no kill of a sweep is under way.
    pub(super) async fn steady(&self) {
        // The sender lives in this world, so waiting can't fail.
        let _ = self.outage.subscribe().wait_for(|outage| !*outage).await;
    }

    /// A number for a new request.
    pub fn request_id(&self) -> u64 {
        self.next_request.fetch_add(1, Ordering::Relaxed)
    }

    /// The owner of this name; the first without a name; none for `nobody`.
    #[must_use]
    pub fn owner(&self, name: Option<&str>) -> Option<&Owner> {
        match name {
            None => self.target.owner.first(),
            Some(name) => self.target.owner.iter().find(|owner| owner.name == name),
        }
    }

    /// What the replicas wrote last, for error messages.
    pub async fn last_output(&self) -> String {
        let replicas = self.replicas.read().await;
        replicas.iter().flatten().map(Replica::last_output).collect()
    }

    /// Whether a replica that we started has ended on its own.
    pub async fn has_died(&self) -> bool {
        let mut replicas = self.replicas.write().await;
        replicas.iter_mut().flatten().any(|replica| !replica.runs())
    }

    /// The proxies before the replicas, or before one of them, where faults are planned there.
    pub(super) async fn client_proxies(&self, replica: Option<u32>) -> Vec<Arc<Proxy>> {
        let clients = self.clients.read().await;
        let wanted = clients.iter().enumerate().filter(|(at, _)| replica.is_none_or(|r| index(r) == *at));
        wanted.filter_map(|(_, reach)| reach.proxy.clone()).collect()
    }

    /// Where the second replica listens itself; the first where there is no second.
    pub(super) async fn upstream_of_second(&self) -> Option<Upstream> {
        let clients = self.clients.read().await;
        clients.get(1).or(clients.first()).map(|reach| reach.upstream.clone())
    }

    /// A connection to the service's database, past any proxy.
    pub(super) async fn administrator(&self) -> Result<PgConnection, Fault> {
        let connected = async {
            let options: PgConnectOptions = self.database_url.as_deref().unwrap_or_default().parse()?;
            PgConnection::connect_with(&options.application_name("onejob harness")).await
        };
        connected.await.map_err(|error: sqlx::Error| {
            Fault::new(
                Code::DatabaseLost,
                "the service's database can't be reached",
                "see whether it still runs",
            )
            .because(error)
        })
    }

    /// The server that this cell has to itself.
    pub(super) async fn with_own_server<T>(
        &self,
        act: impl AsyncFnOnce(&Own, Option<&Proxy>) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let foundation = self.foundation.read().await;
        let own = foundation.own.as_ref().ok_or_else(|| {
            Fault::new(
                Code::FaultFailed,
                "the database server is not this scenario's alone, so it can't be crashed",
                "say `[setup] server = \"alone\"`",
            )
        })?;
        let done = act(own, foundation.proxy.as_deref()).await?;
        // Whatever connection we had is broken now.
        drop(self.counter.lock().await.take());
        Ok(done)
    }

    /// Sends a signal to a replica, and waits until it has followed.
    pub(super) async fn signal(&self, replica: u32, signal: GroupSignal) -> Result<(), Fault> {
        let pid = {
            let replicas = self.replicas.read().await;
            replicas.get(index(replica)).and_then(Option::as_ref).map(Replica::pid)
        };
        let pid = pid.ok_or_else(|| no_replica(replica))?;
        Ok(signal_group(pid, signal).await?)
    }

    /// Kills a replica; its place stays empty.
    pub(super) async fn kill(&self, replica: u32) -> Result<(), Fault> {
        self.taken(replica).await?.kill().await
    }

    /// Asks a replica to end, and waits for it; its place stays empty.
    pub(super) async fn stop(&self, replica: u32) -> Result<(), Fault> {
        self.taken(replica).await?.stop().await
    }

    async fn taken(&self, replica: u32) -> Result<Replica, Fault> {
        let mut replicas = self.replicas.write().await;
        replicas.get_mut(index(replica)).and_then(Option::take).ok_or_else(|| no_replica(replica))
    }

    /// Starts a replica in an empty place, or in a new one at the end.
    /// `clock` is how far its clock is off, as libfaketime reads it: `+10m`.
    pub(super) async fn start(&self, replica: u32, clock: Option<&str>) -> Result<(), Fault> {
        let mut launch = self.launch.clone().ok_or_else(|| no_replica(replica))?;
        if let Some(clock) = clock {
            launch.env.extend(wrong_clock(clock)?);
        }
        let started = launch.start(&self.leash).await?;
        let through_proxy = self.clients.read().await.iter().any(|reach| reach.proxy.is_some());
        let reach = Reach::new(&self.target, started.base(), through_proxy).await?;
        let mut replicas = self.replicas.write().await;
        let mut clients = self.clients.write().await;
        let place = index(replica);
        if place < replicas.len() {
            replicas[place] = Some(started);
            // An armed fault lives in the old proxy, which goes on in front of the new process.
            match clients[place].proxy.clone() {
                Some(proxy) => {
                    proxy.redirect(reach.upstream.clone());
                    clients[place].upstream = reach.upstream;
                    clients[place].direct = reach.direct;
                }
                None => clients[place] = reach,
            }
        } else {
            replicas.push(Some(started));
            clients.push(reach);
        }
        Ok(())
    }

    /// Takes it down. The history stays.
    pub async fn end(&self) {
        for replica in self.replicas.write().await.drain(..).flatten() {
            // The world's database goes with it, so nothing is worth a slow farewell.
            if let Err(fault) = replica.kill().await {
                tracing::warn!(%fault, "a replica was not taken down as the target file says");
            }
        }
        if let Some(double) = &self.double {
            double.finish().await;
        }
        drop(self.counter.lock().await.take());
        let foundation = std::mem::take(&mut *self.foundation.write().await);
        if let Some(database) = foundation.shared {
            database.let_go();
        }
    }
}

/// Copies of a service in this process: one for each address that the target file has room for.
async fn hosted(
    service: &Hosted,
    target: &Arc<TargetFile>,
    placeholders: &Placeholders,
) -> Result<Vec<Running>, Fault> {
    let mut running = Vec::new();
    for _ in 0..target.target.base.len().max(1) {
        let started = service.start(Given::new(target.clone(), placeholders.clone())).await;
        running.push(started.map_err(|error| {
            let help = "it is the closure given to the suite that failed";
            Fault::new(Code::TargetProgram, "the service in this process could not be started", help)
                .because(error)
        })?);
    }
    Ok(running)
}

/// The provider's double, and the proxy before it where one is planned.
async fn doubled(
    target: &TargetFile,
    recorder: &Arc<Recorder>,
    placeholders: &mut Placeholders,
    through_proxy: bool,
) -> Result<(Option<Double>, Option<Arc<Proxy>>), Fault> {
    let Some(section) = &target.provider else { return Ok((None, None)) };
    let double = Double::start(&section.names, section, recorder.clone()).await?;
    let proxy = if through_proxy {
        Some(Arc::new(Proxy::http(Upstream::Tcp(double.address())).await?))
    } else {
        None
    };
    for name in &section.names {
        let url = double.url(name);
        let url = match &proxy {
            Some(proxy) => url.replace(&double.address().to_string(), &proxy.address().to_string()),
            None => url,
        };
        placeholders.set(format!("provider.{name}.url"), url);
    }
    Ok((Some(double), proxy))
}

/// Sends each call twice.
fn twice_each(proxy: Option<&Proxy>, double: Option<&Double>) -> Option<Armed> {
    let second = Upstream::Tcp(double?.address());
    let fault = HttpFault::Duplicate { second, second_answers: false };
    Some(proxy?.arm(ProxyFault::Http { matching: Matching::method("POST"), fault }, Times::Always))
}

/// The environment of a process whose clock is off. Timers go on by the monotonic clock, which stays as it is.
fn wrong_clock(by: &str) -> Result<Vec<(String, String)>, Fault> {
    let library = faketime().ok_or_else(|| {
        Fault::new(
            Code::FaultFailed,
            "a clock can't be set wrong: libfaketime is not installed",
            "install it, on Debian with `apt-get install libfaketime`",
        )
    })?;
    let values = [
        ("LD_PRELOAD", library.display().to_string()),
        ("FAKETIME", by.to_owned()),
        ("FAKETIME_DONT_FAKE_MONOTONIC", "1".to_owned()),
        ("DONT_FAKE_MONOTONIC", "1".to_owned()),
    ];
    Ok(values.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

/// Where Debian and its relatives put libfaketime.
pub(super) fn faketime() -> Option<PathBuf> {
    const LIBRARY: &str = "faketime/libfaketimeMT.so.1";
    let folders = std::fs::read_dir("/usr/lib").into_iter().flatten().flatten().map(|entry| entry.path());
    folders
        .chain([PathBuf::from("/usr/lib"), PathBuf::from("/usr/local/lib")])
        .map(|folder| folder.join(LIBRARY))
        .find(|path| path.is_file())
}

fn index(replica: u32) -> usize {
    replica.max(1) as usize - 1
}

fn no_replica(replica: u32) -> Fault {
    Fault::new(
        Code::FaultFailed,
        format!("there is no replica {replica} that we could act on"),
        "faults on processes need `[target.command]`, and a replica that runs",
    )
}
