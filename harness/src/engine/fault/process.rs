//! Faults of the service's processes.

use std::sync::Arc;

use super::{InForce, Terms, both};
use crate::{engine::world::World, fail::Fault, fault::GroupSignal};

pub(super) async fn process(
    world: &Arc<World>,
    round: u32,
    terms: &Terms<'_>,
    replica: u32,
) -> Result<(), Fault> {
    let told = |what: &str| both(world, round, terms.name, &format!("replica {replica} {what}"));
    match terms.kind() {
        "kill" => {
            world.kill(replica).await?;
            told("killed (SIGKILL)");
        }
        "stop" => {
            world.signal(replica, GroupSignal::Stop).await?;
            told("stands still (SIGSTOP)");
            world.standing.lock().await.0.insert(terms.name.to_owned(), InForce::Paused(replica));
        }
        "start" | "join" => {
            world.start(replica, terms.clock()).await?;
            told("started");
        }
        "restart" => {
            world.stop(replica).await?;
            world.start(replica, terms.clock()).await?;
            told("asked to end (SIGTERM), and started anew");
        }
        "crash" => {
            world.kill(replica).await?;
            world.start(replica, terms.clock()).await?;
            told("killed (SIGKILL), and started anew");
        }
        other => {
            return Err(terms.wrong(
                format!("there is no fault `{other}`"),
                "on a process there are: kill, stop, start, join, restart, crash; the names of others begin with `client-`, \
                 `provider-`, `database-`, `attestation-` or `contract-`",
            ));
        }
    }
    Ok(())
}
