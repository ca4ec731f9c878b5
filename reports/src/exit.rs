//! The exit codes, in one place.

use serde::{Deserialize, Serialize};

use crate::model::{RunReport, Verdict};

/// What the process tells its caller. The numbers are part of the public interface and never change meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum ExitCode {
    /// All selected scenarios passed, their witnesses seen.
    Success = 0,
    /// The target broke a promise; nothing else ever means 1.
    BrokenPromise = 1,
    /// Flags, configuration, a scenario or contract file.
    Usage = 2,
    /// The situation that a scenario is about was not produced.
    Inconclusive = 3,
    /// Nothing was selected.
    NothingSelected = 4,
    /// Passed only on a repeat, under `--flaky fail`.
    Flaky = 5,
    /// The target can't be reached or doesn't fit its adapter.
    Target = 10,
    /// The double, a fault or the database failed.
    Infrastructure = 11,
    /// One plain submit does not work, so no race was tried.
    Baseline = 12,
    /// `prove`: a defect survived.
    Survivor = 20,
    /// `contract can-failover`: no.
    NoFailover = 21,
    /// `bench --compare`: a regression beyond the threshold.
    Regression = 22,
    /// `bench`: a strategy broke the promise that it is about, so there are no figures.
    Unsound = 23,
    /// A bug in onejob.
    Bug = 70,
    /// Interrupted; the report is still written.
    Interrupted = 130,
}

impl ExitCode {
    /// The code of a finished run: the worst verdict wins. `flaky_fails` is `--flaky fail`.
    #[must_use]
    pub fn of_run(report: &RunReport, flaky_fails: bool) -> Self {
        if report.interrupted {
            return Self::Interrupted;
        }
        if report.cells.is_empty() {
            return Self::NothingSelected;
        }
        let worst = report.cells.iter().map(|cell| cell.verdict).max().unwrap_or(Verdict::Skipped);
        match worst {
            Verdict::Fail => Self::BrokenPromise,
            Verdict::Error => report
                .cells
                .iter()
                .find_map(|cell| cell.error.as_ref())
                .map_or(Self::Infrastructure, |error| error.exit),
            Verdict::Inconclusive => Self::Inconclusive,
            Verdict::Pass | Verdict::Skipped if flaky_fails && report.cells.iter().any(|cell| cell.flaky) => {
                Self::Flaky
            }
            // Everything skipped means that nothing was verified: that is not a success.
            Verdict::Skipped if report.cells.iter().all(|cell| cell.verdict == Verdict::Skipped) => {
                Self::NothingSelected
            }
            // What didn't run is not known to hold, whyever it didn't.
            Verdict::Pass | Verdict::Skipped if report.cells.len() < report.planned => Self::Infrastructure,
            Verdict::Pass | Verdict::Skipped => Self::Success,
        }
    }
}

impl From<ExitCode> for std::process::ExitCode {
    fn from(code: ExitCode) -> Self {
        Self::from(code as u8)
    }
}
