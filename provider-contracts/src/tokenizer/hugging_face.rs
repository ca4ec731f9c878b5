//! `tokenizer.json`.

use std::collections::BTreeSet;

use tokenizers::Tokenizer;

use super::{Encoder, TokenizerError};

pub(super) struct HuggingFace {
    tokenizer: Tokenizer,
    control: BTreeSet<u32>,
    identity: Vec<u8>,
}

/// Reads a `tokenizer.json`.
pub(super) fn read(bytes: Vec<u8>) -> Result<HuggingFace, String> {
    let tokenizer = Tokenizer::from_bytes(&bytes).map_err(|error| error.to_string())?;
    let added = tokenizer.get_added_tokens_decoder();
    let control = added.into_iter().filter(|(_, token)| token.special).map(|(id, _)| id).collect();
    Ok(HuggingFace { tokenizer, control, identity: bytes })
}

impl HuggingFace {
    /// A tokenizer made here, with its control tokens.
    pub(super) fn made(tokenizer: Tokenizer, control: BTreeSet<u32>, identity: Vec<u8>) -> Self {
        Self { tokenizer, control, identity }
    }
}

impl Encoder for HuggingFace {
    fn encode(&self, text: &str, add_special: bool) -> Result<Vec<u32>, TokenizerError> {
        let encoding = self.tokenizer.encode_fast(text, add_special);
        encoding.map(|encoding| encoding.get_ids().to_vec()).map_err(|error| TokenizerError::Unusable {
            file: "tokenizer.json".to_owned(),
            reason: error.to_string(),
        })
    }

    fn is_control(&self, id: u32) -> bool {
        self.control.contains(&id)
    }

    fn id_of(&self, word: &str) -> Option<u32> {
        self.tokenizer.token_to_id(word)
    }

    fn identity(&self) -> &[u8] {
        &self.identity
    }
}
