//! The attestations of a folder.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::Suspension;
use crate::attest::{Attested, TrustedKeys, attested, verify};
use crate::file::{FileError, read_text};

/// One attestation whose signature holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Attestation {
    /// What it says.
    pub attested: Attested,
    /// Who signed it.
    pub key_id: String,
    /// Its file.
    pub file: String,
}

/// A file that proves nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected {
    /// The file.
    pub file: String,
    /// Why.
    pub reason: String,
}

/// Everything that a folder of attestations says.
#[derive(Clone, Debug, Default)]
pub struct Attestations {
    /// Those whose signature holds.
    pub good: Vec<Attestation>,
    /// Files that prove nothing, kept so that a refusal can say why.
    pub bad: Vec<Rejected>,
    /// Permissions that were taken away.
    pub suspended: Vec<Suspension>,
    /// What the files looked like when they were read.
    seen: Listing,
}

/// The ending of an attestation's file name.
const ENDING: &str = ".attestation.json";

impl Attestations {
    /// Reads `folder`. A folder that does not exist holds nothing.
    ///
    /// # Errors
    /// When the folder can't be read, or a suspension in it: a permission that was taken away must not come back
    /// because a file is damaged.
    pub fn load(folder: &Path, keys: &TrustedKeys) -> Result<Self, FileError> {
        let mut read = Self { seen: listing(folder)?, ..Self::default() };
        for (path, ..) in read.seen.clone() {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if name.ends_with(".suspended.json") {
                read.suspended.push(Suspension::load(&path)?);
            } else if name.ends_with(ENDING) {
                let file = path.display().to_string();
                // What can't be read proves nothing; it is no reason to doubt the others.
                match read_text(&path) {
                    Ok(text) => read.add(&text, &file, keys),
                    Err(error) => read.bad.push(Rejected { file, reason: error.to_string() }),
                }
            }
        }
        Ok(read)
    }

    /// Adds one attestation's text.
    pub fn add(&mut self, text: &str, file: &str, keys: &TrustedKeys) {
        let verified = verify(text, keys).map_err(|error| error.to_string());
        let good = verified.and_then(|(statement, key_id)| {
            let attested = attested(&statement).map_err(|error| error.to_string())?;
            Ok(Attestation { attested, key_id, file: file.to_owned() })
        });
        match good {
            Ok(attestation) => self.good.push(attestation),
            Err(reason) => self.bad.push(Rejected { file: file.to_owned(), reason }),
        }
    }

    /// Whether `folder` looks different from when it was read. One directory listing; for a service that watches.
    #[must_use]
    pub fn is_stale(&self, folder: &Path) -> bool {
        listing(folder).map_or(true, |now| now != self.seen)
    }

    /// The file name for an attestation.
    #[must_use]
    pub fn file_name(contract: &str, from: &str, to: &str) -> String {
        format!("{contract}.{from}.{to}{ENDING}")
    }
}

/// Files with length, time of change and number: two that are put in place of each other within one tick of the file
/// system's clock, and are of one length, still are two.
type Listing = Vec<(PathBuf, u64, Option<SystemTime>, u64)>;

#[cfg(unix)]
fn number(meta: &std::fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(meta)
}

#[cfg(not(unix))]
fn number(_meta: &std::fs::Metadata) -> u64 {
    0
}

fn listing(folder: &Path) -> Result<Listing, FileError> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(FileError::read(folder, &error)),
    };
    let mut files = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|error| FileError::read(folder, &error))?;
        let path = entry.path();
        // Links are followed: that is how a mounted volume puts new files in place of old ones.
        match std::fs::metadata(&path) {
            Ok(meta) => files.push((path, meta.len(), meta.modified().ok(), number(&meta))),
            // A link to nowhere, or to itself. Whoever reads it says so.
            Err(_) => files.push((path, 0, None, 0)),
        }
    }
    files.sort();
    Ok(files)
}
