//! What a sound block says: how much, how long, by whom.

use std::collections::BTreeMap;

use onejob_reports::bench::{Counts, Latency};

use super::{Attempt, End, Latencies, Written};

/// What one block says.
#[derive(Debug, Clone)]
pub struct Figures {
    /// Decisions or calls.
    pub units: u64,
    /// Of these in a second.
    pub rate: f64,
    /// How many others were out at the same job.
    pub overlap: f64,
    /// What the attempts came to.
    pub counts: Counts,
    /// Latencies of those who won, and of those who didn't.
    pub latencies: [Latencies; 2],
    /// Wins of each contender.
    pub wins: BTreeMap<u32, u64>,
    /// What the server wrote, where that is known.
    pub written: Option<Written>,
}

impl Figures {
    /// Figures of the attempts of a block, which came to so many decisions or calls in so many nanoseconds.
    #[must_use]
    pub fn of(
        attempts: &[Attempt],
        (units, within_ns): (usize, u64),
        overlap: f64,
        written: Option<Written>,
    ) -> Self {
        let mut counts = Counts::default();
        let mut wins = BTreeMap::new();
        for attempt in attempts {
            let won = u64::from(attempt.end == End::Won);
            *wins.entry(attempt.contender).or_default() += won;
            counts.wins += won;
            counts.losses += u64::from(attempt.end == End::Lost);
            counts.busy += u64::from(attempt.end == End::Busy);
            counts.unknown += u64::from(attempt.end == End::Unknown);
            counts.retries += u64::from(attempt.retries);
        }
        let some = |end: fn(End) -> bool| Latencies::of(attempts.iter().filter(|attempt| end(attempt.end)));
        #[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
        let rate = units as f64 * 1e9 / within_ns.max(1) as f64;
        Self {
            units: units as u64,
            rate,
            overlap,
            counts,
            latencies: [some(|end| end == End::Won), some(|end| matches!(end, End::Lost | End::Busy))],
            wins,
            written,
        }
    }

    /// The 99th percentile of those who didn't win, in microseconds.
    #[must_use]
    pub fn losers_p99(&self) -> Option<u64> {
        self.latencies[1].percentiles().map(|found| found.p99)
    }
}

/// All blocks of a point together.
#[derive(Debug, Clone, Default)]
pub struct Ledger {
    units: u64,
    overlaps: Vec<f64>,
    counts: Counts,
    latencies: [Latencies; 2],
    wins: BTreeMap<u32, u64>,
    bytes: Option<f64>,
    syncs: Option<f64>,
}

impl Ledger {
    /// Takes a block in.
    pub fn add(&mut self, block: &Figures) {
        self.units += block.units;
        self.overlaps.push(block.overlap);
        self.counts.wins += block.counts.wins;
        self.counts.losses += block.counts.losses;
        self.counts.busy += block.counts.busy;
        self.counts.unknown += block.counts.unknown;
        self.counts.retries += block.counts.retries;
        for (mine, other) in self.latencies.iter_mut().zip(&block.latencies) {
            mine.add(other);
        }
        for (contender, wins) in &block.wins {
            *self.wins.entry(*contender).or_default() += wins;
        }
        if let Some(written) = block.written {
            *self.bytes.get_or_insert(0.0) += written.bytes;
            if let Some(syncs) = written.syncs {
                *self.syncs.get_or_insert(0.0) += syncs;
            }
        }
    }

    /// What the attempts came to.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// How many others were out at the same job, on average.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "blocks are few")]
    pub fn overlap(&self) -> f64 {
        self.overlaps.iter().sum::<f64>() / self.overlaps.len().max(1) as f64
    }

    /// Tries over again for each win.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
    pub fn retries_per_win(&self) -> f64 {
        self.counts.retries as f64 / self.counts.wins.max(1) as f64
    }

    /// Jain's index over the wins of each contender; nothing for one alone.
    #[must_use]
    pub fn fairness(&self) -> Option<f64> {
        #[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
        let wins: Vec<f64> = self.wins.values().map(|wins| *wins as f64).collect();
        let (sum, squares): (f64, f64) = (wins.iter().sum(), wins.iter().map(|it| it * it).sum());
        #[expect(clippy::cast_precision_loss, reason = "contenders are few")]
        (wins.len() > 1 && squares > 0.0).then(|| sum * sum / (wins.len() as f64 * squares))
    }

    /// Bytes of the log and flushes of it for each decision.
    #[must_use]
    pub fn written_per_unit(&self) -> (Option<f64>, Option<f64>) {
        #[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
        let units = self.units.max(1) as f64;
        (self.bytes.map(|bytes| bytes / units), self.syncs.map(|syncs| syncs / units))
    }

    /// Latencies as a report has them; nothing where nothing was measured.
    #[must_use]
    pub fn latency(&self) -> Option<Latency> {
        let [winners, losers] = &self.latencies;
        let mut all = winners.clone();
        all.add(losers);
        Some(Latency {
            all: all.percentiles()?,
            winners: winners.percentiles(),
            losers: losers.percentiles(),
            histogram: all.encoded(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attempt(contender: u32, job: i64, end: End, span: (u64, u64)) -> Attempt {
        let (began_ns, ended_ns) = span;
        Attempt {
            contender,
            job,
            due_ns: began_ns,
            began_ns,
            ended_ns,
            end,
            retries: u32::from(contender == 1),
        }
    }

    #[test]
    fn blocks_add_up() {
        let attempts = [
            attempt(0, 1, End::Won, (0, 100_000_000)),
            attempt(1, 1, End::Lost, (0, 200_000_000)),
            attempt(0, 2, End::Busy, (100_000_000, 300_000_000)),
            attempt(1, 2, End::Won, (200_000_000, 500_000_000)),
        ];
        let block =
            Figures::of(&attempts, (2, 500_000_000), 1.0, Some(Written { bytes: 400.0, syncs: None }));
        assert!((block.rate - 4.0).abs() < 1e-9, "{}", block.rate);
        let mut ledger = Ledger::default();
        ledger.add(&block);
        ledger.add(&block);
        let counts = ledger.counts();
        assert_eq!((counts.wins, counts.losses, counts.busy, counts.retries), (4, 2, 2, 4));
        assert_eq!(ledger.written_per_unit(), (Some(200.0), None));
        assert!((ledger.retries_per_win() - 1.0).abs() < 1e-9);
        assert_eq!(ledger.fairness(), Some(1.0));
        assert_eq!(ledger.latency().expect("measured").all.count, 8);
    }

    #[test]
    fn one_who_wins_all_is_as_unfair_as_can_be() {
        let attempts: Vec<_> =
            (0..4).map(|it| attempt(it, 1, if it == 0 { End::Won } else { End::Lost }, (0, 10))).collect();
        let mut ledger = Ledger::default();
        ledger.add(&Figures::of(&attempts, (1, 10), 3.0, None));
        assert_eq!(ledger.fairness(), Some(0.25));
    }
}
