//! The in-toto statement with the test-result predicate.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::contract::{Contract, Digests, sha256_hex};
use crate::parity::{Comparison, FieldParity};
use crate::provider::is_plain_name;
use crate::run::{Figures, ProviderFacts};
use crate::statistics::lower_bound;

const STATEMENT: &str = "https://in-toto.io/Statement/v1";
const PREDICATE: &str = "https://in-toto.io/attestation/test-result/v0.1";

/// What an attestation says, read back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attested {
    /// The contract's name.
    pub contract: String,
    /// What it is bound to.
    pub digests: Digests,
    /// The fallback.
    pub provider: ProviderFacts,
    /// The primary that it was compared with.
    pub baseline: Baseline,
    /// The fallback's figures.
    pub figures: Figures,
    /// Agreement by field.
    pub fields: Vec<FieldParity>,
    /// Whether answers came from a cassette.
    pub replayed: bool,
    /// When it was signed, RFC 3339.
    pub issued: Timestamp,
    /// Until when it holds, RFC 3339.
    pub expires: Timestamp,
    /// The version of the tool.
    pub tool: String,
}

/// The primary that a fallback was compared with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Baseline {
    /// The primary.
    pub provider: ProviderFacts,
    /// Its figures.
    pub figures: Figures,
    /// SHA-256 of its whole report.
    pub report: String,
}

/// There is nothing to attest.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StatementError {
    /// The comparison did not pass.
    #[error("OJ7032: {verdict} can't be attested: {reason}")]
    NotPassed {
        /// The verdict.
        verdict: String,
        /// Why.
        reason: String,
    },
    /// Another provider's bytes were judged.
    #[error("OJ7033: the answers were produced by {found} and not by {wanted}")]
    OtherProducer {
        /// Whose they are.
        found: String,
        /// Whose they should be.
        wanted: String,
    },
    /// The contract changed since.
    #[error("OJ7034: {0} changed since the check: check again")]
    Changed(String),
    /// The attestation's file is called by it.
    #[error("OJ7035: `{0}` is no name for a provider, and the attestation's file would be called by it")]
    Name(String),
    /// The statement is not one of these.
    #[error("not an attestation of this kind: {0}")]
    Shape(String),
}

/// Makes the statement. Only a passed comparison whose samples the fallback itself produced can be attested.
///
/// # Errors
/// Why there is nothing to attest.
pub fn statement(
    contract: &Contract,
    comparison: &Comparison,
    now: Timestamp,
) -> Result<Value, StatementError> {
    if !comparison.verdict.is_pass() {
        return Err(StatementError::NotPassed {
            verdict: comparison.verdict.to_string(),
            reason: comparison.reason.clone(),
        });
    }
    let fallback = &comparison.fallback;
    for name in [&fallback.provider.name, &comparison.primary.provider.name] {
        if !is_plain_name(name) {
            return Err(StatementError::Name(name.clone()));
        }
    }
    // The verdict is a word in a file that anybody may have edited; the figures have to say the same.
    let (figures, bar) = (&fallback.figures, *contract.spec.thresholds.pass_rate.get_ref());
    let bound = lower_bound(figures.passed, figures.samples).min(figures.lower_bound);
    if bound < bar {
        return Err(StatementError::NotPassed {
            verdict: format!("{} of {} samples", figures.passed, figures.samples),
            reason: format!("their lower bound {bound:.4} is below the bar {bar}"),
        });
    }
    let producers = &fallback.provider.produced_by;
    if producers.as_slice() != [fallback.provider.name.clone()] {
        return Err(StatementError::OtherProducer {
            found: producers.join(", "),
            wanted: fallback.provider.name.clone(),
        });
    }
    let current = Digests::of(contract);
    for (name, digest) in &current.0 {
        if fallback.digests.0.get(name) != Some(digest) {
            return Err(StatementError::Changed(name.clone()));
        }
    }
    let hours = SignedDuration::from_hours(i64::from(contract.spec.expires_after_hours));
    let attested = Attested {
        contract: fallback.contract.clone(),
        digests: fallback.digests.clone(),
        provider: fallback.provider.clone(),
        baseline: Baseline {
            provider: comparison.primary.provider.clone(),
            figures: comparison.primary.figures.clone(),
            report: sha256_hex(json!(comparison.primary).to_string().as_bytes()),
        },
        figures: fallback.figures.clone(),
        fields: comparison.fields.clone(),
        replayed: fallback.replayed || comparison.primary.replayed,
        issued: now,
        expires: now.checked_add(hours).unwrap_or(now),
        tool: fallback.tool.clone(),
    };
    let warned: BTreeSet<String> = fallback.notes.iter().map(|note| note.code.to_string()).collect();
    Ok(attested.statement(&warned.into_iter().collect::<Vec<_>>()))
}

impl Attested {
    /// The in-toto statement that says this, to be signed. `warned` are codes that did not decide anything.
    #[must_use]
    pub fn statement(&self, warned: &[String]) -> Value {
        let resource =
            |(name, digest): (&String, &String)| json!({ "name": name, "digest": { "sha256": digest } });
        let resources: Vec<Value> = self.digests.0.iter().map(resource).collect();
        let mut passed = vec!["pass_rate".to_owned()];
        passed.extend(self.fields.iter().map(|field| format!("agree {}", field.select)));
        json!({
            "_type": STATEMENT,
            "subject": resources,
            "predicateType": PREDICATE,
            "predicate": {
                "result": "PASSED",
                "configuration": resources,
                "passedTests": passed,
                "warnedTests": warned,
                "failedTests": [],
                "onejob": self,
            },
        })
    }
}

/// Reads a statement back.
///
/// # Errors
/// When it is not one of these, or says anything but PASSED.
pub fn attested(statement: &Value) -> Result<Attested, StatementError> {
    let wrong = |what: &str| StatementError::Shape(what.to_owned());
    if statement["_type"] != STATEMENT || statement["predicateType"] != PREDICATE {
        return Err(wrong("the statement's type is another"));
    }
    let predicate = &statement["predicate"];
    if predicate["result"] != "PASSED" {
        return Err(wrong("the result is not PASSED"));
    }
    let attested: Attested = serde_json::from_value(predicate["onejob"].clone())
        .map_err(|error| StatementError::Shape(error.to_string()))?;
    let subjects: BTreeMap<String, String> = statement["subject"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|one| {
            Some((one["name"].as_str()?.to_owned(), one["digest"]["sha256"].as_str()?.to_owned()))
        })
        .collect();
    // Tools that know in-toto alone read the subjects: both must say the same.
    if subjects != attested.digests.0 {
        return Err(wrong("subjects and digests differ"));
    }
    Ok(attested)
}
