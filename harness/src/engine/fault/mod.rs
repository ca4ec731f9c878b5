//! Applies a scenario's faults, and confirms in the history that they hit.

mod between;
mod database;
mod lock;
mod process;
mod terms;

use std::{collections::BTreeMap, sync::Arc};

use tokio::{sync::oneshot, task::JoinHandle};

pub(super) use terms::Terms;

use super::world::World;
use crate::{
    fail::{Code, Fault},
    fault::{GroupSignal, Proxy},
    gate::LockError,
    history::Kind,
    scenario::Step,
};

/// Faults that are in force, by their names in the scenario.
#[derive(Debug, Default)]
pub(super) struct Standing(pub(super) BTreeMap<String, InForce>);

#[derive(Debug)]
pub(super) enum InForce {
    /// Proxies hold it; the task tells the history of hits until it is ended, which disarms it.
    Armed(Vec<JoinHandle<()>>),
    /// A replica stands still.
    Paused(u32),
    /// A table or a row is locked from outside, by a task that opens it when it is told to or forgotten.
    Locked(oneshot::Sender<()>, JoinHandle<Result<(), LockError>>),
    /// Nobody listens there.
    Down(Vec<Arc<Proxy>>),
    /// A setting of the database, and what undoes it.
    Setting(String),
}

/// Where a fault's name says that it is: `client-drop`, `provider-cut`, `database-restart`; anything else is about the
/// service's process. `attestation-` and `contract-` are about what lets a job move to another provider.
#[must_use]
pub(super) fn place(name: &str) -> &str {
    match name.split('-').next() {
        Some(place @ ("client" | "provider" | "database" | "attestation" | "contract")) => place,
        _ => "process",
    }
}

/// Applies the fault of a step. In force when it returns.
pub(super) async fn apply(world: &Arc<World>, round: u32, name: &str, step: &Step) -> Result<(), Fault> {
    let fault = step.fault.clone().unwrap_or_default();
    let terms = Terms { step: name, name: &fault, with: &step.with.fault };
    terms.known()?;
    match place(&fault) {
        "client" => {
            let proxies = world.client_proxies(step.with.replica).await;
            let second = world.upstream_of_second().await;
            between::between(world, round, &terms, &proxies, second).await
        }
        "provider" => {
            let proxies = world.provider_proxy.iter().cloned().collect::<Vec<_>>();
            between::between(world, round, &terms, &proxies, None).await
        }
        "database" => database::database(world, round, &terms).await,
        "attestation" | "contract" => super::attestation::apply(world, round, &terms).await,
        _ => process::process(world, round, &terms, step.with.replica.unwrap_or(1)).await,
    }
}

pub(super) fn both(world: &World, round: u32, fault: &str, detail: &str) {
    let (name, detail) = (fault.to_owned(), detail.to_owned());
    world.recorder.record(round, Kind::FaultApplied { fault: name.clone(), detail: detail.clone() });
    world.recorder.record(round, Kind::FaultHit { fault: name, detail });
}

/// Ends the fault of a step.
pub(super) async fn heal(world: &Arc<World>, round: u32, name: &str) -> Result<(), Fault> {
    let standing = world.standing.lock().await.0.remove(name);
    match standing {
        Some(InForce::Armed(tasks)) => {
            for task in tasks {
                task.abort();
                // Disarmed when the task's own state is dropped, which is when it has ended.
                let _ = task.await;
            }
        }
        Some(InForce::Locked(open, keeper)) => {
            // A keeper that is over already has lost its connection, and says so.
            let _ = open.send(());
            keeper.await.map_err(|error| {
                Fault::new(Code::Bug, "a lock's task broke", "please report this").because(error)
            })??;
        }
        Some(InForce::Down(proxies)) => {
            for proxy in proxies {
                proxy.open().await?;
            }
        }
        Some(InForce::Paused(replica)) => world.signal(replica, GroupSignal::Continue).await?,
        Some(InForce::Setting(setting)) => {
            let value = "read committed";
            database::set_default(world, &setting, value).await.map_err(|error| {
                Fault::new(
                    Code::FaultFailed,
                    format!("fault {name} could not be lifted"),
                    "see whether the database still runs",
                )
                .because(error)
            })?;
        }
        None => return Ok(()),
    }
    world.recorder.record(round, Kind::FaultHealed { fault: name.to_owned() });
    Ok(())
}

/// Ends all faults of a round.
pub(super) async fn heal_all(world: &Arc<World>, round: u32) -> Result<(), Fault> {
    let names: Vec<String> = world.standing.lock().await.0.keys().cloned().collect();
    for name in names {
        heal(world, round, &name).await?;
    }
    Ok(())
}
