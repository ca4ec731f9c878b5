use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use uuid::Uuid;

use crate::api::{App, listen, router};
use crate::contracts::{Askers, Known};
use crate::failover::Gate;
use crate::metrics::Metrics;
use crate::provider::ProviderClient;
use crate::reach::{Occasion, Reach};
use crate::rules::Rules;
use crate::store::{Store, StoreError, prepare};
use crate::worker::{Phase, Shop, Stop, work};
use crate::{Config, Error};

/// Runs the service until `shutdown` resolves, then drains: nothing new is taken up, and what is under way gets
/// [`Config::drain`] to finish. An attempt that does not make it is left as unknown, never as failed.
///
/// `ready` gets the address as soon as requests are accepted.
pub async fn serve(
    mut config: Config,
    ready: oneshot::Sender<SocketAddr>,
    shutdown: impl Future<Output = ()> + Send,
) -> Result<(), Error> {
    config.check()?;
    let bind = |source| Error::Bind { listen: config.listen, source };
    let listener = TcpListener::bind(config.listen).await.map_err(bind)?;
    let address = listener.local_addr().map_err(bind)?;

    let mut rules = Rules::honest();
    for defect in &config.defects {
        defect.plant(&mut rules);
    }
    if let Some(path) = &config.reach {
        let unwritable = |error| Error::Config(format!("{} can't be written: {error}", path.display()));
        rules.reach = Reach::open(path).map_err(unwritable)?;
    }
    let rules = Arc::new(rules);
    let known = Known::read(&config)?;
    // Only who calls needs the keys.
    let askers = if config.role.works() { Askers::of(&known)? } else { Askers::default() };
    let gate = Gate::open(&config, &known, Arc::clone(&rules))?;
    for provider in config.providers.iter_mut().filter(|provider| known.is_foreign(&provider.name)) {
        // A model's API is not asked about a call in the words of the service's own format.
        provider.max_latency = None;
    }
    let config = Arc::new(config);
    prepare(Arc::clone(&config)).await?;
    let api_store = Store::for_requests(&config, Arc::clone(&rules))?;
    if !rules.preparation.is_empty() {
        api_store.run(rules.preparation.join(";\n")).await.map_err(database)?;
    }
    api_store.add_tokens(config.tokens.clone()).await.map_err(database)?;

    let metrics = Arc::new(Metrics::new());
    let (phase, stop) = Stop::new();
    let mut bell = JoinSet::new();
    bell.spawn(api_store.clone().pass_on());
    let mut crew = JoinSet::new();
    let mut worker_store = None;
    if config.role.works() {
        let store = Store::for_workers(&config, Arc::clone(&rules))?;
        worker_store = Some(store.clone());
        crew.spawn(work(Shop {
            store,
            client: ProviderClient::new(&config.providers, askers)?,
            config: Arc::clone(&config),
            metrics: Arc::clone(&metrics),
            stop: stop.clone(),
            gate,
            name: format!("{}-{}", std::process::id(), &Uuid::new_v4().simple().to_string()[..8]).into(),
        }));
    }
    let app = App::new(api_store.clone(), Arc::clone(&config), metrics, stop.clone());
    crew.spawn(listen(listener, router(app), config.client_timeout, stop));
    // Nobody may be waiting for the address.
    let _ = ready.send(address);

    let broken = tokio::select! {
        () = shutdown => false,
        _ = crew.join_next() => true,
    };
    rules.reach.met(Occasion::Drain);
    // The receivers live as long as the service, so these can't fail.
    let _ = phase.send(Phase::Draining);
    let patience = if rules.drains { config.drain } else { Duration::ZERO };
    let drained = tokio::time::timeout(patience, async { while crew.join_next().await.is_some() {} });
    if drained.await.is_err() {
        tracing::warn!("not everything finished in time");
        let _ = phase.send(Phase::Stopping);
        // Attempts only have to note that they don't know how they ended.
        let _ = tokio::time::timeout(config.lease, async { while crew.join_next().await.is_some() {} }).await;
        crew.shutdown().await;
    }
    bell.shutdown().await;
    if let Some(store) = worker_store {
        store.close().await;
    }
    api_store.close().await;
    if broken { Err(Error::Broken) } else { Ok(()) }
}

fn database(error: StoreError) -> Error {
    Error::Database {
        source: match error {
            StoreError::Unreachable(source) | StoreError::Refused(source) => source,
            other => sqlx::Error::Protocol(other.to_string()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Callers spawn it; whether they can is not visible in its signature.
    #[test]
    fn the_service_and_its_migrations_can_be_spawned() {
        fn spawnable(_: impl Future + Send) {}
        let (ready, _address) = oneshot::channel();
        spawnable(serve(Config::default(), ready, std::future::pending()));
        spawnable(crate::migrate("postgres://localhost/"));
    }
}
