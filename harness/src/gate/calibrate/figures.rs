//! What a calibration finds. Pure.

use std::{fmt, time::Duration};

use serde::Serialize;

/// The gates of this machine.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Calibration {
    /// Processors that the program may use.
    pub processors: usize,
    /// How close together requests arrive.
    pub spreads: Vec<Spread>,
    /// How often a planted bug is hit. Empty where no database was given.
    pub hits: Vec<HitRate>,
}

/// A way to make requests meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Means {
    /// Tasks that leave a barrier and send: what a test without a gate does.
    Barrier,
    /// The arrival gate over HTTP/1.1.
    ArrivalH1,
    /// The arrival gate over HTTP/2.
    ArrivalH2,
    /// The lock gate.
    Lock,
}

impl fmt::Display for Means {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(match self {
            Self::Barrier => "barrier",
            Self::ArrivalH1 => "arrival-h1",
            Self::ArrivalH2 => "arrival-h2",
            Self::Lock => "lock",
        })
    }
}

/// Time between the first and the last arrival of a round, at the receiving side.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Spread {
    /// How.
    pub means: Means,
    /// Requests in a round.
    pub requests: usize,
    /// Rounds measured.
    pub rounds: usize,
    /// Microseconds in half of the rounds or more.
    pub median_us: f64,
    /// Microseconds in 99 of 100 rounds.
    pub p99_us: f64,
}

/// How often a service that checks and then acts made two jobs of one key.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HitRate {
    /// How.
    pub means: Means,
    /// Requests in a round.
    pub requests: usize,
    /// Rounds measured.
    pub rounds: usize,
    /// Rounds in which the bug showed.
    pub hits: usize,
    /// Rounds in a hundred in which the bug showed.
    pub percent: f64,
    /// What a round takes, in milliseconds, in half of the rounds or more.
    pub round_ms: f64,
}

impl Spread {
    pub(super) fn of(means: Means, requests: usize, rounds: Vec<Duration>) -> Self {
        let count = rounds.len();
        let sorted = Sorted::from(rounds);
        let micros = |quantile| sorted.quantile(quantile).as_secs_f64() * 1e6;
        Self { means, requests, rounds: count, median_us: micros(0.5), p99_us: micros(0.99) }
    }
}

impl HitRate {
    /// Of rounds that took so long and in which the bug showed, or not.
    pub(super) fn of(means: Means, requests: usize, rounds: &[(Duration, bool)]) -> Self {
        let hits = rounds.iter().filter(|(_, hit)| *hit).count();
        let sorted = Sorted::from(rounds.iter().map(|(took, _)| *took).collect::<Vec<_>>());
        // Counts of rounds are far below what a double holds.
        #[allow(clippy::cast_precision_loss)]
        let percent = if rounds.is_empty() { 0.0 } else { hits as f64 * 100.0 / rounds.len() as f64 };
        let round_ms = sorted.quantile(0.5).as_secs_f64() * 1e3;
        Self { means, requests, rounds: rounds.len(), hits, percent, round_ms }
    }
}

struct Sorted(Vec<Duration>);

impl From<Vec<Duration>> for Sorted {
    fn from(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        Self(times)
    }
}

impl Sorted {
    /// The smallest value that this part of all values doesn't exceed; zero where there is none.
    fn quantile(&self, part: f64) -> Duration {
        // A rank is a small whole number; the cast can't lose any of it.
        #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let rank = (part * self.0.len() as f64).ceil() as usize;
        self.0.get(rank.max(1) - 1).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_values_that_were_measured() {
        let spread = Spread::of(Means::Barrier, 2, (1..=200).rev().map(Duration::from_micros).collect());
        assert_eq!((spread.rounds, spread.median_us.round(), spread.p99_us.round()), (200, 100.0, 198.0));
        let one = Spread::of(Means::Barrier, 2, vec![Duration::from_micros(7)]);
        assert_eq!((one.median_us.round(), one.p99_us.round()), (7.0, 7.0));
    }

    #[test]
    fn nothing_measured_is_nothing_and_no_division_by_it() {
        let rate = HitRate::of(Means::Lock, 2, &[]);
        assert_eq!((rate.rounds, rate.hits, rate.percent, rate.round_ms), (0, 0, 0.0, 0.0));
    }

    #[test]
    fn the_rate_is_of_all_rounds() {
        let ms = Duration::from_millis;
        let rate =
            HitRate::of(Means::Lock, 2, &[(ms(1), true), (ms(3), false), (ms(2), true), (ms(9), true)]);
        assert_eq!((rate.rounds, rate.hits, rate.percent, rate.round_ms.round()), (4, 3, 75.0, 2.0));
    }
}
