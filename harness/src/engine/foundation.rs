//! What a cell's service stands on: its database, and the ways that lead there.

use std::sync::Arc;

use super::{
    migration::migrate,
    own::Own,
    wiring::{self, Wiring},
    world::Grounds,
};
use crate::{
    fail::Fault,
    fault::{Proxy, Tap},
    middlebox::Pooler,
    postgres::Database,
    scenario::Scenario,
};

/// The database of a cell.
#[derive(Debug, Default)]
pub(super) struct Foundation {
    /// One of many on a server that all cells share.
    pub(super) shared: Option<Database>,
    /// A server that is this cell's alone.
    pub(super) own: Option<Own>,
    /// URL for ourselves, past poolers and faults.
    pub(super) url: Option<String>,
    /// URL for the service.
    pub(super) of_service: Option<String>,
    /// Between the service and the database, or the pooler before it.
    pub(super) proxy: Option<Arc<Proxy>>,
    /// In the same place, where a scenario sweeps the conversation there.
    pub(super) tap: Option<Arc<Tap>>,
    /// Before the database.
    pub(super) pooler: Option<Pooler>,
}

impl Foundation {
    /// Lays it. Nothing is there where the target's database isn't ours to know.
    pub(super) async fn lay(grounds: &Grounds, scenario: &Scenario, wiring: Wiring) -> Result<Self, Fault> {
        let mut foundation = Self::default();
        let target = &grounds.target.target;
        let direct = match (scenario.setup.server, &grounds.template) {
            (Some(kind), _) => {
                let fill = async |url| migrate(&grounds.target, &grounds.program, url).await;
                let own = Own::start(kind, &grounds.leash, fill).await?;
                foundation.url = Some(own.our_url().await?);
                let direct = own.url().await;
                foundation.own = Some(own);
                Some(direct)
            }
            (None, Some(template)) => {
                let database = template.fresh().await?;
                foundation.url = Some(database.url.clone());
                foundation.shared = Some(database);
                foundation.url.clone()
            }
            (None, None) => {
                foundation.url = target.database.as_ref().and_then(|section| section.url.clone());
                foundation.url.clone()
            }
        };
        let Some(mut url) = direct else { return Ok(foundation) };
        if let Some(kind) = scenario.setup.pooler {
            let pooler = Pooler::start(kind, &url, &grounds.leash).await?;
            pooler.url().clone_into(&mut url);
            foundation.pooler = Some(pooler);
        }
        if scenario.sweep.is_some() {
            let (tap, through) = wiring::tap_database(&url).await?;
            foundation.tap = Some(Arc::new(tap));
            url = through;
        } else if wiring.database {
            let (proxy, through) = wiring::before_database(&url).await?;
            foundation.proxy = Some(Arc::new(proxy));
            url = through;
        }
        foundation.of_service = Some(url);
        Ok(foundation)
    }
}
