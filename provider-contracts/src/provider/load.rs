//! Reading a providers file.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
#[cfg(feature = "schema")]
use serde_json::Value;

use super::Provider;
use crate::file::{Excerpt, FileError, read_text};
use crate::transport::Secrets;

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
        let place =
            |word: &str| Excerpt::of(&file, &text, text.find(word).map_or(0..0, |at| at..at + word.len()));
        if !is_plain_name(name) {
            return Err(FileError::invalid(
                place(name),
                format!("`{name}` is no name for a provider"),
                "use letters, digits, dashes, underscores and dots: attestations carry it in their file names",
            ));
        }
        if let Some((field, range)) = out_of_range(provider) {
            return Err(FileError::invalid(
                place(field),
                format!("provider `{name}`: {field} must be {range}"),
                "with any other number nothing would be decided",
            ));
        }
        let clean = Secrets::default().redact_url(&provider.base_url);
        if clean != provider.base_url {
            let at = text.find(provider.base_url.as_str()).unwrap_or(0);
            let mut excerpt = Excerpt::of(&file, &text, at..at + 1);
            excerpt.text = format!("base_url = \"{clean}\"");
            excerpt.column = 1;
            return Err(FileError::invalid(
                excerpt,
                format!("provider `{name}`: the URL carries a secret"),
                "URLs get into reports and attestations: name an environment variable in key_env, and write a header with {key}",
            ));
        }
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

/// Whether a name can be part of a file's name anywhere, and leads nowhere else.
#[must_use]
pub fn is_plain_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    !name.is_empty() && name.len() <= 100 && !name.starts_with('.') && name.chars().all(plain)
}

/// A number of the provider that means nothing, and what it may be.
fn out_of_range(provider: &Provider) -> Option<(&'static str, &'static str)> {
    let within =
        |value: Option<f64>, least: f64, most: f64| value.is_none_or(|value| (least..=most).contains(&value));
    let price = provider.price;
    let all = [
        ("token_factor", "between 1 and 1000", within(provider.token_factor, 1.0, 1000.0)),
        ("token_tolerance", "a share between 0 and 1", within(provider.token_tolerance, 0.0, 1.0)),
        ("price", "dollars for a million tokens", within(price.map(|price| price.input), 0.0, 1e6)),
        ("price", "dollars for a million tokens", within(price.map(|price| price.output), 0.0, 1e6)),
        (
            "window",
            "between 1 and 1000000000 tokens",
            provider.window.is_none_or(|window| (1..=1_000_000_000).contains(&window)),
        ),
    ];
    all.into_iter().find(|(.., fits)| !fits).map(|(field, range, _)| (field, range))
}

/// The JSON Schema of a providers file.
#[cfg(feature = "schema")]
#[must_use]
pub fn schema() -> Value {
    schemars::schema_for!(ProvidersFile).to_value()
}
