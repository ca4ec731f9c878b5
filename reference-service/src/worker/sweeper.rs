use std::time::Duration;

use super::Shop;
use crate::Retention;
use crate::metrics::Counter;

/// Finds attempts whose worker fell silent, outcomes that stay unknown, and jobs that are past retention.
pub(super) async fn sweep(shop: Shop) {
    let pause = (shop.config.lease / 5).clamp(Duration::from_millis(20), Duration::from_secs(1));
    let mut ticks = tokio::time::interval(pause);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let probe_in =
            shop.config.providers.iter().any(|p| p.max_latency.is_some()).then_some(shop.config.probe_pause);
        match shop.store.sweep_leases(probe_in).await {
            Ok(swept) => {
                shop.metrics.add(Counter::LeasesRequeued, swept.requeued.into());
                shop.metrics.add(Counter::LeasesUnknown, swept.unknown.into());
            }
            Err(error) => tracing::warn!(%error, "lapsed leases were not swept"),
        }
        match shop.store.escalate(shop.config.unknown_deadline).await {
            Ok(raised) => shop.metrics.add(Counter::AttentionRaised, raised),
            Err(error) => tracing::warn!(%error, "overdue outcomes were not looked for"),
        }
        if let Retention::For(age) = shop.config.retention {
            match shop.store.purge(age).await {
                Ok(purged) => shop.metrics.add(Counter::JobsPurged, purged),
                Err(error) => tracing::warn!(%error, "old jobs were not purged"),
            }
        }
    }
}
