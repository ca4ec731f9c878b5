use std::time::Duration;

/// When a definite failure is tried again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Attempts that one job may use up on its own, the first included.
    pub max_attempts: u32,
    /// Pause before the second attempt; doubles with each further one.
    pub first_pause: Duration,
    /// No pause is longer, whatever the provider asks for.
    pub longest_pause: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            max_attempts: 3,
            first_pause: Duration::from_millis(100),
            longest_pause: Duration::from_secs(30),
        }
    }
}

impl RetryPolicy {
    /// Whether a job that has made `attempts` attempts may make another one on its own.
    #[must_use]
    pub fn allows(&self, attempts: usize) -> bool {
        u32::try_from(attempts).is_ok_and(|made| made < self.max_attempts)
    }

    /// How long to wait after the `attempts`-th attempt; a provider's `Retry-After` may only lengthen it.
    #[must_use]
    pub fn pause(&self, attempts: usize, retry_after: Option<Duration>) -> Duration {
        let doublings = u32::try_from(attempts.saturating_sub(1)).unwrap_or(u32::MAX).min(20);
        let own = self.first_pause.saturating_mul(1 << doublings);
        own.max(retry_after.unwrap_or_default()).min(self.longest_pause)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_longest() {
        let policy = RetryPolicy::default();
        let pauses: Vec<u128> = (1..=4).map(|made| policy.pause(made, None).as_millis()).collect();
        assert_eq!(pauses, [100, 200, 400, 800]);
        assert_eq!(policy.pause(400, None), policy.longest_pause);
    }

    #[test]
    fn a_provider_may_ask_for_more_time_but_not_for_ever() {
        let policy = RetryPolicy::default();
        assert_eq!(policy.pause(1, Some(Duration::from_secs(2))), Duration::from_secs(2));
        assert_eq!(policy.pause(1, Some(Duration::from_millis(1))), Duration::from_millis(100));
        assert_eq!(policy.pause(1, Some(Duration::from_hours(1))), policy.longest_pause);
    }

    #[test]
    fn the_first_attempt_counts() {
        let policy = RetryPolicy { max_attempts: 1, ..RetryPolicy::default() };
        assert!(policy.allows(0));
        assert!(!policy.allows(1));
    }
}
