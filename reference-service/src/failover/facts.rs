use std::collections::BTreeMap;

use onejob_contracts::contract::Contract;
use onejob_contracts::gate::JobFacts;

use crate::Error;
use crate::contracts::{Known, Speaker};

/// What runs now: by kind of job, provider that failed, and provider that would take over.
pub(super) type Facts = BTreeMap<(String, String, String), JobFacts>;

/// Works out what has to be attested.
pub(super) fn facts(known: &Known) -> Result<Facts, Error> {
    let mut facts = Facts::new();
    for (kind, contract) in &known.contracts {
        for to in &known.speakers {
            for from in known.speakers.iter().filter(|from| from.provider.name != to.provider.name) {
                let pair = (kind.clone(), from.provider.name.clone(), to.provider.name.clone());
                facts.insert(pair, between(contract, from, to)?);
            }
        }
    }
    Ok(facts)
}

fn between(contract: &Contract, from: &Speaker, to: &Speaker) -> Result<JobFacts, Error> {
    let facts = JobFacts::of(contract, &to.provider, &to.dialect)
        .map_err(|error| Error::Config(error.to_string()))?;
    if facts.endpoint.is_empty() {
        return Err(Error::Config(format!(
            "no request of contract `{}` can be made for provider `{}`; `onejob contract lint {} --provider {}` says why",
            contract.name(),
            to.provider.name,
            contract.path.display(),
            to.provider.name
        )));
    }
    Ok(facts.with_primary(&from.provider))
}
