//! The question itself. Pure: everything that it needs is passed in.

use jiff::{SignedDuration, Timestamp};

use super::{Attestation, Attestations, JobFacts, Refusal};
use crate::dialect::ErrorClass;

/// How far the signer's clock may be ahead of ours.
const SKEW: SignedDuration = SignedDuration::from_mins(2);

/// What is asked.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// The provider that failed.
    pub from: &'a str,
    /// The provider that would take over.
    pub to: &'a str,
    /// The job as it is configured now.
    pub job: &'a JobFacts,
    /// What is known of attestations.
    pub attestations: &'a Attestations,
    /// The time.
    pub now: Timestamp,
    /// The model that the fallback reported last, if that is known.
    pub model_reported: Option<&'a str>,
    /// What happened at the primary.
    pub trigger: Trigger,
}

/// What happened at the primary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// Nothing yet: the question is asked in advance.
    InAdvance,
    /// The request never left.
    NeverSent,
    /// A failure that the provider told.
    Failed(ErrorClass),
    /// Nobody knows.
    Unknown,
    /// It broke off after the first byte of an answer.
    AfterFirstByte,
    /// The primary did the work, and its answer can't be used.
    Answered,
}

/// A job may move.
#[derive(Clone, Debug, PartialEq)]
pub struct Permit {
    /// To whom.
    pub to: String,
    /// The attestation's file.
    pub file: String,
    /// Who signed it.
    pub key_id: String,
    /// Until when it holds.
    pub expires: Timestamp,
    /// The attested lower bound of the pass rate.
    pub lower_bound: f64,
}

/// Whether a job may move. Anything that is missing, unreadable or not certain is a refusal.
///
/// # Errors
/// The refusal, which names what is missing.
pub fn may_fail_over(question: &Question<'_>) -> Result<Permit, Refusal> {
    trigger(question)?;
    let mut refused = None;
    // Several may fit, an old and a new one: one that holds is enough, and the newest tells why none does.
    let mut candidates: Vec<&Attestation> =
        question.attestations.good.iter().filter(|one| fits(question, one)).collect();
    candidates.sort_by_key(|one| std::cmp::Reverse(one.attested.issued));
    for attestation in candidates {
        match holds(question, attestation) {
            Ok(permit) => return Ok(permit),
            Err(refusal) => {
                refused.get_or_insert(refusal);
            }
        }
    }
    Err(refused.unwrap_or_else(|| nothing(question)))
}

fn trigger(question: &Question<'_>) -> Result<(), Refusal> {
    match question.trigger {
        Trigger::Unknown => Err(Refusal::UnknownOutcome),
        Trigger::AfterFirstByte => Err(Refusal::AfterFirstByte),
        Trigger::Answered => Err(Refusal::Answered),
        Trigger::Failed(class) if !class.is_definite() => Err(Refusal::UnknownOutcome),
        Trigger::Failed(class) if !question.job.failover_on.contains(&class) => {
            Err(Refusal::NotATrigger { class })
        }
        Trigger::InAdvance | Trigger::NeverSent | Trigger::Failed(_) => Ok(()),
    }
}

fn fits(question: &Question<'_>, one: &Attestation) -> bool {
    one.attested.contract == question.job.contract && one.attested.provider.name == question.to
}

/// No attestation fits: a damaged file of that name says more than that there is none.
fn nothing(question: &Question<'_>) -> Refusal {
    let name = Attestations::file_name(&question.job.contract, question.from, question.to);
    let bad = question.attestations.bad.iter().find(|bad| bad.file.ends_with(&name));
    match bad {
        Some(bad) => Refusal::Untrusted { file: bad.file.clone(), reason: bad.reason.clone() },
        None => Refusal::NoAttestation {
            contract: question.job.contract.clone(),
            from: question.from.to_owned(),
            to: question.to.to_owned(),
        },
    }
}

fn holds(question: &Question<'_>, attestation: &Attestation) -> Result<Permit, Refusal> {
    let attested = &attestation.attested;
    if attested.baseline.provider.name != question.from {
        return Err(Refusal::OtherBaseline {
            found: attested.baseline.provider.name.clone(),
            from: question.from.to_owned(),
        });
    }
    let suspended = question.attestations.suspended.iter().find(|one| {
        one.contract == attested.contract && one.provider == question.to && one.since >= attested.issued
    });
    if let Some(suspension) = suspended {
        return Err(Refusal::Suspended {
            since: suspension.since.to_string(),
            reason: suspension.reason.clone(),
        });
    }
    if attested.expires <= question.now {
        return Err(Refusal::Expired { at: attested.expires.to_string() });
    }
    if attested.issued.duration_since(question.now) > SKEW {
        return Err(Refusal::NotYet { at: attested.issued.to_string() });
    }
    unchanged(question.job, attestation)?;
    if let Some(reported) = question.model_reported {
        let known = &attested.provider.models_reported;
        if !known.is_empty() && !known.iter().any(|model| model == reported) {
            return Err(Refusal::ModelDrift { reported: reported.to_owned(), attested: known.join(", ") });
        }
    }
    if attested.figures.lower_bound < question.job.bar {
        return Err(Refusal::BelowBar {
            bound: format!("{:.4}", attested.figures.lower_bound),
            bar: question.job.bar.to_string(),
        });
    }
    Ok(Permit {
        to: question.to.to_owned(),
        file: attestation.file.clone(),
        key_id: attestation.key_id.clone(),
        expires: attested.expires,
        lower_bound: attested.figures.lower_bound,
    })
}

fn unchanged(job: &JobFacts, attestation: &Attestation) -> Result<(), Refusal> {
    let attested = &attestation.attested;
    let changed = |what: &str| Err(Refusal::Changed { what: what.to_owned() });
    let differing = attested.digests.differing(&job.digests);
    // The part says more than the file that it is in.
    if let Some(name) = differing.iter().find(|name| **name != "contract").or(differing.first()) {
        return changed(name);
    }
    let provider = &attested.provider;
    if provider.dialect != job.dialect {
        return changed("dialect");
    }
    if provider.endpoint != job.endpoint {
        return changed("endpoint");
    }
    if provider.model != job.model {
        return changed("model");
    }
    if provider.parameters != job.parameters {
        return changed("parameters");
    }
    if let Some(primary) = &job.primary {
        let attested = &attested.baseline.provider;
        if attested.model != primary.model {
            return changed("primary's model");
        }
        if attested.parameters != primary.parameters {
            return changed("primary's parameters");
        }
    }
    Ok(())
}
