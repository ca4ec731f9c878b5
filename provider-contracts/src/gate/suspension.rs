//! Permissions that were taken away.

use std::path::Path;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::file::{FileError, read_text};

/// A permission that a drift check took away. It stays until somebody removes the file or attests again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suspension {
    /// The contract.
    pub contract: String,
    /// The fallback.
    pub provider: String,
    /// Since when.
    pub since: Timestamp,
    /// Why.
    pub reason: String,
}

impl Suspension {
    /// The name of its file.
    #[must_use]
    pub fn file_name(&self) -> String {
        format!("{}.{}.suspended.json", self.contract, self.provider)
    }

    /// Reads one.
    ///
    /// # Errors
    /// When it can't be read.
    pub fn load(path: &Path) -> Result<Self, FileError> {
        let text = read_text(path)?;
        serde_json::from_str(&text)
            .map_err(|error| FileError::json(&path.display().to_string(), &text, &error))
    }

    /// Writes it into `folder`, whole or not at all.
    ///
    /// # Errors
    /// When it can't be written.
    pub fn save(&self, folder: &Path) -> Result<(), FileError> {
        let text = serde_json::to_string_pretty(self).unwrap_or_default() + "\n";
        crate::file::write_whole(&folder.join(self.file_name()), text.as_bytes())
    }
}
