//! Benchmarks as the command would hand them over.

use std::collections::BTreeMap;

use onejob_reports::bench::{
    BENCH_SCHEMA_VERSION, BenchReport, Compared, Comparison, Counts, Estimate, Latency, Limit, Percentiles,
    Repeat, Row, Subject,
};

/// Three strategies at four numbers of contenders, on two clusters.
pub(crate) fn bench_report() -> BenchReport {
    let strategies = [("cas", 4_300.0, 1.05), ("for-update", 4_000.0, 1.35), ("serializable", 3_900.0, 1.9)];
    let mut rows = Vec::new();
    for (cluster, slow) in [("scratch", 1.0), ("durable", 6.0)] {
        for (strategy, height, fall) in strategies {
            for contenders in [2_u32, 8, 32, 64] {
                let slower = f64::from(contenders).log2() * fall * slow;
                rows.push(row((cluster, strategy, contenders), height / slower, slower * 800.0));
            }
        }
    }
    BenchReport {
        schema_version: BENCH_SCHEMA_VERSION,
        tool_version: "0.1.0".into(),
        subject: Subject::Cas,
        command: "onejob bench cas --contenders 2,8,32,64".into(),
        started_at: "2026-12-01T08:00:00Z".into(),
        duration_us: 184_000_000,
        interrupted: false,
        not_measured: Vec::new(),
        processors: 2,
        databases: vec!["PostgreSQL 15.6, local programs".into()],
        settings: BTreeMap::from([("repeats".into(), "5".into()), ("for".into(), "2s".into())]),
        limit: Limit::Pgbench { version: "pgbench 15.6".into() },
        rows,
        comparison: None,
        notes: vec!["Every strategy decides the same jobs; only `cas` needs no lock to do so.".into()],
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "made-up figures")]
fn row((cluster, strategy, contenders): (&str, &str, u32), rate: f64, p50_us: f64) -> Row {
    let us = |factor: f64| (p50_us * factor) as u64;
    let around = |median: f64| Estimate { median, low: median * 0.95, high: median * 1.04, confidence: 0.94 };
    let percentiles = |scale: f64| Percentiles {
        count: 12_000,
        p50: us(scale),
        p90: us(1.9 * scale),
        p99: us(4.2 * scale),
        p999: us(11.0 * scale),
        max: us(17.5 * scale),
    };
    let plain = strategy == "cas";
    Row {
        cluster: cluster.into(),
        strategy: strategy.into(),
        contenders,
        duplicates: None,
        intended_rate: None,
        unit: "decisions".into(),
        rate: around(rate),
        to_baseline: (!plain).then(|| around(0.8)),
        to_limit: Some(around(0.9)),
        latency: Latency {
            all: percentiles(1.0),
            winners: Some(percentiles(1.1)),
            losers: Some(percentiles(0.4)),
            histogram: "HISTFAAAAB0=".into(),
        },
        counts: Counts {
            wins: 12_000,
            losses: 12_000 * u64::from(contenders - 1),
            busy: 0,
            unknown: 0,
            retries: 340,
        },
        retries_per_win: 340.0 / 12_000.0,
        fairness: Some(0.97),
        overlap: f64::from(contenders - 1) * 0.8,
        wal_bytes: Some(312.0),
        wal_syncs: (cluster == "durable").then_some(1.02),
        losers_p99_to_baseline: (!plain).then(|| around(1.4)),
        repeats: (0..5)
            .map(|_| Repeat {
                rate,
                own_pace_rate: None,
                limit_rate: Some(rate / 0.9),
                baseline_rate: Some(rate),
                losers_p99_us: Some(us(1.7)),
            })
            .collect(),
    }
}

/// What changed since yesterday: one point for the worse.
pub(crate) fn comparison() -> Comparison {
    let compared = |point: &str, before: f64, now: f64, regression| Compared {
        point: point.into(),
        by: "to_limit".into(),
        before,
        now,
        worse_percent: (before - now) / before * 100.0,
        p: if regression { 0.008 } else { 0.31 },
        regression,
    };
    Comparison {
        base: "base.json".into(),
        threshold: 5.0,
        alpha: 0.05,
        points: vec![
            compared("cas 8 scratch", 0.97, 0.81, true),
            compared("cas 32 scratch", 0.92, 0.93, false),
        ],
        left_out: vec!["serializable 64 durable: the earlier run has no limit beside it".into()],
    }
}
