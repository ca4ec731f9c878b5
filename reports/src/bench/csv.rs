//! Benchmarks as CSV, a line for each point.

use std::io::{self, Write};

use super::{BenchReport, Counts, Estimate, Latency, Percentiles, Row};

/// A line for each point. What was not measured is an empty field.
pub(super) fn csv(report: &BenchReport, out: &mut dyn Write) -> io::Result<()> {
    let mut writer = ::csv::Writer::from_writer(out);
    for (index, row) in report.rows.iter().enumerate() {
        // Each value comes with its name, so that none can stand under another's.
        let fields = fields(row);
        if index == 0 {
            writer.write_record(fields.iter().map(|(name, _)| name))?;
        }
        writer.write_record(fields.iter().map(|(_, value)| value))?;
    }
    writer.flush()
}

type Field = (String, String);

fn fields(row: &Row) -> Vec<Field> {
    let Row {
        cluster,
        strategy,
        contenders,
        duplicates,
        intended_rate,
        unit,
        rate,
        to_baseline,
        to_limit,
        latency: Latency { all, winners, losers, histogram: _ },
        counts: Counts { wins, losses, busy, unknown, retries },
        retries_per_win,
        fairness,
        overlap,
        wal_bytes,
        wal_syncs,
        losers_p99_to_baseline,
        repeats,
    } = row;
    let mut fields = vec![
        field("cluster", Some(cluster)),
        field("strategy", Some(strategy)),
        field("contenders", Some(contenders)),
        field("duplicates_percent", *duplicates),
        field("intended_rate", *intended_rate),
        field("unit", Some(unit)),
        field("repeats", Some(repeats.len())),
    ];
    fields.extend(estimate("rate", Some(rate)));
    fields.extend(estimate("to_baseline", to_baseline.as_ref()));
    fields.extend(estimate("to_limit", to_limit.as_ref()));
    fields.extend(percentiles("all", Some(all)));
    fields.extend(percentiles("winners", winners.as_ref()));
    fields.extend(percentiles("losers", losers.as_ref()));
    fields.extend([
        field("wins", Some(wins)),
        field("losses", Some(losses)),
        field("busy", Some(busy)),
        field("unknown", Some(unknown)),
        field("retries", Some(retries)),
        field("retries_per_win", Some(retries_per_win)),
        field("fairness", *fairness),
        field("overlap", Some(overlap)),
        field("wal_bytes", *wal_bytes),
        field("wal_syncs", *wal_syncs),
    ]);
    fields.extend(estimate("losers_p99_to_baseline", losers_p99_to_baseline.as_ref()));
    fields
}

fn field(name: impl Into<String>, value: Option<impl ToString>) -> Field {
    (name.into(), value.map(|value| value.to_string()).unwrap_or_default())
}

fn estimate(name: &str, estimate: Option<&Estimate>) -> [Field; 4] {
    [
        field(name, estimate.map(|estimate| estimate.median)),
        field(format!("{name}_low"), estimate.map(|estimate| estimate.low)),
        field(format!("{name}_high"), estimate.map(|estimate| estimate.high)),
        field(format!("{name}_confidence"), estimate.map(|estimate| estimate.confidence)),
    ]
}

fn percentiles(of: &str, percentiles: Option<&Percentiles>) -> [Field; 6] {
    let of = |what: &str, pick: fn(&Percentiles) -> u64| field(format!("{of}_{what}"), percentiles.map(pick));
    [
        of("count", |p| p.count),
        of("p50_us", |p| p.p50),
        of("p90_us", |p| p.p90),
        of("p99_us", |p| p.p99),
        of("p999_us", |p| p.p999),
        of("max_us", |p| p.max),
    ]
}
