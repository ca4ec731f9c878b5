//! The serialised form of a benchmark. Versioned like a run's report.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Version of the serialised form.
pub const BENCH_SCHEMA_VERSION: u32 = 1;

/// One run of `onejob bench`. It is only made when every block was sound: nothing in it was measured on a run that lost a
/// decision, took two, or had no contention to speak of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BenchReport {
    /// [`BENCH_SCHEMA_VERSION`] at the time of writing.
    pub schema_version: u32,
    /// Version of onejob that measured.
    pub tool_version: String,
    /// What was measured.
    pub subject: Subject,
    /// The command that measures it again.
    pub command: String,
    /// Start of the run, RFC 3339 in UTC.
    pub started_at: String,
    /// Wall time of the run in microseconds.
    pub duration_us: u64,
    /// Whether somebody stopped the run before its end.
    #[serde(default)]
    pub interrupted: bool,
    /// Points of the plan that were not measured: the run was stopped, or its time was up. `cas 32 scratch`.
    #[serde(default)]
    pub not_measured: Vec<String>,
    /// Processors that the process may use.
    pub processors: usize,
    /// Where the database came from, in one line each, with its version; empty where none was used.
    pub databases: Vec<String>,
    /// What was asked for, by the names of the flags: `count`, `for`, `repeats`, `rate`.
    pub settings: BTreeMap<String, String>,
    /// What stands beside the figures.
    pub limit: Limit,
    /// One for each point that was measured, in the order of the plan.
    pub rows: Vec<Row>,
    /// What came of `--compare`, where it was asked for.
    #[serde(default)]
    pub comparison: Option<Comparison>,
    /// What a reader must know to take the figures rightly, a sentence each.
    pub notes: Vec<String>,
}

/// What a benchmark is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Subject {
    /// `onejob bench cas`: contenders decide one job after the other.
    Cas,
    /// `onejob bench claim`: callers claim keys, some of them taken.
    Claim,
    /// `onejob bench lifecycle`: from a job's creation to its result, over HTTP.
    Lifecycle,
}

/// The limit that stands beside the figures, measured in the same run and interleaved with them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Limit {
    /// The same statements by pgbench at the same number of clients.
    Pgbench {
        /// Its version.
        version: String,
    },
    /// Empty HTTP exchanges with a server that does nothing, by the same client at the same number in flight.
    EmptyExchange,
    /// There is none.
    Absent {
        /// Why, in a sentence.
        why: String,
    },
}

/// One measured point: all repeats of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// How the cluster keeps its data: `scratch`, `durable`, `lent` (the user's own server) or `target` (unknown).
    pub cluster: String,
    /// The strategy's name: `cas`, `for-update`, `insert-then-look`; for a lifecycle the target's name.
    pub strategy: String,
    /// How many are in flight.
    pub contenders: u32,
    /// For claims: what share of the calls found their key taken, in percent.
    pub duplicates: Option<f64>,
    /// For an open loop: how many a second were meant to begin.
    pub intended_rate: Option<f64>,
    /// What `rate` counts: `decisions`, `calls`, `requests` or `jobs`.
    pub unit: String,
    /// So many a second: the median of the repeats.
    pub rate: Estimate,
    /// Against the plain form (`cas`, `insert-then-look`) at the same point of the same repeat; above 1 is faster.
    pub to_baseline: Option<Estimate>,
    /// Against the limit beside it, in the same repeat; 1 is as fast as the limit. Of `own_pace_rate` where there is one.
    pub to_limit: Option<Estimate>,
    /// Latencies of all repeats together: of everybody, of those who won (or created), of those who didn't.
    pub latency: Latency,
    /// What came of all attempts of all repeats.
    pub counts: Counts,
    /// Tries over again for each win.
    pub retries_per_win: f64,
    /// Jain's index over the wins of each contender: 1 when all won alike, 1/n when one won all.
    pub fairness: Option<f64>,
    /// How many others were under way for the same job while it was decided, on average. The witness of contention.
    pub overlap: f64,
    /// Bytes of the write-ahead log for each decision; absent where other work shares the server.
    pub wal_bytes: Option<f64>,
    /// Flushes of the write-ahead log for each decision; absent on a cluster that does not flush.
    pub wal_syncs: Option<f64>,
    /// The median 99th percentile of losers against the plain form's, repeat by repeat; below 1 is faster.
    pub losers_p99_to_baseline: Option<Estimate>,
    /// Each repeat by itself, in order: what comparisons are made of.
    pub repeats: Vec<Repeat>,
}

/// A median, and between what it lies with at least the confidence that is said.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Estimate {
    /// The median.
    pub median: f64,
    /// The lower bound.
    pub low: f64,
    /// The upper bound.
    pub high: f64,
    /// The confidence that the bounds have, from 0 to 1: with few repeats it can't be more than they allow.
    pub confidence: f64,
}

/// Percentiles of everybody and of two parts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Latency {
    /// Everybody.
    pub all: Percentiles,
    /// Those who won or created; absent where nobody did.
    pub winners: Option<Percentiles>,
    /// Those who lost or found the key taken.
    pub losers: Option<Percentiles>,
    /// The histogram of everybody in microseconds: `HdrHistogram`'s V2 encoding in base64, to be merged or drawn.
    pub histogram: String,
}

/// Percentiles of a latency, in microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Percentiles {
    /// How many were measured.
    pub count: u64,
    /// The median.
    pub p50: u64,
    /// The 90th.
    pub p90: u64,
    /// The 99th.
    pub p99: u64,
    /// The 99.9th.
    pub p999: u64,
    /// The longest.
    pub max: u64,
}

/// What came of attempts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    /// Won, or created.
    pub wins: u64,
    /// Lost, or found the key taken.
    pub losses: u64,
    /// Only learned that somebody was at it: lost as well, without knowing to whom.
    pub busy: u64,
    /// Broke off without an answer: who won is known from the database alone.
    pub unknown: u64,
    /// Aborted by the database and tried again.
    pub retries: u64,
}

/// One repeat of one point.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Repeat {
    /// So many a second.
    pub rate: f64,
    /// So many a second beside the limit, where that is measured in another way than `rate`: contenders in lockstep have no
    /// like in pgbench, so both go through the jobs at their own pace.
    #[serde(default)]
    pub own_pace_rate: Option<f64>,
    /// So many a second at the limit, measured next to it.
    pub limit_rate: Option<f64>,
    /// So many a second in the plain form at the same point of this repeat.
    pub baseline_rate: Option<f64>,
    /// The losers' 99th percentile in microseconds.
    pub losers_p99_us: Option<u64>,
}

/// A run held against an earlier one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Comparison {
    /// Where the earlier run was read from.
    pub base: String,
    /// By how much a point may get worse, in percent.
    pub threshold: f64,
    /// The level at which a difference is taken for more than chance.
    pub alpha: f64,
    /// Each point that both runs have.
    pub points: Vec<Compared>,
    /// Points that could not be compared, each with the reason.
    pub left_out: Vec<String>,
}

/// One point of two runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Compared {
    /// Which: `cas 32 scratch`.
    pub point: String,
    /// What was compared: `to_limit` or `to_baseline`. Never a rate: another hour of the same machine has other rates.
    pub by: String,
    /// The earlier run's median ratio.
    pub before: f64,
    /// This run's.
    pub now: f64,
    /// How much worse, in percent; negative when better.
    pub worse_percent: f64,
    /// How likely so much of a difference is by chance alone (exact permutation test, one-sided).
    pub p: f64,
    /// Whether it is both beyond the threshold and beyond chance.
    pub regression: bool,
}

impl BenchReport {
    /// Whether any point got worse beyond the threshold and beyond chance.
    #[must_use]
    pub fn regressed(&self) -> bool {
        self.comparison
            .as_ref()
            .is_some_and(|comparison| comparison.points.iter().any(|point| point.regression))
    }
}
