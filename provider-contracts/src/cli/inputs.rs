//! Reading what a command names.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::arguments::{Inputs, TapeArgs};
use super::exit::CliError;
use crate::contract::{self, Contract};
use crate::dialect::{Catalogue, Dialect};
use crate::provider::{Provider, load_providers};
use crate::transport::{Http, Recorder, Replayer, RunId, Secrets, Transport};

/// Everything that was read.
pub(super) struct Read {
    pub(super) contract: Contract,
    pub(super) providers: BTreeMap<String, Provider>,
    pub(super) catalogue: Catalogue,
    /// What the calls of this command are known by.
    pub(super) run: RunId,
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
    Ok(Read { contract, providers, catalogue, run: RunId::fresh(), providers_file })
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
    run: RunId,
    talk: &mut (dyn Write + Send),
) -> Result<Arc<dyn Transport>, CliError> {
    if let Some(path) = &tape.replay {
        return Ok(Arc::new(Replayer::new(path)?));
    }
    let http = Http::for_provider(provider, dialect.request.sign.is_some())?;
    let secrets = http.secrets().clone().of_run(run);
    let http: Arc<dyn Transport> = Arc::new(http);
    Ok(match &tape.record {
        Some(path) => Arc::new(recorder(http, secrets, path, tape.resume, talk)?),
        None => http,
    })
}

/// A recorder, with a word about the calls that an interruption left open.
pub(super) fn recorder(
    inner: Arc<dyn Transport>,
    secrets: Secrets,
    path: &Path,
    resume: bool,
    talk: &mut (dyn Write + Send),
) -> Result<Recorder, CliError> {
    let recorder = Recorder::new(inner, secrets, path, resume)?;
    if recorder.lost() > 0 {
        writeln!(
            talk,
            "{} calls were out when the run was interrupted: their outcome is unknown, and they are not sent again. \
             Remove {}.sent before --resume to take them anew",
            recorder.lost(),
            path.display()
        )?;
    }
    Ok(recorder)
}
