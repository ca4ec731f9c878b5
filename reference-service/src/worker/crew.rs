use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Notify, Semaphore};
use tokio::task::JoinSet;
use tracing::Instrument as _;

use super::attempt::carry_out;
use super::{Phase, Shop, reconciler, sweeper};
use crate::log::owner_tag;
use crate::store::{StoreError, Work};

/// Works until the process drains, then waits until every attempt is over.
pub(crate) async fn work(shop: Shop) {
    let woken = Arc::new(Notify::new());
    let mut aides = JoinSet::new();
    aides.spawn(listen(shop.clone(), Arc::clone(&woken)));
    aides.spawn(sweeper::sweep(shop.clone()));
    aides.spawn(reconciler::reconcile(shop.clone()));

    let slots = Arc::new(Semaphore::new(shop.config.worker_slots));
    let mut attempts = JoinSet::new();
    while !shop.stop.is(Phase::Draining) {
        while attempts.try_join_next().is_some() {}
        let Ok(slot) = Arc::clone(&slots).acquire_owned().await else { break };
        let pause = match take(&shop).await {
            Ok(Some(work)) => {
                let (job, owner) = (work.job.id, owner_tag(&work.job.owner));
                let span = tracing::info_span!("attempt", %job, attempt = work.number, owner);
                attempts.spawn(carry_out(shop.clone(), work, slot).instrument(span));
                continue;
            }
            Ok(None) => next_look(&shop).await,
            Err(error) => {
                tracing::warn!(%error, "the queue can't be read");
                Duration::from_millis(250)
            }
        };
        drop(slot);
        tokio::select! {
            () = woken.notified() => {}
            () = tokio::time::sleep(pause) => {}
            () = shop.stop.reached(Phase::Draining) => {}
        }
    }
    while attempts.join_next().await.is_some() {}
    aides.shutdown().await;
}

/// Attempts that somebody asked for come before jobs that only wait.
async fn take(shop: &Shop) -> Result<Option<Work>, StoreError> {
    match shop.store.claim_attempt(&shop.name, shop.config.lease).await? {
        Some(work) => Ok(Some(work)),
        None => shop.store.pick_up(&shop.name, shop.config.lease).await,
    }
}

/// When to look again if nobody calls: at the latest after the poll interval, earlier when a job falls due.
async fn next_look(shop: &Shop) -> Duration {
    let due = shop.store.next_due().await.ok().flatten().unwrap_or(shop.config.poll_interval);
    // A job that is due and was not taken is locked by somebody: no use in asking all the time.
    due.clamp(Duration::from_millis(10).min(shop.config.poll_interval), shop.config.poll_interval)
}

/// Wakes the crew when any process tells of new work.
async fn listen(shop: Shop, woken: Arc<Notify>) {
    loop {
        match shop.store.listen().await {
            Ok(None) => return,
            Ok(Some(mut listener)) => {
                // What was told while nobody listened is found by looking.
                woken.notify_one();
                while let Ok(told) = listener.try_recv().await {
                    woken.notify_one();
                    if told.is_none() {
                        tracing::warn!("lost the connection that tells of new work");
                    }
                }
            }
            Err(error) => tracing::warn!(%error, "can't listen for new work; polling"),
        }
        tokio::time::sleep(shop.config.poll_interval).await;
    }
}
