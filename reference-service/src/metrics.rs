use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::store::UnknownJobs;

macro_rules! counters {
    ($( $variant:ident, $name:literal, $labels:literal, $help:literal; )+) => {
        /// What is counted.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Counter { $( $variant, )+ }

        const COUNTERS: &[(Counter, &str, &str, &str)] = &[ $( (Counter::$variant, $name, $labels, $help), )+ ];
    };
}

// Counters of one name stand together: the text format wants one HELP and one TYPE line for each name.
counters! {
    ClaimCreated, "onejob_claims_total", "outcome=\"created\"", "Claims of a key by outcome.";
    ClaimReplayed, "onejob_claims_total", "outcome=\"replayed\"", "";
    ClaimConflict, "onejob_claims_total", "outcome=\"conflict\"", "";
    ClaimInFlight, "onejob_claims_total", "outcome=\"in_flight\"", "";
    ClaimExpired, "onejob_claims_total", "outcome=\"expired\"", "";
    AttemptsStarted, "onejob_attempts_started_total", "", "Attempts that workers took up.";
    AttemptsRefused, "onejob_attempts_refused_total", "", "Attempts asked for that would have been one too many.";
    OutcomeSucceeded, "onejob_attempt_outcomes_total", "outcome=\"succeeded\"", "What attempts came to.";
    OutcomeFailed, "onejob_attempt_outcomes_total", "outcome=\"failed\"", "";
    OutcomeUnknown, "onejob_attempt_outcomes_total", "outcome=\"unknown\"", "";
    FailoversMoved, "onejob_failovers_total", "outcome=\"moved\"", "Decisions about going on at another provider.";
    FailoversRefused, "onejob_failovers_total", "outcome=\"refused\"", "";
    ResultsDiscarded, "onejob_results_discarded_total", "", "Results that lost the compare-and-swap.";
    LeasesRequeued, "onejob_leases_lapsed_total", "then=\"requeued\"", "Leases that ran out.";
    LeasesUnknown, "onejob_leases_lapsed_total", "then=\"unknown\"", "";
    AttentionRaised, "onejob_attention_raised_total", "", "Outcomes that stayed unknown for too long.";
    JobsPurged, "onejob_jobs_purged_total", "", "Jobs whose content retention removed.";
    Probes, "onejob_probes_total", "", "Questions to providers about unknown attempts.";
    CallbacksTaken, "onejob_callbacks_total", "outcome=\"taken\"", "Callbacks by outcome.";
    CallbacksRepeated, "onejob_callbacks_total", "outcome=\"repeated\"", "";
    CallbacksRefused, "onejob_callbacks_total", "outcome=\"refused\"", "";
    Overloaded, "onejob_requests_overloaded_total", "", "Requests answered 503 before they claimed anything.";
    DatabaseErrors, "onejob_database_errors_total", "", "Transactions that failed for good.";
}

/// What this process has counted.
#[derive(Debug)]
pub(crate) struct Metrics {
    counts: Vec<AtomicU64>,
}

impl Metrics {
    pub(crate) fn new() -> Self {
        Self { counts: COUNTERS.iter().map(|_| AtomicU64::new(0)).collect() }
    }

    pub(crate) fn add(&self, counter: Counter, by: u64) {
        if let Some(count) = self.counts.get(counter as usize) {
            count.fetch_add(by, Ordering::Relaxed);
        }
    }

    pub(crate) fn count(&self, counter: Counter) {
        self.add(counter, 1);
    }

    /// The text format of Prometheus.
    pub(crate) fn render(&self, unknown: Option<UnknownJobs>, (open, idle): (u32, usize)) -> String {
        let mut out = String::new();
        let mut last = "";
        for (counter, name, labels, help) in COUNTERS {
            if *name != last {
                // Writing to a String can't fail.
                let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} counter");
                last = name;
            }
            let count = self.counts.get(*counter as usize).map_or(0, |count| count.load(Ordering::Relaxed));
            let _ = match *labels {
                "" => writeln!(out, "{name} {count}"),
                labels => writeln!(out, "{name}{{{labels}}} {count}"),
            };
        }
        let mut gauge = |name: &str, help: &str, value: f64| {
            let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} gauge\n{name} {value}");
        };
        gauge("onejob_pool_connections", "Connections to the database.", f64::from(open));
        gauge(
            "onejob_pool_idle",
            "Connections that nobody uses.",
            f64::from(u32::try_from(idle).unwrap_or(u32::MAX)),
        );
        if let Some(unknown) = unknown {
            // Exact up to 2^53 jobs.
            #[expect(clippy::cast_precision_loss, reason = "a gauge of jobs never gets near 2^53")]
            gauge("onejob_unknown_jobs", "Jobs whose outcome is unknown.", unknown.count as f64);
            gauge("onejob_unknown_oldest_seconds", "Age of the oldest of them.", unknown.oldest_seconds);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_is_described_once_and_counted_in_its_place() {
        let metrics = Metrics::new();
        metrics.count(Counter::ClaimReplayed);
        metrics.add(Counter::DatabaseErrors, 7);
        let text = metrics.render(Some(UnknownJobs { count: 2, oldest_seconds: 1.5 }), (3, 1));
        assert!(text.contains("onejob_claims_total{outcome=\"replayed\"} 1\n"), "{text}");
        assert!(text.contains("onejob_database_errors_total 7\n"), "{text}");
        assert!(text.contains("onejob_unknown_oldest_seconds 1.5\n"), "{text}");
        let mut described: Vec<&str> = text.lines().filter(|line| line.starts_with("# HELP")).collect();
        let all = described.len();
        described.dedup();
        described.sort_unstable();
        described.dedup();
        assert_eq!(described.len(), all);
        assert!(COUNTERS.iter().enumerate().all(|(at, (counter, ..))| *counter as usize == at));
    }
}
