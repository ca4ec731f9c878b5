use std::sync::Arc;
use std::time::Duration;

use crate::Config;
use crate::failover::Gate;
use crate::metrics::Metrics;
use crate::provider::ProviderClient;
use crate::store::Store;

use super::Stop;

/// What every worker of a process shares.
#[derive(Clone)]
pub(crate) struct Shop {
    pub(crate) store: Store,
    pub(crate) client: ProviderClient,
    pub(crate) config: Arc<Config>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) stop: Stop,
    /// Whether a job may go on at another provider; `None` where none ever does by itself.
    pub(crate) gate: Option<Arc<Gate>>,
    /// For people; never an identity.
    pub(crate) name: Arc<str>,
}

impl Shop {
    /// When an attempt that got lost is probed first; `None` when its provider can't be asked.
    pub(super) fn probe_in(&self, provider: &str) -> Option<Duration> {
        self.config.provider(provider)?.max_latency.map(|_| self.config.probe_pause)
    }
}
