//! The vocabulary inside of a GGUF model.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use tokenizers::models::bpe::BPE;
use tokenizers::pre_tokenizers::PreTokenizerWrapper;
use tokenizers::pre_tokenizers::byte_level::ByteLevel;
use tokenizers::pre_tokenizers::digits::Digits;
use tokenizers::pre_tokenizers::sequence::Sequence;
use tokenizers::pre_tokenizers::split::{Split, SplitPattern};
use tokenizers::{AddedToken, SplitDelimiterBehavior, Tokenizer};

use super::hugging_face::HuggingFace;
use super::{Encoder, TokenizerError};
use crate::prompt::Gguf;

/// How text is cut into words, for the ways that are known; a wrong guess would count wrongly without a word.
fn words(name: Option<&str>) -> Option<Vec<PreTokenizerWrapper>> {
    let split = |pattern: &str| {
        let split =
            Split::new(SplitPattern::Regex(pattern.to_owned()), SplitDelimiterBehavior::Isolated, false);
        split.ok().map(PreTokenizerWrapper::from)
    };
    match name? {
        "gpt-2" | "default" => Some(vec![ByteLevel::new(false, false, true).into()]),
        "smollm" | "starcoder" | "refact" => {
            Some(vec![Digits::new(true).into(), ByteLevel::new(false, false, true).into()])
        }
        "llama-bpe" => {
            Some(vec![split(&by_letters("\\p{N}{1,3}"))?, ByteLevel::new(false, false, false).into()])
        }
        "qwen2" => Some(vec![split(&by_letters("\\p{N}"))?, ByteLevel::new(false, false, false).into()]),
        _ => None,
    }
}

/// Contractions, words with one leading sign, numbers, signs, line ends, spaces.
fn by_letters(number: &str) -> String {
    let contractions = "(?i:'s|'t|'re|'ve|'m|'ll|'d)";
    let words = "[^\\r\\n\\p{L}\\p{N}]?\\p{L}+";
    let signs = " ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*";
    format!("{contractions}|{words}|{number}|{signs}|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+")
}

/// Reads the vocabulary. Byte-level BPE can be encoded with; of a `SentencePiece` vocabulary only single tokens can be
/// looked up, and counting is left to the server.
pub(super) fn load(path: &Path) -> Result<Arc<dyn Encoder>, TokenizerError> {
    let unusable = |reason: String| TokenizerError::Unusable { file: path.display().to_string(), reason };
    let gguf = Gguf::open(path).map_err(|error| unusable(error.to_string()))?;
    if gguf.tokens.is_empty() {
        return Err(unusable("the model has no vocabulary".to_owned()));
    }
    let identity = identity(&gguf);
    let words = match gguf.tokenizer_model.as_deref() {
        Some("gpt2") => words(gguf.pre_tokenizer.as_deref()),
        _ => None,
    };
    let Some(words) = words else { return Ok(Arc::new(LookUp { gguf, identity })) };
    let (tokenizer, control) = byte_level(&gguf, words).map_err(unusable)?;
    Ok(Arc::new(HuggingFace::made(tokenizer, control, identity)))
}

fn identity(gguf: &Gguf) -> Vec<u8> {
    let mut bytes = gguf.tokens.join("\n").into_bytes();
    bytes.extend(gguf.merges.join("\n").into_bytes());
    bytes
}

fn byte_level(gguf: &Gguf, words: Vec<PreTokenizerWrapper>) -> Result<(Tokenizer, BTreeSet<u32>), String> {
    let id = |at: usize| u32::try_from(at).map_err(|error| error.to_string());
    let mut vocabulary = Vec::with_capacity(gguf.tokens.len());
    let mut control = BTreeSet::new();
    let mut added = Vec::new();
    for (at, token) in gguf.tokens.iter().enumerate() {
        vocabulary.push((token.clone(), id(at)?));
        if matches!(gguf.token_types.get(at), Some(3)) {
            control.insert(id(at)?);
            added.push(AddedToken::from(token.clone(), true));
        }
    }
    let merges: Vec<(String, String)> = gguf
        .merges
        .iter()
        .filter_map(|merge| merge.split_once(' '))
        .map(|(a, b)| (a.to_owned(), b.to_owned()))
        .collect();
    let model = BPE::builder()
        .vocab_and_merges(vocabulary.into_iter().collect::<Vocabulary>(), merges)
        .build()
        .map_err(|error| error.to_string())?;
    let mut tokenizer = Tokenizer::new(model);
    tokenizer.with_pre_tokenizer(Some(Sequence::new(words)));
    tokenizer.add_special_tokens(&added);
    Ok((tokenizer, control))
}

type Vocabulary = tokenizers::models::bpe::Vocab;

struct LookUp {
    gguf: Gguf,
    identity: Vec<u8>,
}

impl Encoder for LookUp {
    fn encode(&self, _text: &str, _add_special: bool) -> Result<Vec<u32>, TokenizerError> {
        Err(TokenizerError::Unusable {
            file: self.gguf.name.clone().unwrap_or_default(),
            reason: "only the server can encode with this vocabulary; give its ids as rendered_tokens"
                .to_owned(),
        })
    }

    fn is_control(&self, id: u32) -> bool {
        let kind = usize::try_from(id).ok().and_then(|at| self.gguf.token_types.get(at));
        matches!(kind, Some(3))
    }

    fn id_of(&self, word: &str) -> Option<u32> {
        let at = self.gguf.tokens.iter().position(|token| token == word)?;
        u32::try_from(at).ok()
    }

    fn identity(&self) -> &[u8] {
        &self.identity
    }
}
