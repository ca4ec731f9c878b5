//! Waiting when a provider says so.

use std::sync::Mutex;
use std::time::Duration;

use tokio::time::Instant;

/// The longest wait that a check takes upon itself; beyond it, the run is inconclusive.
pub(super) const LONGEST: Duration = Duration::from_mins(2);

/// When sending may go on. A rate limit is the account's, so one answer with 429 holds back every sample.
#[derive(Debug, Default)]
pub struct Pace {
    until: Mutex<Option<Instant>>,
}

impl Pace {
    /// Holds everything back for `wait`.
    pub fn hold(&self, wait: Duration) {
        let until = Instant::now() + wait;
        let mut held = self.until.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if held.is_none_or(|at| at < until) {
            *held = Some(until);
        }
    }

    /// Waits until sending may go on.
    pub async fn ready(&self) {
        loop {
            let held = *self.until.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            match held {
                Some(at) if at > Instant::now() => tokio::time::sleep_until(at).await,
                _ => return,
            }
        }
    }
}

/// How long to wait before try `attempt` (from 0) when nobody says: half a second, doubled each time.
pub(super) fn back_off(attempt: u32) -> Duration {
    Duration::from_millis(500).saturating_mul(2_u32.saturating_pow(attempt.min(8))).min(LONGEST)
}
