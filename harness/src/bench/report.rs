//! From what was measured to what a report has of it.
//!
//! A ratio is the median of the ratios of each repeat to what stood beside it. Never the ratio of medians: an hour's noise is in
//! both halves of a pair, and in the wrong halves of two medians.

use onejob_reports::bench::{Repeat, Row};

use super::{Load, Measured, Point, estimate};

/// The row of a point; nothing where nothing was measured.
#[must_use]
pub fn row(point: &Point, cluster: &str, load: Load, measured: &Measured, beside: &[Repeat]) -> Option<Row> {
    let repeats = &measured.repeats;
    let ledger = &measured.ledger;
    let (wal_bytes, wal_syncs) = ledger.written_per_unit();
    let p99 = |repeat: &Repeat| {
        #[expect(clippy::cast_precision_loss, reason = "microseconds of a latency")]
        repeat.losers_p99_us.map(|micros| micros.max(1) as f64)
    };
    let losers: Vec<f64> =
        repeats.iter().zip(beside).filter_map(|(mine, plain)| Some(p99(mine)? / p99(plain)?)).collect();
    Some(Row {
        cluster: cluster.to_owned(),
        strategy: point.work.name().to_owned(),
        contenders: point.contenders,
        duplicates: point.work.duplicates(),
        intended_rate: match load {
            Load::Closed => None,
            Load::Open(rate) => Some(rate),
        },
        unit: point.work.unit().to_owned(),
        rate: estimate(&repeats.iter().map(|repeat| repeat.rate).collect::<Vec<_>>())?,
        to_baseline: estimate(&to_baseline(repeats)),
        to_limit: estimate(&to_limit(repeats)),
        latency: ledger.latency()?,
        counts: ledger.counts(),
        retries_per_win: ledger.retries_per_win(),
        fairness: ledger.fairness(),
        overlap: ledger.overlap(),
        wal_bytes,
        wal_syncs,
        losers_p99_to_baseline: estimate(&losers),
        repeats: repeats.clone(),
    })
}

/// How each repeat stood to the limit.
pub(super) fn to_limit(repeats: &[Repeat]) -> Vec<f64> {
    let ratio = |repeat: &Repeat| Some(repeat.own_pace_rate.unwrap_or(repeat.rate) / repeat.limit_rate?);
    repeats.iter().filter_map(ratio).collect()
}

/// How each repeat stood to the plain form.
pub(super) fn to_baseline(repeats: &[Repeat]) -> Vec<f64> {
    repeats.iter().filter_map(|repeat| Some(repeat.rate / repeat.baseline_rate?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_is_taken_pair_by_pair() {
        let repeat = |rate, limit_rate| Repeat {
            rate,
            own_pace_rate: None,
            limit_rate,
            baseline_rate: None,
            losers_p99_us: None,
        };
        // The machine became ten times slower in between: each pair says 0.5 all the same.
        let repeats = [repeat(100.0, Some(200.0)), repeat(10.0, Some(20.0)), repeat(7.0, None)];
        let found = estimate(&to_limit(&repeats)).expect("two pairs");
        assert_eq!((found.median, found.low, found.high), (0.5, 0.5, 0.5));
        assert!(estimate(&to_baseline(&repeats)).is_none());
        let apart = Repeat { own_pace_rate: Some(50.0), ..repeat(1.0, Some(100.0)) };
        assert_eq!(to_limit(&[apart]), [0.5]);
    }
}
