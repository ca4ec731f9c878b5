//! Everything that one cell has to itself: database, provider double, replicas of the service, history.

use std::{
    path::PathBuf,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
};

use tokio::sync::RwLock;

use super::{launch::Placeholders, service::{Launch, Replica}};
use crate::{
    double::Double,
    fail::{Code, Fault},
    gate::{Client, Origin, Protocol},
    history::Recorder,
    leash::Leash,
    postgres::{Database, Template},
    scenario::Scenario,
    target::{Hidden, Http, Owner, TargetFile},
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
    /// Identifies the run; part of every key.
    pub run_id: String,
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
    /// Running replicas, where we start them.
    pub replicas: RwLock<Vec<Replica>>,
    /// How to start another.
    pub launch: Option<Launch>,
    /// Whose they are.
    pub leash: Leash,
    /// What must not be seen in the history.
    pub secrets: Hidden,
    /// How to reach the replicas, in their order.
    clients: RwLock<Vec<Client>>,
    next_request: AtomicU64,
    next_replica: AtomicUsize,
    database: Mutex<Option<Database>>,
}

impl World {
    /// Builds it: database, double, service, in this order, since each needs the one before.
    pub async fn build(grounds: &Grounds, scenario: &Scenario, replicas: usize) -> Result<Arc<Self>, Fault> {
        let target = grounds.target.clone();
        let recorder = Recorder::new();
        let mut placeholders =
            Placeholders::of(&target, &grounds.program, &scenario.settings, &grounds.defects);
        let database = match &grounds.template {
            Some(template) => Some(template.fresh().await?),
            None => None,
        };
        let database_url = database
            .as_ref()
            .map(|database| database.url.clone())
            .or_else(|| target.target.database.as_ref().and_then(|section| section.url.clone()));
        if let Some(url) = &database_url {
            placeholders.set("database.url", url);
        }
        let double = match &target.provider {
            Some(section) => {
                let double = Double::start(&section.names, section, recorder.clone()).await?;
                for name in &section.names {
                    placeholders.set(format!("provider.{name}.url"), double.url(name));
                }
                Some(double)
            }
            None => None,
        };
        let launch = match &target.target.command {
            Some(command) => {
                let mut env = Vec::new();
                for (name, value) in &command.env {
                    env.push((name.clone(), placeholders.text(value)?));
                }
                let mut launch = Launch::of(command, placeholders.argv(&command.start)?, env)?;
                launch.ready.clone_from(&target.target.ready);
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
        let bases: Vec<&str> = if running.is_empty() {
            target.target.base.iter().map(String::as_str).collect()
        } else {
            running.iter().map(Replica::base).collect()
        };
        let mut clients = Vec::new();
        for base in bases {
            clients.push(client(&target, base).await?);
        }
        Ok(Arc::new(Self {
            target,
            recorder,
            double,
            database_url,
            replicas: RwLock::new(running),
            launch,
            leash: grounds.leash.clone(),
            secrets: grounds.target.hidden.clone(),
            clients: RwLock::new(clients),
            next_request: AtomicU64::new(1),
            next_replica: AtomicUsize::new(0),
            database: Mutex::new(database),
        }))
    }

    /// How to reach the replica that gets the next request, and its number, from 1. `wanted` asks for one replica.
    pub async fn client(&self, wanted: Option<u32>) -> Result<(Client, u32), Fault> {
        let clients = self.clients.read().await;
        let index = match wanted {
            Some(number) => (number.max(1) - 1) as usize,
            None => self.next_replica.fetch_add(1, Ordering::Relaxed),
        };
        let index = index % clients.len().max(1);
        let client = clients.get(index).cloned().ok_or_else(|| {
            Fault::new(
                Code::TargetIncomplete,
                "nothing says where the service listens",
                "give `base` in [target], or `[target.command]` to start it",
            )
        })?;
        Ok((client, u32::try_from(index + 1).unwrap_or(u32::MAX)))
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
        replicas.iter().map(Replica::last_output).collect()
    }

    /// Whether a replica that we started has ended on its own.
    pub async fn has_died(&self) -> bool {
        let mut replicas = self.replicas.write().await;
        replicas.iter_mut().any(|replica| !replica.runs())
    }

    /// Takes it down. The history stays.
    pub async fn end(&self) {
        for replica in self.replicas.write().await.drain(..) {
            // The world's database goes with it, so nothing is worth a slow farewell.
            replica.kill().await;
        }
        if let Some(double) = &self.double {
            double.finish().await;
        }
        let database = self.database.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(database) = database {
            database.let_go();
        }
    }

}

/// A client of the service at a base URL.
pub async fn client(target: &TargetFile, base: &str) -> Result<Client, Fault> {
    let protocol = if target.target.http == Http::H2 { Protocol::H2 } else { Protocol::H1 };
    Ok(Client::new(Origin::resolve(base).await?, protocol))
}
