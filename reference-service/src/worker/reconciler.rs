use std::time::Duration;

use tokio::task::JoinSet;

use super::Shop;
use super::attempt::{bring_home, reference};
use crate::metrics::Counter;
use crate::rules::{Conclusion, Found};
use crate::store::{EventKind, Outcome, Probe, Source, Statement, StoreError};

/// Asks providers what became of attempts whose outcome is unknown.
pub(super) async fn reconcile(shop: Shop) {
    if shop.config.providers.iter().all(|provider| provider.max_latency.is_none()) {
        return;
    }
    let pause = (shop.config.probe_pause / 2).clamp(Duration::from_millis(20), Duration::from_secs(1));
    let mut ticks = tokio::time::interval(pause);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        match shop.store.due_probes(shop.config.probe_pause).await {
            Ok(due) => {
                let probes: JoinSet<()> =
                    due.into_iter().map(|probe| probe_one(shop.clone(), probe)).collect();
                probes.join_all().await;
            }
            Err(error) => tracing::warn!(%error, "due probes can't be read"),
        }
    }
}

async fn probe_one(shop: Shop, probe: Probe) {
    let Some(provider) = shop.config.provider(&probe.provider) else { return };
    let Some(max_latency) = provider.max_latency else { return };
    shop.metrics.count(Counter::Probes);
    let reference = reference(&shop, probe.job, probe.number);
    let found = shop.client.probe(&provider.url, &reference).await;
    let rules = &shop.store.rules;
    let conclusion = (rules.conclude)(&found, probe.waited, max_latency);
    rules.reach.decided(&conclusion, |rules| (rules.conclude)(&found, probe.waited, max_latency));
    if let Err(error) = apply(&shop, &probe, &found, conclusion).await {
        tracing::warn!(job = %probe.job, attempt = probe.number, %error, "what a probe found was not written");
    }
}

async fn apply(shop: &Shop, probe: &Probe, found: &Found, conclusion: Conclusion) -> Result<(), StoreError> {
    let (job, number) = (probe.job, probe.number);
    let said = match found {
        Found::Succeeded(_) => "the provider says that it succeeded".to_owned(),
        Found::Failed(message) => format!("the provider says that it failed: {message}"),
        Found::Pending => "the provider is still at it".to_owned(),
        Found::Nothing => "the provider knows nothing of it".to_owned(),
        Found::NoAnswer(reason) => format!("no usable answer: {reason}"),
    };
    shop.store.note(job, number, EventKind::Probed, Some(&said), None).await?;
    let statement = match conclusion {
        Conclusion::StillUnknown => return Ok(()),
        Conclusion::Succeeded(result) => {
            let outcome = Outcome::Succeeded { result, reference: None };
            bring_home(shop, job, number, &outcome, Source::Probe).await;
            return Ok(());
        }
        Conclusion::Failed(_) => Statement::Failed,
        Conclusion::NotExecuted => Statement::NotExecuted,
    };
    let policy = shop.config.retry_policy();
    // A refusal means that somebody else decided first, which is what the attempt waited for.
    shop.store.resolve(job, number, &statement, &said, None, &policy).await.map(drop)
}
