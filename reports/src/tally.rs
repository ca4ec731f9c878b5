//! The figures of a run.

use std::collections::BTreeMap;

use crate::{
    model::{Cell, RunReport, Sweeps, Verdict},
    text::human::count,
};

/// How many cells came to which verdict, and what else a summary tells.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tally {
    /// Cells that passed.
    pub passed: usize,
    /// Cells in which a promise was broken.
    pub failed: usize,
    /// Cells whose situation was not produced.
    pub inconclusive: usize,
    /// Cells in which harness, double or target broke.
    pub errors: usize,
    /// Cells that were not verified.
    pub skipped: usize,
    /// Cells whose verdict differed between repeats; each is counted above as well.
    pub flaky: usize,
    /// Planned cells without a verdict.
    pub missing: usize,
    /// Cells by the gate that they used.
    pub gates: BTreeMap<String, usize>,
    /// What all sweeps came to; none where there was none.
    pub sweeps: Option<Sweeps>,
    /// Microseconds spent in cells, which may run side by side.
    pub spent_us: u64,
    /// Set-up and tear-down within `spent_us`.
    pub setup_us: u64,
}

impl Tally {
    /// Counts a report.
    #[must_use]
    pub fn of(report: &RunReport) -> Self {
        let mut tally = Self {
            missing: report.planned.saturating_sub(report.cells.len()).max(report.not_run.len()),
            sweeps: Sweeps::of(&report.cells),
            ..Self::default()
        };
        for cell in &report.cells {
            tally.add(cell);
        }
        tally
    }

    fn add(&mut self, cell: &Cell) {
        *self.slot(cell.verdict) += 1;
        self.flaky += usize::from(cell.flaky);
        // A cell that raced more than once may have used more than one gate.
        for gate in cell.gate.iter().flat_map(|gates| gates.split(", ")) {
            *self.gates.entry(gate.to_owned()).or_default() += 1;
        }
        self.spent_us += cell.duration_us;
        self.setup_us += cell.setup_us;
    }

    fn slot(&mut self, verdict: Verdict) -> &mut usize {
        match verdict {
            Verdict::Pass => &mut self.passed,
            Verdict::Skipped => &mut self.skipped,
            Verdict::Inconclusive => &mut self.inconclusive,
            Verdict::Error => &mut self.errors,
            Verdict::Fail => &mut self.failed,
        }
    }

    /// Cells that have a verdict.
    #[must_use]
    pub fn judged(&self) -> usize {
        self.passed + self.failed + self.inconclusive + self.errors + self.skipped
    }

    /// The counts in words, worst first, zeros left out: `1 failed, 22 passed, 2 not verified (1 flaky)`.
    #[must_use]
    pub fn words(&self) -> String {
        let counts = [
            (self.failed, "failed"),
            (self.errors, if self.errors == 1 { "error" } else { "errors" }),
            (self.inconclusive, "inconclusive"),
            (self.passed, "passed"),
            (self.skipped, "not verified"),
            (self.missing, "did not run"),
        ];
        let said: Vec<String> =
            counts.iter().filter(|(n, _)| *n > 0).map(|(n, word)| format!("{n} {word}")).collect();
        let flaky = if self.flaky == 0 { String::new() } else { format!(" ({} flaky)", self.flaky) };
        if said.is_empty() { "nothing was selected".to_owned() } else { said.join(", ") + &flaky }
    }

    /// The gates in words: `lock 8, provider 6`; none where no cell used one.
    #[must_use]
    pub fn gate_words(&self) -> Option<String> {
        let said: Vec<String> = self.gates.iter().map(|(gate, n)| format!("{gate} {n}")).collect();
        (!said.is_empty()).then(|| said.join(", "))
    }
}

impl Sweeps {
    /// Adds up what sweeps came to; none where no cell is a sweep's. A cell whose rehearsal failed has no points to count.
    #[must_use]
    pub fn of(cells: &[Cell]) -> Option<Self> {
        let mut sum = Self::default();
        for kills in cells.iter().filter_map(|cell| cell.kills) {
            sum.cells += 1;
            sum.points += u64::from(kills.share);
            sum.hit += u64::from(kills.hit);
            sum.beyond += u64::from(kills.beyond);
            sum.untried += u64::from(kills.untried);
        }
        (sum.cells > 0).then_some(sum)
    }

    /// In words: `140 kills at 143 points in 12 cells, 3 points lay beyond the end of their play`.
    #[must_use]
    pub fn words(&self) -> String {
        let counted = |n: u64, noun: &str| count(usize::try_from(n).unwrap_or(usize::MAX), noun);
        let mut said = format!(
            "{} at {} in {}",
            counted(self.hit, "kill"),
            counted(self.points, "point"),
            counted(self.cells, "cell")
        );
        if self.beyond > 0 {
            said = format!("{said}, {} lay beyond the end of their play", counted(self.beyond, "point"));
        }
        if self.untried > 0 {
            said = format!("{said}, {} not tried after a promise broke", counted(self.untried, "point"));
        }
        said
    }
}

/// The word for the run as a whole: the worst verdict, or `interrupted`, or that nothing was verified.
#[must_use]
pub fn run_word(report: &RunReport) -> &'static str {
    let worst = report.cells.iter().map(|cell| cell.verdict).max();
    match worst {
        Some(Verdict::Fail) => "FAIL",
        Some(Verdict::Error) => "error",
        _ if report.interrupted => "interrupted",
        Some(Verdict::Inconclusive) => "inconclusive",
        None => "nothing verified",
        Some(_) if report.cells.iter().all(|cell| cell.verdict == Verdict::Skipped) => "nothing verified",
        Some(_) => "pass",
    }
}

/// What a reader has to know about a run that didn't reach its end; none where it did.
#[must_use]
pub fn shortfall(report: &RunReport) -> Option<String> {
    let missing = Tally::of(report).missing;
    let incomplete = report.incomplete.as_deref();
    if missing == 0 {
        if let Some(incomplete) = incomplete {
            return Some(incomplete.to_owned());
        }
        if !report.interrupted {
            return None;
        }
    }
    let how = if report.interrupted { "The run was interrupted" } else { "The run is incomplete" };
    let mut text = if missing == 0 {
        format!("{how}; every planned cell had its verdict by then.")
    } else {
        format!(
            "{how}: {} of {} planned did not run, so nothing is known about {}.",
            missing,
            count(report.planned.max(report.cells.len() + missing), "cell"),
            if missing == 1 { "it" } else { "them" }
        )
    };
    if !report.not_run.is_empty() {
        let named: Vec<&str> = report.not_run.iter().take(20).map(String::as_str).collect();
        text.push_str(" Missing: ");
        text.push_str(&named.join(", "));
        if report.not_run.len() > named.len() {
            text.push_str(", and ");
            text.push_str(&(report.not_run.len() - named.len()).to_string());
            text.push_str(" more");
        }
        text.push('.');
    }
    if let Some(incomplete) = incomplete {
        text = format!("{incomplete} {text}");
    }
    Some(text)
}

/// The cells that took longest, the longest first.
#[must_use]
pub fn slowest(report: &RunReport, n: usize) -> Vec<&Cell> {
    let mut cells: Vec<&Cell> = report.cells.iter().filter(|cell| cell.duration_us > 0).collect();
    cells.sort_by_key(|cell| std::cmp::Reverse(cell.duration_us));
    cells.truncate(n);
    cells
}
