//! What was sent and is not recorded yet.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use super::CallId;
use crate::file::FileError;

/// Calls that went out, noted before they do: an interruption that takes the process along leaves behind which calls may
/// have been carried out, and paid for. A file beside the cassette, gone as soon as every call in it is recorded.
#[derive(Debug)]
pub(super) struct Journal {
    path: PathBuf,
    file: Option<File>,
    out: BTreeSet<CallId>,
}

impl Journal {
    /// The journal beside the cassette at `cassette`, with the calls that an earlier run left in it.
    ///
    /// # Errors
    /// When it can't be read.
    pub(super) fn beside(cassette: &Path) -> Result<(Self, BTreeSet<CallId>), FileError> {
        let mut name = cassette.file_name().unwrap_or_default().to_owned();
        name.push(".sent");
        let path = cassette.with_file_name(name);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(FileError::read(&path, &error)),
        };
        // A last line that the interruption cut off is of a call that did not go out: the note comes first.
        let left = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        Ok((Self { path, file: None, out: BTreeSet::new() }, left))
    }

    /// Notes a call that goes out next.
    pub(super) fn sends(&mut self, id: &CallId) -> std::io::Result<()> {
        let mut line = serde_json::to_string(id)?;
        line.push('\n');
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(OpenOptions::new().create(true).append(true).open(&self.path)?),
        };
        file.write_all(line.as_bytes())?;
        self.out.insert(id.clone());
        Ok(())
    }

    /// A call is recorded.
    pub(super) fn recorded(&mut self, id: &CallId) {
        self.out.remove(id);
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        // Calls that were given up on the way are still in it, and the next run has to know.
        if self.out.is_empty() {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}
