use std::time::Duration;

use sqlx::Row as _;
use uuid::Uuid;

use super::transaction::transaction;
use super::{Store, StoreError, Wait, micros};

/// An unknown attempt whose provider should be asked.
#[derive(Debug, Clone)]
pub(crate) struct Probe {
    pub(crate) job: Uuid,
    pub(crate) number: i32,
    pub(crate) provider: String,
    /// How long ago the effect started.
    pub(crate) waited: Duration,
}

impl Store {
    /// Takes the attempts that are due for a probe, and puts each one's next probe twice as far away as the last, so
    /// that no two processes ask for the same one at a time.
    pub(crate) async fn due_probes(&self, pause: Duration) -> Result<Vec<Probe>, StoreError> {
        transaction!(self, Wait::Singly, |tx| {
            self.query(
                "UPDATE attempts SET probes = probes + 1, \
                    probe_at = now() + least($1::bigint * 2 ^ least(probes + 1, 10), 300000000) \
                               * interval '1 microsecond' \
                 WHERE (job_id, number) IN (SELECT job_id, number FROM attempts \
                    WHERE state = 'unknown' AND probe_at <= now() ORDER BY probe_at LIMIT 16 FOR UPDATE SKIP LOCKED) \
                 RETURNING job_id, number, provider, \
                    coalesce(extract(epoch FROM clock_timestamp() - effect_started_at), 0)::float8 AS waited",
            )
            .bind(micros(pause))
            .fetch_all(tx)
            .await?
            .iter()
            .map(|row| {
                Ok(Probe {
                    job: row.try_get("job_id")?,
                    number: row.try_get("number")?,
                    provider: row.try_get("provider")?,
                    waited: Duration::try_from_secs_f64(row.try_get("waited")?).unwrap_or_default(),
                })
            })
            .collect::<Result<Vec<_>, StoreError>>()?
        })
    }
}
