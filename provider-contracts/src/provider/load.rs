//! Reading a providers file.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
#[cfg(feature = "schema")]
use serde_json::Value;

use super::Provider;
use crate::file::{Excerpt, FileError, read_text};

/// A providers file.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct ProvidersFile {
    /// The providers, by name.
    provider: BTreeMap<String, Provider>,
}

/// Reads all providers of a file, by name.
///
/// # Errors
/// With file, line, excerpt and a way out.
pub fn load_providers(path: &Path) -> Result<BTreeMap<String, Provider>, FileError> {
    let text = read_text(path)?;
    let file = path.display().to_string();
    let read: ProvidersFile = toml::from_str(&text).map_err(|error| FileError::toml(&file, &text, &error))?;
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut providers = read.provider;
    for (name, provider) in &mut providers {
        name.clone_into(&mut provider.name);
        folder.clone_into(&mut provider.folder);
        let secret = provider
            .headers
            .iter()
            .find(|(header, value)| crate::transport::is_secret_header(header) && !value.contains('{'));
        if let Some((header, value)) = secret {
            let at = text.find(value.as_str()).unwrap_or(0);
            // The excerpt would print the line, so it stops before the value.
            let mut excerpt = Excerpt::of(&file, &text, at..at + 1);
            excerpt.text = format!("{header} = …");
            excerpt.column = 1;
            return Err(FileError::invalid(
                excerpt,
                format!("provider `{name}`: the header `{header}` carries a secret"),
                "put the secret into an environment variable, name it in key_env, and write {key} here",
            ));
        }
    }
    Ok(providers)
}

/// The JSON Schema of a providers file.
#[cfg(feature = "schema")]
#[must_use]
pub fn schema() -> Value {
    schemars::schema_for!(ProvidersFile).to_value()
}
