use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use onejob_contracts::attest::TrustedKeys;
use onejob_contracts::gate::{Attestations, Question, Trigger};

use super::facts::{Facts, facts};
use crate::contracts::Known;
use crate::reach::Occasion;
use crate::rules::Rules;
use crate::store::{Move, Unmoved};
use crate::{Config, Error};

/// Decides whether a job may go on at another provider. Remembers files and which model answered last, never verdicts.
pub(crate) struct Gate {
    facts: Facts,
    keys: TrustedKeys,
    folder: PathBuf,
    rules: Arc<Rules>,
    read: Mutex<Option<Read>>,
    heard: Mutex<BTreeMap<String, String>>,
}

/// What the folder held when it was read.
#[derive(Clone)]
struct Read {
    attestations: Arc<Attestations>,
    at: Timestamp,
}

/// Who asks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked<'a> {
    /// The kind of the job.
    pub(crate) kind: &'a str,
    /// The provider that failed.
    pub(crate) from: &'a str,
    /// The provider that would take over.
    pub(crate) to: &'a str,
    /// How the other one failed.
    pub(crate) cause: Trigger,
}

impl Gate {
    /// Reads contracts, providers and keys; `None` where jobs never move by themselves.
    pub(crate) fn open(
        config: &Config,
        known: &Known,
        rules: Arc<Rules>,
    ) -> Result<Option<Arc<Self>>, Error> {
        let Some(files) = &config.failover else { return Ok(None) };
        let keys = TrustedKeys::load(&files.trust).map_err(|error| Error::Config(error.to_string()))?;
        if !files.attestations.is_dir() {
            let folder = files.attestations.display();
            tracing::warn!(%folder, "there is no such folder of attestations: until there is, no job moves");
        }
        let gate = Self {
            facts: facts(known)?,
            keys,
            folder: files.attestations.clone(),
            rules,
            read: Mutex::new(None),
            heard: Mutex::default(),
        };
        Ok(Some(Arc::new(gate)))
    }

    /// Asks. Looks at the folder each time, which takes a listing, and reads it again only when it changed.
    pub(crate) async fn ask(self: &Arc<Self>, asked: Asked<'_>) -> Move {
        let gate = Arc::clone(self);
        let read = tokio::task::spawn_blocking(move || gate.look()).await;
        let read = read.unwrap_or_else(|error| Err(error.to_string()));
        self.decide(asked, read)
    }

    /// Takes note of the model that answered.
    pub(crate) fn hears(&self, provider: &str, model: &str) {
        let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        if heard.get(provider).is_none_or(|known| known != model) {
            heard.insert(provider.to_owned(), model.to_owned());
        }
    }

    fn decide(&self, asked: Asked<'_>, read: Result<Read, String>) -> Move {
        let refused = |code, reason| Move::Refused(Unmoved { to: asked.to.to_owned(), code, reason });
        let Asked { kind, from, to, cause } = asked;
        self.rules.reach.met(Occasion::FailoverAsked);
        let Some(job) = self.facts.get(&(kind.to_owned(), from.to_owned(), to.to_owned())) else {
            return refused("no_contract", format!("no contract covers jobs of kind `{kind}` at `{to}`"));
        };
        // Nothing is certain about what can't be read, and what isn't certain is a no.
        let read = match read {
            Ok(read) => read,
            Err(reason) => return refused("unreadable", reason),
        };
        let heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner).get(to).cloned();
        let question = Question {
            from,
            to,
            job,
            attestations: &read.attestations,
            now: (self.rules.time_of_question)(read.at),
            model_reported: heard.as_deref(),
            trigger: cause,
        };
        match (self.rules.may_move)(&question) {
            Ok(permit) => {
                let file = Path::new(&permit.file).file_name().unwrap_or_default().to_string_lossy();
                let by = format!("{file}, signed by {}, until {}", permit.key_id, permit.expires);
                Move::Allowed { to: to.to_owned(), on: cause, by }
            }
            Err(refusal) => refused(refusal.code(), refusal.to_string()),
        }
    }

    fn look(&self) -> Result<Read, String> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = read.as_ref().filter(|known| !known.attestations.is_stale(&self.folder)) {
            return Ok(known.clone());
        }
        // What could not be read this time must not leave behind what was read before.
        *read = None;
        let at = Timestamp::now();
        let attestations = Attestations::load(&self.folder, &self.keys).map_err(|error| error.to_string())?;
        for bad in &attestations.bad {
            tracing::warn!(file = bad.file, reason = bad.reason, "an attestation proves nothing");
        }
        let now = Read { attestations: Arc::new(attestations), at };
        *read = Some(now.clone());
        Ok(now)
    }
}

impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gate").field("folder", &self.folder).finish_non_exhaustive()
    }
}
