//! One interface to all vocabularies.

use std::path::Path;
use std::sync::Arc;

/// A provider's vocabulary.
pub trait Encoder: Send + Sync {
    /// The ids of `text`. Control tokens in it are read as such; with `add_special`, what the tokenizer itself puts
    /// around a text is added.
    ///
    /// # Errors
    /// When the vocabulary can't express the text.
    fn encode(&self, text: &str, add_special: bool) -> Result<Vec<u32>, TokenizerError>;

    /// Whether `id` is a control token.
    fn is_control(&self, id: u32) -> bool;

    /// The id of `word` if it is exactly one token.
    fn id_of(&self, word: &str) -> Option<u32>;

    /// The bytes that the vocabulary's digest is over.
    fn identity(&self) -> &[u8];

    /// The number of tokens of `text`, without any that the tokenizer adds.
    ///
    /// # Errors
    /// When the vocabulary can't express the text.
    fn count(&self, text: &str) -> Result<u64, TokenizerError> {
        Ok(self.encode(text, false)?.len() as u64)
    }
}

/// A tokenizer can't be used.
#[derive(Debug, thiserror::Error)]
pub enum TokenizerError {
    /// The name means nothing, and there is no such file.
    #[error(
        "OJ7004: no tokenizer `{0}`: write o200k, cl100k, or a file (tokenizer.json, tekken.json, a GGUF model)"
    )]
    Unknown(String),
    /// The file is something else.
    #[error("OJ7005: the tokenizer {file} can't be used: {reason}")]
    Unusable {
        /// The file.
        file: String,
        /// What is wrong.
        reason: String,
    },
    /// This build has no vocabularies.
    #[error("OJ7006: this build can't count tokens: build with the feature `tokenizers`")]
    NotBuilt,
}

/// A rough count, for when no vocabulary is known: a token has about four bytes of English, fewer of anything else.
#[must_use]
pub fn estimate(text: &str) -> u64 {
    (text.len() as u64).div_ceil(4)
}

/// Loads the tokenizer called `name`; a file is looked for from `folder`.
///
/// # Errors
/// When there is none, or it can't be used.
#[cfg(feature = "tokenizers")]
pub fn load(name: &str, folder: &Path) -> Result<Arc<dyn Encoder>, TokenizerError> {
    use super::{hugging_face, tekken, tiktoken, vocabulary};

    if let Some(encoder) = tiktoken::named(name) {
        return Ok(Arc::new(encoder));
    }
    let path = folder.join(name);
    if !path.is_file() {
        return Err(TokenizerError::Unknown(name.to_owned()));
    }
    if path.extension().is_some_and(|extension| extension == "gguf") {
        return vocabulary::load(&path);
    }
    let shown = path.display().to_string();
    let unusable = |reason: String| TokenizerError::Unusable { file: shown.clone(), reason };
    let bytes = std::fs::read(&path).map_err(|error| unusable(error.to_string()))?;
    if tekken::looks_like(&bytes) {
        return Ok(Arc::new(tekken::read(&bytes).map_err(unusable)?));
    }
    Ok(Arc::new(hugging_face::read(bytes).map_err(unusable)?))
}

/// Always an error: this build has no vocabularies.
///
/// # Errors
/// [`TokenizerError::NotBuilt`].
#[cfg(not(feature = "tokenizers"))]
pub fn load(_name: &str, _folder: &Path) -> Result<Arc<dyn Encoder>, TokenizerError> {
    Err(TokenizerError::NotBuilt)
}
