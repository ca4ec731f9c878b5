//! What runs now, to be held against what was attested.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::Value;

use crate::attest::{Attested, Baseline};
use crate::contract::{Contract, Digests};
use crate::dialect::{Dialect, ErrorClass};
use crate::file::FileError;
use crate::provider::{Provider, static_check};
use crate::run::{Figures, ProviderFacts};

/// The job as it is configured now, for one fallback. Worked out once, when the configuration is read; asking the gate
/// then costs no I/O.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JobFacts {
    /// The contract's name.
    pub contract: String,
    /// Digests of the contract's parts and of the fallback's template and tokenizer.
    pub digests: Digests,
    /// The fallback's dialect.
    pub dialect: String,
    /// The URL that its requests go to.
    pub endpoint: String,
    /// The model that it is asked for.
    pub model: String,
    /// Its parameters.
    pub parameters: BTreeMap<String, Value>,
    /// The primary as it is configured now, where the asker knows it: agreement was proven with that one.
    pub primary: Option<PrimaryFacts>,
    /// Failures after which the contract lets a job move.
    pub failover_on: Vec<ErrorClass>,
    /// The bar on the pass rate's lower bound.
    pub bar: f64,
}

/// What of the primary the proof depends on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PrimaryFacts {
    /// The model that it is asked for.
    pub model: String,
    /// Its parameters.
    pub parameters: BTreeMap<String, Value>,
}

impl JobFacts {
    /// Works the facts out.
    ///
    /// # Errors
    /// When a file that the provider names can't be read.
    pub fn of(contract: &Contract, fallback: &Provider, dialect: &Dialect) -> Result<Self, FileError> {
        let report = static_check(contract, fallback, dialect)?;
        Ok(Self {
            contract: contract.name().to_owned(),
            digests: report.digests,
            dialect: fallback.dialect.clone(),
            endpoint: report.request.map(|request| request.url).unwrap_or_default(),
            model: fallback.model.clone(),
            parameters: fallback.parameters.clone(),
            primary: None,
            failover_on: contract.spec.failover_on.clone(),
            bar: *contract.spec.thresholds.pass_rate.get_ref(),
        })
    }

    /// The same, bound to this primary as well.
    #[must_use]
    pub fn with_primary(mut self, primary: &Provider) -> Self {
        let (model, parameters) = (primary.model.clone(), primary.parameters.clone());
        self.primary = Some(PrimaryFacts { model, parameters });
        self
    }

    /// What an attestation of exactly these facts says: for tests of services that ask the gate. A check makes its own
    /// from the answers that it got.
    #[must_use]
    pub fn attested(
        &self,
        (from, to): (&str, &str),
        figures: &Figures,
        (issued, expires): (Timestamp, Timestamp),
    ) -> Attested {
        let provider = ProviderFacts {
            name: to.to_owned(),
            dialect: self.dialect.clone(),
            endpoint: self.endpoint.clone(),
            model: self.model.clone(),
            produced_by: vec![to.to_owned()],
            parameters: self.parameters.clone(),
            ..ProviderFacts::default()
        };
        let primary = self.primary.clone().unwrap_or_default();
        Attested {
            contract: self.contract.clone(),
            digests: self.digests.clone(),
            provider,
            baseline: Baseline {
                provider: ProviderFacts {
                    name: from.to_owned(),
                    dialect: self.dialect.clone(),
                    model: primary.model,
                    produced_by: vec![from.to_owned()],
                    parameters: primary.parameters,
                    ..ProviderFacts::default()
                },
                figures: figures.clone(),
                report: String::new(),
            },
            figures: figures.clone(),
            fields: Vec::new(),
            replayed: false,
            issued,
            expires,
            tool: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }
}
