//! Whether a provider is still what was attested.

use jiff::Timestamp;

use crate::attest::Attested;
use crate::gate::Suspension;
use crate::run::CheckReport;
use crate::statistics::upper_bound;
use crate::verdict::Verdict;

/// What a drift check found.
#[derive(Clone, Debug, PartialEq)]
pub enum Drift {
    /// Nothing speaks against the attestation.
    None,
    /// The provider is not what was attested: the permission is taken away.
    Drifted(Suspension),
    /// Infrastructure stood in the way, or nobody knows: nothing is granted and nothing taken away.
    Inconclusive(String),
}

/// Holds a smaller run against the attested figures. A small run can't prove the bar again; it can show that the bar is
/// no longer within reach, that another model answers, or that something certain broke.
#[must_use]
pub fn drift(attested: &Attested, report: &CheckReport, now: Timestamp) -> Drift {
    let suspend = |reason: String| {
        Drift::Drifted(Suspension {
            contract: attested.contract.clone(),
            provider: attested.provider.name.clone(),
            since: now,
            reason,
        })
    };
    let differing = attested.digests.differing(&report.digests);
    if !differing.is_empty() {
        return suspend(format!("{} changed since it was attested", differing.join(", ")));
    }
    if let Some(finding) = report.findings.first() {
        return match &finding.verdict {
            Verdict::Inconclusive(_) | Verdict::Unknown(_) => Drift::Inconclusive(finding.message.clone()),
            verdict => suspend(format!("{verdict}: {}", finding.message)),
        };
    }
    let known = &attested.provider.models_reported;
    let stranger =
        report.provider.models_reported.iter().find(|model| !known.is_empty() && !known.contains(model));
    if let Some(model) = stranger {
        return suspend(format!("{model} answers, and {} was attested", known.join(", ")));
    }
    let figures = &report.figures;
    if figures.samples == 0 || !figures.inconclusive.is_empty() {
        return Drift::Inconclusive(report.reason.clone());
    }
    let best = upper_bound(figures.passed, figures.samples);
    if best < figures.bar {
        return suspend(format!(
            "{} of {} samples pass now: at best {best:.4}, and {} was promised",
            figures.passed, figures.samples, figures.bar
        ));
    }
    Drift::None
}
