//! Faults between two parts: on the lines that proxies carry.

use std::sync::Arc;

use super::{InForce, Terms, place};
use crate::{
    engine::world::World,
    fail::Fault,
    fault::{Armed, Hit, Proxy, Upstream},
    history::Kind,
};

pub(super) async fn between(
    world: &Arc<World>,
    round: u32,
    terms: &Terms<'_>,
    proxies: &[Arc<Proxy>],
    second: Option<Upstream>,
) -> Result<(), Fault> {
    if proxies.is_empty() {
        return Err(terms.wrong("there is no proxy at that place", "please report this with the scenario"));
    }
    if terms.kind() == "down" {
        return down(world, round, terms, proxies).await;
    }
    let fault = terms.for_proxy(second)?;
    let detail = format!("{} {:?}", terms.kind(), terms.with);
    let mut tasks = Vec::new();
    for proxy in proxies {
        let armed = proxy.arm(fault.clone(), terms.times()?);
        tasks.push(tokio::spawn(tell(world.clone(), round, terms.name.to_owned(), armed)));
    }
    world.recorder.record(round, Kind::FaultApplied { fault: terms.name.to_owned(), detail });
    world.standing.lock().await.0.insert(terms.name.to_owned(), InForce::Armed(tasks));
    Ok(())
}

/// Nobody listens at a place any more, until it is healed.
async fn down(
    world: &Arc<World>,
    round: u32,
    terms: &Terms<'_>,
    proxies: &[Arc<Proxy>],
) -> Result<(), Fault> {
    for proxy in proxies {
        proxy.close().await?;
        // The kernel refuses on its own and tells nobody, so it is tried.
        let refused = tokio::net::TcpStream::connect(proxy.address()).await;
        let detail = format!("connections to {} are refused", place(terms.name));
        world
            .recorder
            .record(round, Kind::FaultApplied { fault: terms.name.to_owned(), detail: detail.clone() });
        if refused.is_err_and(|error| error.kind() == std::io::ErrorKind::ConnectionRefused) {
            world.recorder.record(round, Kind::FaultHit { fault: terms.name.to_owned(), detail });
        }
    }
    world.standing.lock().await.0.insert(terms.name.to_owned(), InForce::Down(proxies.to_vec()));
    Ok(())
}

/// Owns an armed fault and tells of its hits. Ending the task disarms it.
async fn tell(world: Arc<World>, round: u32, fault: String, mut armed: Armed) {
    while let Ok(hit) = armed.hit().await {
        world.recorder.record_at(
            hit.at,
            round,
            Kind::FaultHit { fault: fault.clone(), detail: detail(&hit) },
        );
    }
    // A fault that has used up its hits stays armed until it is healed: what it did to a connection lasts.
    std::future::pending::<()>().await;
}

fn detail(hit: &Hit) -> String {
    let mut words = vec![format!("connection {}", hit.connection)];
    words.extend(hit.request.clone());
    words.extend(hit.status.map(|status| format!("the answer was {status}")));
    words.extend(hit.second_status.map(|status| format!("the second answered {status}")));
    if hit.passed > 0 {
        words.push(format!("after {} bytes", hit.passed));
    }
    words.join(", ")
}
