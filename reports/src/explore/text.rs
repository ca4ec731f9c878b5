//! An exploration as a terminal shows it.

use std::fmt::Write as _;

use super::{ExploreReport, Map};
use crate::text::plain;

/// The exploration as text: what was reached, then what broke.
#[must_use]
pub fn text(report: &ExploreReport) -> String {
    let mut out = table("job", &report.coverage.jobs);
    out.push('\n');
    if report.coverage.attempts.reached.is_empty() {
        out.push_str("The target's log tells of no attempts.\n\n");
    } else {
        out.push_str(&table("attempt", &report.coverage.attempts));
        out.push('\n');
    }
    // A String takes whatever is written to it, so the results of `writeln!` are dropped.
    _ = writeln!(out, "{} plans played, {} unclear", report.played, report.unclear);
    for fault in &report.faults {
        _ = writeln!(out, "plan {} could not be played: {}", fault.plan, plain::one_line(&fault.message));
    }
    for failure in report.failures() {
        _ = writeln!(out, "plan {} broke {}", failure.plan, plain::one_line(&failure.promise));
        _ = writeln!(out, "    {}", plain::one_line(&failure.sentence));
        _ = writeln!(
            out,
            "    {} steps, shrunk from {}; one round failed {} of {} times",
            failure.steps, failure.steps_before, failure.failed, failure.trials
        );
        _ = writeln!(out, "    replay: {}", plain::one_line(&failure.replay));
    }
    if report.failure.is_none() {
        out.push_str("no promise broke\n");
    }
    out
}

/// A table of pairs: a row for each event, a column for each state, a dot for what was never reached.
fn table(title: &str, map: &Map) -> String {
    let mut out = String::new();
    let longest = map.events.iter().map(String::len).max().unwrap_or(0);
    _ = write!(out, "{title:<longest$}");
    for state in &map.states {
        _ = write!(out, " {state:>10}");
    }
    out.push('\n');
    for event in &map.events {
        _ = write!(out, "{event:<longest$}");
        for state in &map.states {
            let count = map.count(state, event);
            let count = if count == 0 { String::from("·") } else { count.to_string() };
            _ = write!(out, " {count:>10}");
        }
        out.push('\n');
    }
    let (reached, all) = map.share();
    _ = writeln!(out, "reached {reached} of {all} pairs; · was never reached");
    out
}
