use uuid::Uuid;

use super::transaction::transaction;
use super::{EventKind, Finished, Outcome, Source, Store, StoreError, Wait};
use crate::domain::RetryPolicy;
use crate::reach::Occasion;

/// What a callback came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Taken {
    /// First time: what became of the outcome it told.
    First(Finished),
    /// The event was taken before, here or by another process.
    Again,
}

impl Store {
    /// Takes a callback. Noting its id and doing what it says are one transaction: neither is ever there alone.
    pub(crate) async fn take_callback(
        &self,
        provider: &str,
        event: &str,
        job: Uuid,
        number: i32,
        outcome: &Outcome,
        policy: &RetryPolicy,
    ) -> Result<Taken, StoreError> {
        transaction!(self, Wait::Briefly, |tx| {
            let theirs = self.load(tx, job).await?.is_some_and(|record| {
                record.attempt(number).is_some_and(|attempt| attempt.provider == provider)
            });
            if !theirs {
                return Ok(Taken::First(Finished::NotFound));
            }
            let noted = self
                .query(self.rules.sql.note_callback)
                .bind(provider)
                .bind(event)
                .bind(job)
                .execute(&mut *tx)
                .await?
                .rows_affected();
            if noted == 0 {
                self.rules.reach.met(Occasion::CallbackAgain);
                Taken::Again
            } else {
                self.log(tx, job, EventKind::CallbackReceived, Some(number), Some(event)).await?;
                Taken::First(self.finish_in(tx, job, number, outcome, Source::Callback, policy).await?)
            }
        })
    }
}
