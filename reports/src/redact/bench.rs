//! Benchmarks without secrets.

use super::Secrets;
use crate::bench::{BenchReport, Compared, Comparison, Latency, Limit, Row};

/// As for reports: every type is taken apart by name.
impl Secrets {
    /// The benchmark without secrets, in every text that it holds.
    #[must_use]
    pub fn bench(&self, report: BenchReport) -> BenchReport {
        let BenchReport {
            schema_version,
            tool_version,
            subject,
            command,
            started_at,
            duration_us,
            interrupted,
            not_measured,
            processors,
            databases,
            settings,
            limit,
            rows,
            comparison,
            notes,
        } = report;
        BenchReport {
            schema_version,
            tool_version: self.owned(tool_version),
            subject,
            command: self.owned(command),
            started_at: self.owned(started_at),
            duration_us,
            interrupted,
            not_measured: self.all(not_measured),
            processors,
            databases: self.all(databases),
            settings: settings
                .into_iter()
                .map(|(name, value)| {
                    let secret = self.is_secret_name(&name);
                    let value = if secret { super::REDACTED.to_owned() } else { self.owned(value) };
                    (self.owned(name), value)
                })
                .collect(),
            limit: match limit {
                Limit::Pgbench { version } => Limit::Pgbench { version: self.owned(version) },
                Limit::EmptyExchange => Limit::EmptyExchange,
                Limit::Absent { why } => Limit::Absent { why: self.owned(why) },
            },
            rows: rows.into_iter().map(|row| self.row(row)).collect(),
            comparison: comparison.map(|comparison| self.comparison(comparison)),
            notes: self.all(notes),
        }
    }

    fn row(&self, row: Row) -> Row {
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
            latency: Latency { all, winners, losers, histogram },
            counts,
            retries_per_win,
            fairness,
            overlap,
            wal_bytes,
            wal_syncs,
            losers_p99_to_baseline,
            repeats,
        } = row;
        // Base64 of figures: only a known value could be in it.
        let histogram = self.without_values(&histogram).into_owned();
        Row {
            cluster: self.owned(cluster),
            strategy: self.owned(strategy),
            contenders,
            duplicates,
            intended_rate,
            unit: self.owned(unit),
            rate,
            to_baseline,
            to_limit,
            latency: Latency { all, winners, losers, histogram },
            counts,
            retries_per_win,
            fairness,
            overlap,
            wal_bytes,
            wal_syncs,
            losers_p99_to_baseline,
            repeats,
        }
    }

    fn comparison(&self, comparison: Comparison) -> Comparison {
        let Comparison { base, threshold, alpha, points, left_out } = comparison;
        let points = points.into_iter().map(|point| {
            let Compared { point, by, before, now, worse_percent, p, regression } = point;
            Compared {
                point: self.owned(point),
                by: self.owned(by),
                before,
                now,
                worse_percent,
                p,
                regression,
            }
        });
        Comparison {
            base: self.owned(base),
            threshold,
            alpha,
            points: points.collect(),
            left_out: self.all(left_out),
        }
    }
}
