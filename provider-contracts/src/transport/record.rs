//! Transports that keep and that give back.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;

use super::journal::Journal;
use super::{BoxFuture, CallId, Cassette, CassetteError, Exchange, Interaction, Secrets, Transport};
use crate::file::FileError;
use crate::provider::{Outgoing, dropped};

/// Sends through another transport and keeps every call in a file, each as soon as it is done. Which calls are out is
/// noted beside it: after an interruption they are not sent again, because they may have been carried out.
pub struct Recorder {
    inner: Arc<dyn Transport>,
    secrets: Secrets,
    done: Cassette,
    /// Calls that were out when an earlier run was interrupted.
    lost: BTreeSet<CallId>,
    files: Mutex<Files>,
    path: PathBuf,
}

struct Files {
    cassette: File,
    journal: Journal,
}

impl Recorder {
    /// Records into `path`. With `resume`, calls that the file already has are not made again, and neither are those that
    /// were out when the earlier run was interrupted.
    ///
    /// # Errors
    /// When the file can't be written, is being written by another run, or exists and `resume` is not wanted.
    pub fn new(
        inner: Arc<dyn Transport>,
        secrets: Secrets,
        path: &Path,
        resume: bool,
    ) -> Result<Self, CassetteError> {
        let failed = |error| FileError::read(path, &error);
        let mut options = OpenOptions::new();
        options.append(true);
        let goes_on = resume && path.exists();
        if !goes_on {
            options.create_new(true);
        }
        let mut cassette = options.open(path).map_err(|error| match error.kind() {
            std::io::ErrorKind::AlreadyExists => CassetteError::Exists(path.display().to_string()),
            _ => failed(error).into(),
        })?;
        // Where a file system has no locks, nobody can tell.
        if matches!(cassette.try_lock(), Err(TryLockError::WouldBlock)) {
            return Err(CassetteError::InUse(path.display().to_string()));
        }
        let (journal, mut lost) = Journal::beside(path)?;
        let mut done = Cassette::default();
        if goes_on {
            let (known, whole) = Cassette::load(path, true)?;
            cassette.set_len(whole).map_err(failed)?;
            if !known.0.is_empty() {
                writeln!(cassette).map_err(failed)?;
            }
            done = known;
            lost.retain(|id| !done.0.contains_key(id));
        } else {
            // A journal without its cassette is about calls that nobody asks for any more.
            lost.clear();
        }
        let files = Mutex::new(Files { cassette, journal });
        Ok(Self { inner, secrets, done, lost, files, path: path.to_owned() })
    }

    /// Calls that were out when an earlier run was interrupted.
    #[must_use]
    pub fn lost(&self) -> usize {
        self.lost.len()
    }

    fn with_files<T>(&self, act: impl FnOnce(&mut Files) -> std::io::Result<T>) -> Result<T, String> {
        let mut files = self.files.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        act(&mut files).map_err(|error| format!("OJ7014: can't write {}: {error}", self.path.display()))
    }

    fn keep(&self, interaction: &Interaction) -> Result<(), String> {
        self.with_files(|files| {
            let mut text = serde_json::to_string_pretty(interaction)?;
            text.push('\n');
            files.cassette.write_all(text.as_bytes())?;
            files.journal.recorded(&interaction.call);
            Ok(())
        })
    }
}

/// What is told of a call that was out when the run was interrupted.
const LOST: &str = "it was sent, and the run was interrupted before an answer was recorded";

impl Transport for Recorder {
    fn send<'a>(
        &'a self,
        id: &'a CallId,
        request: &'a Outgoing,
        deadline: Duration,
    ) -> BoxFuture<'a, Exchange> {
        Box::pin(async move {
            if let Some(known) = self.done.0.get(id) {
                // The run that was interrupted had another name.
                let body = self.secrets.redact_document(&request.body);
                return replay(known, &Outgoing { body, ..request.clone() });
            }
            let exchange = if self.lost.contains(id) {
                Exchange::Unknown(LOST.to_owned())
            } else {
                if let Err(problem) = self.with_files(|files| files.journal.sends(id)) {
                    return Exchange::Broken(problem);
                }
                self.inner.send(id, request, deadline).await
            };
            if let Some(interaction) = Interaction::of(id, request, &exchange, &self.secrets)
                && let Err(problem) = self.keep(&interaction)
            {
                return Exchange::Broken(problem);
            }
            exchange
        })
    }
}

/// Answers from a cassette and never sends.
pub struct Replayer {
    calls: BTreeMap<CallId, Interaction>,
    path: PathBuf,
}

impl Replayer {
    /// Replays the file at `path`.
    ///
    /// # Errors
    /// When it can't be read or is damaged.
    pub fn new(path: &Path) -> Result<Self, CassetteError> {
        let (cassette, _) = Cassette::load(path, false)?;
        Ok(Self { calls: cassette.0, path: path.to_owned() })
    }
}

impl Transport for Replayer {
    fn send<'a>(
        &'a self,
        id: &'a CallId,
        request: &'a Outgoing,
        _deadline: Duration,
    ) -> BoxFuture<'a, Exchange> {
        Box::pin(async move {
            match self.calls.get(id) {
                Some(known) => replay(known, request),
                None => Exchange::Broken(format!(
                    "OJ7011: the cassette {} has no recording of call {id}: record it again with --record",
                    self.path.display()
                )),
            }
        })
    }
}

/// The recorded answer, if the request is still the recorded one. A secret in the body is redacted in the recording
/// alone, so redacted members are not compared.
fn replay(known: &Interaction, request: &Outgoing) -> Exchange {
    let changed = dropped(&request.body, &known.request)
        .into_iter()
        .chain(dropped(&known.request, &request.body))
        .find(|place| !redacted(&known.request, place));
    match changed {
        Some(place) => Exchange::Broken(format!(
            "OJ7012: the request of call {} is not the recorded one: {place} differs. Prompt, schema or parameters changed: record again with --record",
            known.call
        )),
        None => known.exchange(),
    }
}

fn redacted(document: &Value, place: &str) -> bool {
    document.pointer(place).and_then(Value::as_str).is_some_and(|text| text.contains("[redacted]"))
}
