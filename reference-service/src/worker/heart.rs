use uuid::Uuid;

use super::Shop;

/// Renews the lease of an attempt for as long as it lives.
pub(super) struct Heart {
    beating: tokio::task::JoinHandle<()>,
}

impl Heart {
    pub(super) fn start(shop: &Shop, job: Uuid, number: i32) -> Self {
        let shop = shop.clone();
        Self {
            beating: tokio::spawn(async move {
                if !shop.store.rules.heartbeats {
                    return std::future::pending().await;
                }
                let mut beats = tokio::time::interval(shop.config.beat());
                beats.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
                beats.tick().await;
                loop {
                    beats.tick().await;
                    match shop.store.heartbeat(job, number, shop.config.lease).await {
                        Ok(true) => {}
                        Ok(false) => return,
                        Err(error) => {
                            tracing::warn!(%job, attempt = number, %error, "a lease was not renewed");
                        }
                    }
                }
            }),
        }
    }

    /// Waits until the attempt is no longer held: somebody else decided over it.
    pub(super) async fn stopped(&mut self) {
        // Aborted or panicked, it has stopped beating.
        let _ = (&mut self.beating).await;
    }
}

impl Drop for Heart {
    fn drop(&mut self) {
        self.beating.abort();
    }
}
