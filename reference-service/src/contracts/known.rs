use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use onejob_contracts::contract::{self, Contract};
use onejob_contracts::dialect::{Catalogue, Dialect};
use onejob_contracts::provider::{self, load_providers};

use crate::{Config, Error};

/// The service's own wire format: a job goes out, a result or an error comes back.
pub(crate) const PLAIN: &str = "plain";

/// A provider and the wire format that it speaks.
#[derive(Debug, Clone)]
pub(crate) struct Speaker {
    pub(crate) provider: provider::Provider,
    pub(crate) dialect: Arc<Dialect>,
}

/// What the files say, read once: like every other part of the configuration it holds until the next start.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// By kind of job.
    pub(crate) contracts: BTreeMap<String, Contract>,
    /// In the order in which the service knows them; empty without a providers file.
    pub(crate) speakers: Vec<Speaker>,
}

impl Known {
    /// Reads the files; nothing is known where there are none.
    pub(crate) fn read(config: &Config) -> Result<Self, Error> {
        let Some(files) = &config.contracts else { return Ok(Self::default()) };
        let mut entries = load_providers(&files.providers).map_err(|error| wrong(&error))?;
        let catalogue = match &files.dialects {
            Some(folder) => Catalogue::with_folder(folder),
            None => Catalogue::embedded(),
        };
        let catalogue = catalogue.map_err(|error| wrong(&error))?;
        let mut known = Self::default();
        for (kind, path) in &files.by_kind {
            known.contracts.insert(kind.clone(), contract::load(path).map_err(|error| wrong(&error))?);
        }
        for provider in &config.providers {
            let entry =
                entries.remove(&provider.name).ok_or_else(|| missing(&files.providers, &provider.name))?;
            let dialect = catalogue.get(&entry.dialect).map_err(|error| wrong(&error))?;
            // What is called is what has to be attested, whatever the file says.
            let provider = provider::Provider { base_url: provider.url.clone(), ..entry };
            known.speakers.push(Speaker { provider, dialect });
        }
        known.tell_of_other_names();
        Ok(known)
    }

    /// Whether calls of this provider are made in a wire format of its own.
    pub(crate) fn is_foreign(&self, provider: &str) -> bool {
        self.speakers.iter().any(|one| one.provider.name == provider && one.dialect.name != PLAIN)
    }

    /// A provider of the plain kind is told the kind of a job, which a check takes from the contract.
    fn tell_of_other_names(&self) {
        for speaker in self.speakers.iter().filter(|one| one.dialect.name == PLAIN) {
            let said = speaker.provider.settings.get("kind");
            for (kind, contract) in &self.contracts {
                let checked = said.map_or(contract.name(), String::as_str);
                if checked != kind {
                    let provider = &speaker.provider.name;
                    tracing::info!(
                        provider,
                        kind,
                        checked,
                        "a check names the work otherwise; settings = {{ kind = \"…\" }} would make them one"
                    );
                }
            }
        }
    }
}

fn missing(file: &Path, provider: &str) -> Error {
    Error::Config(format!(
        "{} has no provider `{provider}`; the job service calls it, so say there what stands behind it",
        file.display()
    ))
}

pub(super) fn wrong(error: &dyn std::fmt::Display) -> Error {
    Error::Config(error.to_string())
}
