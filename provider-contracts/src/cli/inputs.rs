//! Reading what a command names.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::arguments::{Inputs, TapeArgs};
use super::exit::CliError;
use crate::contract::{self, Contract};
use crate::dialect::{Catalogue, Dialect};
use crate::provider::{Provider, load_providers};
use crate::transport::{Http, Recorder, Replayer, Transport};

/// Everything that was read.
pub(super) struct Read {
    pub(super) contract: Contract,
    pub(super) providers: BTreeMap<String, Provider>,
    pub(super) catalogue: Catalogue,
    providers_file: PathBuf,
}

pub(super) fn catalogue(folder: Option<&Path>) -> Result<Catalogue, CliError> {
    Ok(match folder {
        Some(folder) => Catalogue::with_folder(folder)?,
        None => Catalogue::embedded()?,
    })
}

/// Reads contract, providers and dialects. Without a providers file there are no providers.
pub(super) fn read(inputs: &Inputs) -> Result<Read, CliError> {
    let contract = contract::load(&inputs.contract)?;
    let beside = inputs.contract.parent().unwrap_or(Path::new("")).join("providers.toml");
    let providers_file = inputs.providers.clone().unwrap_or(beside);
    let providers = if inputs.providers.is_some() || providers_file.is_file() {
        load_providers(&providers_file)?
    } else {
        BTreeMap::new()
    };
    let catalogue = catalogue(inputs.dialects.as_deref())?;
    Ok(Read { contract, providers, catalogue, providers_file })
}

impl Read {
    /// A provider and its dialect.
    pub(super) fn provider(&self, name: &str) -> Result<(&Provider, Arc<Dialect>), CliError> {
        let provider = self.providers.get(name).ok_or_else(|| {
            let known: Vec<&str> = self.providers.keys().map(String::as_str).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            CliError::Usage(format!(
                "OJ7040: no provider is called `{name}`; {} has: {known}",
                self.providers_file.display()
            ))
        })?;
        Ok((provider, self.catalogue.get(&provider.dialect)?))
    }
}

/// The transport that the flags ask for.
pub(super) fn transport(
    tape: &TapeArgs,
    provider: &Provider,
    dialect: &Dialect,
) -> Result<Arc<dyn Transport>, CliError> {
    if let Some(path) = &tape.replay {
        return Ok(Arc::new(Replayer::new(path)?));
    }
    let http = Http::for_provider(provider, dialect.request.sign.is_some())?;
    let secrets = http.secrets();
    let http: Arc<dyn Transport> = Arc::new(http);
    Ok(match &tape.record {
        Some(path) => Arc::new(Recorder::new(http, secrets, path, tape.resume)?),
        None => http,
    })
}
