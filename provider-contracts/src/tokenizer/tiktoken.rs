//! The vocabularies of `OpenAI`'s models.

use tiktoken_rs::{CoreBPE, cl100k_base_singleton, o200k_base_singleton};

use super::{Encoder, TokenizerError};

pub(super) struct Tiktoken {
    name: &'static str,
    bpe: &'static CoreBPE,
}

/// The vocabulary called `name`, if it is one of these.
pub(super) fn named(name: &str) -> Option<Tiktoken> {
    match name {
        "o200k" | "o200k_base" => Some(Tiktoken { name: "o200k_base", bpe: o200k_base_singleton() }),
        "cl100k" | "cl100k_base" => Some(Tiktoken { name: "cl100k_base", bpe: cl100k_base_singleton() }),
        _ => None,
    }
}

impl Encoder for Tiktoken {
    /// Text from outside never becomes a control token at this provider: it encodes what it is sent as plain text.
    fn encode(&self, text: &str, _add_special: bool) -> Result<Vec<u32>, TokenizerError> {
        Ok(self.bpe.encode_ordinary(text))
    }

    fn is_control(&self, _id: u32) -> bool {
        false
    }

    fn id_of(&self, word: &str) -> Option<u32> {
        match self.bpe.encode_with_special_tokens(word).as_slice() {
            [one] => Some(*one),
            _ => None,
        }
    }

    fn identity(&self) -> &[u8] {
        self.name.as_bytes()
    }
}
