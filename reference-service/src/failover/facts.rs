use std::collections::BTreeMap;

use onejob_contracts::contract::{self, Contract};
use onejob_contracts::dialect::{Catalogue, Dialect};
use onejob_contracts::gate::JobFacts;
use onejob_contracts::provider::{self, load_providers};

use super::Failover;
use crate::{Config, Error};

/// The one wire format that this service speaks.
const DIALECT: &str = "plain";

/// What runs now: by kind of job, provider that failed, and provider that would take over.
pub(super) type Facts = BTreeMap<(String, String, String), JobFacts>;

/// Reads contracts and providers, once: like every other part of the configuration they hold until the next start.
pub(super) fn facts(config: &Config, files: &Failover) -> Result<Facts, Error> {
    let entries = load_providers(&files.providers).map_err(|error| wrong(&error))?;
    let catalogue = Catalogue::embedded().map_err(|error| wrong(&error))?;
    let dialect = catalogue.get(DIALECT).map_err(|error| wrong(&error))?;
    let mut known = Vec::new();
    for provider in &config.providers {
        let file = files.providers.display();
        let Some(entry) = entries.get(&provider.name) else {
            return Err(Error::Config(format!(
                "{file} has no provider `{}`; the job service calls it, so say there what stands behind it",
                provider.name
            )));
        };
        if entry.dialect != DIALECT {
            return Err(Error::Config(format!(
                "{file}: provider `{}` speaks `{}`, and this service speaks `{DIALECT}` alone; put a gateway \
                 in between and check that",
                provider.name, entry.dialect
            )));
        }
        // What is called is what has to be attested, whatever the file says.
        known.push(provider::Provider { base_url: provider.url.clone(), ..entry.clone() });
    }
    let mut facts = Facts::new();
    for (kind, path) in &files.contracts {
        let contract = contract::load(path).map_err(|error| wrong(&error))?;
        for to in &known {
            for from in known.iter().filter(|from| from.name != to.name) {
                let between = between(&contract, from, to, &dialect)?;
                facts.insert((kind.clone(), from.name.clone(), to.name.clone()), between);
            }
        }
    }
    Ok(facts)
}

fn between(
    contract: &Contract,
    from: &provider::Provider,
    to: &provider::Provider,
    dialect: &Dialect,
) -> Result<JobFacts, Error> {
    let facts = JobFacts::of(contract, to, dialect).map_err(|error| wrong(&error))?;
    if facts.endpoint.is_empty() {
        return Err(Error::Config(format!(
            "no request of contract `{}` can be made for provider `{}`; `onejob contract lint {} --provider {}` says why",
            contract.name(),
            to.name,
            contract.path.display(),
            to.name
        )));
    }
    Ok(facts.with_primary(from))
}

fn wrong(error: &dyn std::fmt::Display) -> Error {
    Error::Config(error.to_string())
}
