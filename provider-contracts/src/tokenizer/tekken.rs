//! Mistral's `tekken.json`.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use tiktoken_rs::CoreBPE;

use super::{Encoder, TokenizerError};

#[derive(Deserialize)]
struct File {
    config: Config,
    vocab: Vec<Entry>,
    #[serde(default)]
    special_tokens: Option<Vec<Special>>,
}

#[derive(Deserialize)]
struct Config {
    pattern: String,
    default_vocab_size: usize,
    default_num_special_tokens: usize,
}

#[derive(Deserialize)]
struct Entry {
    rank: u32,
    token_bytes: String,
}

#[derive(Deserialize)]
struct Special {
    rank: u32,
    token_str: String,
}

/// The control tokens of early files, which do not list them, by rank.
const UNLISTED: [&str; 20] = [
    "<unk>",
    "<s>",
    "</s>",
    "[INST]",
    "[/INST]",
    "[AVAILABLE_TOOLS]",
    "[/AVAILABLE_TOOLS]",
    "[TOOL_RESULTS]",
    "[/TOOL_RESULTS]",
    "[TOOL_CALLS]",
    "[IMG]",
    "<pad>",
    "[IMG_BREAK]",
    "[IMG_END]",
    "[PREFIX]",
    "[MIDDLE]",
    "[SUFFIX]",
    "[SYSTEM_PROMPT]",
    "[/SYSTEM_PROMPT]",
    "[TOOL_CONTENT]",
];

pub(super) struct Tekken {
    bpe: CoreBPE,
    special: Vec<(String, u32)>,
    shift: u32,
    identity: Vec<u8>,
}

/// Whether a file is one of these.
pub(super) fn looks_like(bytes: &[u8]) -> bool {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(4096)]).into_owned();
    head.contains("default_num_special_tokens") && head.contains("\"pattern\"")
}

/// Reads the file. The ranks of the vocabulary come after the control tokens in the ids of the model.
pub(super) fn read(bytes: &[u8]) -> Result<Tekken, String> {
    let file: File = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    let shift = u32::try_from(file.config.default_num_special_tokens).map_err(|error| error.to_string())?;
    let used = file.config.default_vocab_size.saturating_sub(file.config.default_num_special_tokens);
    let mut ranks = Vec::with_capacity(used);
    let mut seen = BTreeSet::new();
    for entry in file.vocab.iter().take(used) {
        if !seen.insert(entry.rank) {
            return Err(format!("two tokens have the rank {}", entry.rank));
        }
        let token = STANDARD.decode(&entry.token_bytes).map_err(|error| error.to_string())?;
        ranks.push((token, entry.rank));
    }
    let special: Vec<(String, u32)> = match file.special_tokens {
        Some(listed) => listed.into_iter().map(|token| (token.token_str, token.rank)).collect(),
        None => UNLISTED.iter().zip(0..).map(|(word, rank)| ((*word).to_owned(), rank)).collect(),
    };
    let bpe = CoreBPE::new(ranks.into_iter().collect(), std::iter::empty().collect(), &file.config.pattern)
        .map_err(|error| error.to_string())?;
    Ok(Tekken { bpe, special, shift, identity: bytes.to_vec() })
}

impl Encoder for Tekken {
    fn encode(&self, text: &str, add_special: bool) -> Result<Vec<u32>, TokenizerError> {
        let mut ids: Vec<u32> = Vec::new();
        if add_special && let Some(bos) = self.id_of("<s>") {
            ids.push(bos);
        }
        // Control tokens are cut out first: the vocabulary proper does not know them.
        let mut rest = text;
        while !rest.is_empty() {
            let next = self
                .special
                .iter()
                .filter_map(|(word, id)| Some((rest.find(word.as_str())?, word.len(), *id)))
                .min();
            let (plain, control, after) = match next {
                Some((at, length, id)) => (&rest[..at], Some(id), &rest[at + length..]),
                None => (rest, None, ""),
            };
            ids.extend(self.bpe.encode_ordinary(plain).into_iter().map(|rank| rank + self.shift));
            ids.extend(control);
            rest = after;
        }
        Ok(ids)
    }

    fn is_control(&self, id: u32) -> bool {
        id < self.shift
    }

    fn id_of(&self, word: &str) -> Option<u32> {
        if let Some((_, id)) = self.special.iter().find(|(text, _)| text == word) {
            return Some(*id);
        }
        match self.bpe.encode_ordinary(word).as_slice() {
            [one] => Some(one + self.shift),
            _ => None,
        }
    }

    fn identity(&self) -> &[u8] {
        &self.identity
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Every byte and one merge, with 20 control tokens in front.
    fn file() -> Vec<u8> {
        let mut vocab: Vec<_> =
            (0..=255_u8).map(|byte| json!({"rank": byte, "token_bytes": STANDARD.encode([byte])})).collect();
        vocab.push(json!({"rank": 256, "token_bytes": STANDARD.encode("hi")}));
        let config =
            json!({"pattern": "\\w+|\\W", "default_vocab_size": 277, "default_num_special_tokens": 20});
        json!({ "config": config, "vocab": vocab }).to_string().into_bytes()
    }

    #[test]
    fn ranks_come_after_the_control_tokens() {
        assert!(looks_like(&file()));
        let tekken = read(&file()).unwrap();
        assert_eq!(tekken.encode("<s>[INST]hi![/INST]", false).unwrap(), [1, 3, 276, 53, 4]);
        assert_eq!(tekken.encode("hi", true).unwrap(), [1, 276]);
        assert!(tekken.is_control(3) && !tekken.is_control(276));
        assert_eq!(
            (tekken.id_of("[INST]"), tekken.id_of("hi"), tekken.id_of("hih")),
            (Some(3), Some(276), None)
        );
    }

    #[test]
    fn a_rank_that_is_there_twice_is_refused() {
        let twice = String::from_utf8(file()).unwrap().replace("\"rank\":256", "\"rank\":255");
        assert!(read(twice.as_bytes()).err().unwrap().contains("255"));
    }
}
