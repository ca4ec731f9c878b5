//! Transports that keep and that give back.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;

use super::{BoxFuture, CallId, Cassette, CassetteError, Exchange, Interaction, Secrets, Transport};
use crate::file::FileError;
use crate::provider::{Outgoing, dropped};

/// Sends through another transport and keeps every call in a file, each as soon as it is done.
pub struct Recorder {
    inner: Arc<dyn Transport>,
    secrets: Secrets,
    done: Cassette,
    file: Mutex<File>,
    path: PathBuf,
}

impl Recorder {
    /// Records into `path`. With `resume`, calls that the file already has are not made again.
    ///
    /// # Errors
    /// When the file can't be written, or exists and `resume` is not wanted.
    pub fn new(
        inner: Arc<dyn Transport>,
        secrets: Secrets,
        path: &Path,
        resume: bool,
    ) -> Result<Self, CassetteError> {
        let failed = |error| FileError::read(path, &error);
        let mut done = Cassette::default();
        let mut options = OpenOptions::new();
        options.write(true);
        if resume && path.exists() {
            let (known, whole) = Cassette::load(path, true)?;
            let file = options.open(path).map_err(failed)?;
            file.set_len(whole).map_err(failed)?;
            done = known;
            drop(file);
            options.append(true);
        } else {
            options.create_new(true);
        }
        let mut file = options.open(path).map_err(failed)?;
        if !done.0.is_empty() {
            writeln!(file).map_err(failed)?;
        }
        Ok(Self { inner, secrets, done, file: Mutex::new(file), path: path.to_owned() })
    }

    fn keep(&self, interaction: &Interaction) -> Result<(), String> {
        let failed = |error: &dyn std::fmt::Display| format!("can't write {}: {error}", self.path.display());
        let mut text = serde_json::to_string_pretty(interaction).map_err(|error| failed(&error))?;
        text.push('\n');
        let mut file = self.file.lock().map_err(|error| failed(&error))?;
        file.write_all(text.as_bytes()).map_err(|error| failed(&error))
    }
}

impl Transport for Recorder {
    fn send<'a>(
        &'a self,
        id: &'a CallId,
        request: &'a Outgoing,
        deadline: Duration,
    ) -> BoxFuture<'a, Exchange> {
        Box::pin(async move {
            if let Some(known) = self.done.0.get(id) {
                return replay(known, request);
            }
            let exchange = self.inner.send(id, request, deadline).await;
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
