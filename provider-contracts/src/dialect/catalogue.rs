//! All dialects that are known: those that come with the crate, and a folder of the user's.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use serde::Deserialize;

use super::{Dialect, ErrorRule};
use crate::file::{Excerpt, FileError, read_text};

macro_rules! embedded {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("../../dialects/", $name, ".toml")))),*]
    };
}

const EMBEDDED: [(&str, &str); 16] = embedded![
    "anthropic",
    "azure-openai",
    "bedrock-converse",
    "cohere",
    "deepseek",
    "gemini",
    "groq",
    "llama-cpp",
    "mistral",
    "ollama",
    "ollama-openai",
    "openai-chat",
    "openai-responses",
    "openrouter",
    "plain",
    "vllm",
];

const COMMON_ERRORS: &str = include_str!("../../dialects/common/errors.toml");

/// The dialects by name.
#[derive(Clone, Debug)]
pub struct Catalogue {
    dialects: BTreeMap<String, Arc<Dialect>>,
    common: Vec<ErrorRule>,
}

/// A dialect can't be had.
#[derive(Debug, thiserror::Error)]
pub enum DialectError {
    /// A file is not a dialect.
    #[error(transparent)]
    File(#[from] FileError),
    /// No file has this name.
    #[error(
        "no dialect is called `{name}`; known are: {known}. A file of your own goes into the folder given with --dialects"
    )]
    Unknown {
        /// The name that was asked for.
        name: String,
        /// The names there are.
        known: String,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CommonErrors {
    rule: Vec<ErrorRule>,
}

impl Catalogue {
    /// The dialects that come with the crate.
    ///
    /// # Errors
    /// Never for a released crate: a test parses every file.
    pub fn embedded() -> Result<Self, DialectError> {
        // Hundreds of selectors and patterns: compiled once for the process.
        static PARSED: LazyLock<Result<Catalogue, FileError>> = LazyLock::new(Catalogue::parse);
        PARSED.clone().map_err(DialectError::File)
    }

    fn parse() -> Result<Self, FileError> {
        let common: CommonErrors = toml::from_str(COMMON_ERRORS)
            .map_err(|error| FileError::toml("dialects/common/errors.toml", COMMON_ERRORS, &error))?;
        let mut catalogue = Self { dialects: BTreeMap::new(), common: common.rule };
        for (name, text) in EMBEDDED {
            catalogue.add(text, &format!("dialects/{name}.toml"))?;
        }
        Ok(catalogue)
    }

    /// The same, and every `*.toml` in `folder`, which wins over an embedded one of the same name.
    ///
    /// # Errors
    /// When the folder can't be read or a file is not a dialect.
    pub fn with_folder(folder: &Path) -> Result<Self, DialectError> {
        let mut catalogue = Self::embedded()?;
        let unreadable = |error| FileError::read(folder, &error);
        let mut paths = Vec::new();
        for entry in std::fs::read_dir(folder).map_err(unreadable)? {
            let path = entry.map_err(unreadable)?.path();
            if path.extension().is_some_and(|extension| extension == "toml") {
                paths.push(path);
            }
        }
        paths.sort();
        for path in paths {
            let text = read_text(&path)?;
            catalogue.add(&text, &path.display().to_string())?;
        }
        Ok(catalogue)
    }

    fn add(&mut self, text: &str, file: &str) -> Result<(), FileError> {
        let mut dialect: Dialect =
            toml::from_str(text).map_err(|error| FileError::toml(file, text, &error))?;
        if dialect.name.is_empty() {
            let excerpt = Excerpt::of(file, text, 0..0);
            return Err(FileError::invalid(excerpt, "a dialect needs a name", "write name = \"…\""));
        }
        dialect.error.rule.extend(self.common.iter().cloned());
        self.dialects.insert(dialect.name.clone(), Arc::new(dialect));
        Ok(())
    }

    /// The dialect called `name`.
    ///
    /// # Errors
    /// [`DialectError::Unknown`], naming those there are.
    pub fn get(&self, name: &str) -> Result<Arc<Dialect>, DialectError> {
        self.dialects.get(name).cloned().ok_or_else(|| DialectError::Unknown {
            name: name.to_owned(),
            known: self.dialects.keys().cloned().collect::<Vec<_>>().join(", "),
        })
    }

    /// All of them, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Dialect> {
        self.dialects.values().map(|dialect| &**dialect)
    }
}
