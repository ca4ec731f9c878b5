//! The metadata of a GGUF model: its chat template and its vocabulary. The weights are never read.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

/// What a GGUF file says about prompts.
#[derive(Clone, Debug, Default)]
pub struct Gguf {
    /// `tokenizer.chat_template`.
    pub chat_template: Option<String>,
    /// `tokenizer.ggml.model`: `gpt2` for byte-level BPE, `llama` for `SentencePiece`.
    pub tokenizer_model: Option<String>,
    /// `tokenizer.ggml.pre`: how text is cut into words before it is encoded.
    pub pre_tokenizer: Option<String>,
    /// The vocabulary, by id.
    pub tokens: Vec<String>,
    /// The kind of each token; 3 is a control token, 4 user-defined.
    pub token_types: Vec<i64>,
    /// BPE merges, in order.
    pub merges: Vec<String>,
    /// `tokenizer.ggml.bos_token_id`.
    pub bos: Option<usize>,
    /// `tokenizer.ggml.eos_token_id`.
    pub eos: Option<usize>,
    /// Whether the server adds BOS on top of the rendered prompt.
    pub add_bos: Option<bool>,
    /// `general.architecture`.
    pub architecture: Option<String>,
    /// `general.name`.
    pub name: Option<String>,
    /// The window the model was trained for, in tokens.
    pub context_length: Option<u64>,
}

/// Not a GGUF file that can be read.
#[derive(Debug, thiserror::Error)]
pub enum GgufError {
    /// The file can't be read.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// It is something else, or damaged.
    #[error("not a GGUF file: {0}")]
    Format(&'static str),
}

/// No real file has more; beyond this a length is damage, not data.
const MAX_LENGTH: u64 = 1 << 26;

enum Item {
    Text(String),
    Integer(i64),
    Bool(bool),
    Texts(Vec<String>),
    Integers(Vec<i64>),
    Other,
}

impl Gguf {
    /// Reads the metadata of the file at `path`.
    ///
    /// # Errors
    /// When it is not a GGUF file.
    pub fn open(path: &Path) -> Result<Self, GgufError> {
        Self::read(&mut BufReader::new(File::open(path)?))
    }

    /// Reads the metadata at the start of `reader`.
    ///
    /// # Errors
    /// When it is not a GGUF file.
    pub fn read(reader: &mut impl Read) -> Result<Self, GgufError> {
        let mut magic = [0; 4];
        reader.read_exact(&mut magic)?;
        if &magic != b"GGUF" {
            return Err(GgufError::Format("it does not start with GGUF"));
        }
        if u32_of(reader)? < 2 {
            return Err(GgufError::Format("version 1 is too old"));
        }
        u64_of(reader)?;
        let pairs = u64_of(reader)?;
        let mut items = HashMap::new();
        for _ in 0..pairs {
            let key = text(reader)?;
            let kind = u32_of(reader)?;
            items.insert(key, item(reader, kind)?);
        }
        Ok(Self::from_items(items))
    }

    fn from_items(mut items: HashMap<String, Item>) -> Self {
        let mut gguf = Self::default();
        let mut text = |key: &str| match items.remove(key) {
            Some(Item::Text(text)) => Some(text),
            _ => None,
        };
        gguf.chat_template = text("tokenizer.chat_template");
        gguf.tokenizer_model = text("tokenizer.ggml.model");
        gguf.pre_tokenizer = text("tokenizer.ggml.pre");
        gguf.architecture = text("general.architecture");
        gguf.name = text("general.name");
        let integer = |key: &str| match items.get(key) {
            Some(Item::Integer(value)) => usize::try_from(*value).ok(),
            _ => None,
        };
        gguf.bos = integer("tokenizer.ggml.bos_token_id");
        gguf.eos = integer("tokenizer.ggml.eos_token_id");
        let window = format!("{}.context_length", gguf.architecture.as_deref().unwrap_or_default());
        gguf.context_length = integer(&window).map(|value| value as u64);
        if let Some(Item::Bool(yes)) = items.get("tokenizer.ggml.add_bos_token") {
            gguf.add_bos = Some(*yes);
        }
        if let Some(Item::Texts(tokens)) = items.remove("tokenizer.ggml.tokens") {
            gguf.tokens = tokens;
        }
        if let Some(Item::Texts(merges)) = items.remove("tokenizer.ggml.merges") {
            gguf.merges = merges;
        }
        if let Some(Item::Integers(types)) = items.remove("tokenizer.ggml.token_type") {
            gguf.token_types = types;
        }
        gguf
    }

    /// The text of the beginning-of-sequence token.
    #[must_use]
    pub fn bos_text(&self) -> Option<&str> {
        self.tokens.get(self.bos?).map(String::as_str)
    }

    /// The text of the end-of-sequence token.
    #[must_use]
    pub fn eos_text(&self) -> Option<&str> {
        self.tokens.get(self.eos?).map(String::as_str)
    }

    /// Whether `word` is one control token of the vocabulary.
    #[must_use]
    pub fn is_control(&self, word: &str) -> bool {
        let special = |at: usize| self.token_types.get(at).is_none_or(|kind| matches!(kind, 3 | 4));
        self.tokens.iter().position(|token| token == word).is_some_and(special)
    }
}

fn u32_of(reader: &mut impl Read) -> Result<u32, GgufError> {
    let mut bytes = [0; 4];
    reader.read_exact(&mut bytes)?;
    Ok(u32::from_le_bytes(bytes))
}

fn u64_of(reader: &mut impl Read) -> Result<u64, GgufError> {
    let mut bytes = [0; 8];
    reader.read_exact(&mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}

fn length(reader: &mut impl Read) -> Result<usize, GgufError> {
    let length = u64_of(reader)?;
    if length > MAX_LENGTH {
        return Err(GgufError::Format("a length is out of all proportion"));
    }
    usize::try_from(length).map_err(|_| GgufError::Format("a length is out of all proportion"))
}

fn text(reader: &mut impl Read) -> Result<String, GgufError> {
    let mut bytes = vec![0; length(reader)?];
    reader.read_exact(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// A number of 1, 2, 4 or 8 bytes, little-endian, sign extended when `signed`.
fn integer(reader: &mut impl Read, size: usize, signed: bool) -> Result<i64, GgufError> {
    let mut bytes = [0; 8];
    reader.read_exact(&mut bytes[..size])?;
    let negative = signed && bytes[size - 1] & 0x80 != 0;
    if negative {
        bytes[size..].fill(0xff);
    }
    Ok(i64::from_le_bytes(bytes))
}

fn item(reader: &mut impl Read, kind: u32) -> Result<Item, GgufError> {
    Ok(match kind {
        0 => Item::Integer(integer(reader, 1, false)?),
        1 => Item::Integer(integer(reader, 1, true)?),
        2 => Item::Integer(integer(reader, 2, false)?),
        3 => Item::Integer(integer(reader, 2, true)?),
        4 => Item::Integer(integer(reader, 4, false)?),
        5 => Item::Integer(integer(reader, 4, true)?),
        10 | 11 => Item::Integer(integer(reader, 8, kind == 11)?),
        6 => {
            u32_of(reader)?;
            Item::Other
        }
        12 => {
            u64_of(reader)?;
            Item::Other
        }
        7 => Item::Bool(integer(reader, 1, false)? != 0),
        8 => Item::Text(text(reader)?),
        9 => array(reader)?,
        _ => return Err(GgufError::Format("a value is of a kind that nobody knows")),
    })
}

fn array(reader: &mut impl Read) -> Result<Item, GgufError> {
    let kind = u32_of(reader)?;
    let count = length(reader)?;
    if kind == 9 {
        return Err(GgufError::Format("lists of lists are not used"));
    }
    let mut texts = Vec::new();
    let mut integers = Vec::new();
    for _ in 0..count {
        match item(reader, kind)? {
            Item::Text(text) => texts.push(text),
            Item::Integer(value) => integers.push(value),
            _ => {}
        }
    }
    Ok(if kind == 8 { Item::Texts(texts) } else { Item::Integers(integers) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text_bytes(text: &str) -> Vec<u8> {
        [&(text.len() as u64).to_le_bytes()[..], text.as_bytes()].concat()
    }

    fn pair(key: &str, kind: u32, value: &[u8]) -> Vec<u8> {
        [&text_bytes(key)[..], &kind.to_le_bytes(), value].concat()
    }

    fn list(kind: u32, items: &[Vec<u8>]) -> Vec<u8> {
        [&kind.to_le_bytes()[..], &(items.len() as u64).to_le_bytes(), &items.concat()].concat()
    }

    fn file(pairs: &[Vec<u8>]) -> Vec<u8> {
        let head =
            [&b"GGUF"[..], &3_u32.to_le_bytes(), &0_u64.to_le_bytes(), &(pairs.len() as u64).to_le_bytes()]
                .concat();
        [head, pairs.concat()].concat()
    }

    fn sample() -> Vec<u8> {
        let tokens = ["<s>", "a", "<|im_end|>"].map(text_bytes);
        let types = [3_i32, 1, 3].map(|kind| kind.to_le_bytes().to_vec());
        file(&[
            pair("general.architecture", 8, &text_bytes("llama")),
            pair("general.quality", 6, &1.5_f32.to_le_bytes()),
            pair("llama.context_length", 4, &2048_u32.to_le_bytes()),
            pair("tokenizer.chat_template", 8, &text_bytes("{{ bos_token }}")),
            pair("tokenizer.ggml.tokens", 9, &list(8, &tokens)),
            pair("tokenizer.ggml.token_type", 9, &list(5, &types)),
            pair("tokenizer.ggml.bos_token_id", 4, &0_u32.to_le_bytes()),
            pair("tokenizer.ggml.add_bos_token", 7, &[1]),
        ])
    }

    #[test]
    fn the_metadata_is_read() {
        let gguf = Gguf::read(&mut sample().as_slice()).unwrap();
        assert_eq!(gguf.chat_template.as_deref(), Some("{{ bos_token }}"));
        assert_eq!(gguf.context_length, Some(2048));
        assert_eq!(gguf.bos_text(), Some("<s>"));
        assert_eq!((gguf.add_bos, gguf.eos_text()), (Some(true), None));
        assert!(gguf.is_control("<|im_end|>") && !gguf.is_control("a") && !gguf.is_control("<|im_start|>"));
    }

    #[test]
    fn a_damaged_file_is_an_error_wherever_it_ends() {
        let whole = sample();
        for length in 0..whole.len() {
            assert!(Gguf::read(&mut &whole[..length]).is_err(), "at byte {length}");
        }
        assert!(Gguf::read(&mut &b"GGML\x03\0\0\0"[..]).is_err());
    }

    #[test]
    fn a_length_out_of_all_proportion_allocates_nothing() {
        let huge = file(&[pair("k", 8, &u64::MAX.to_le_bytes())]);
        assert!(matches!(Gguf::read(&mut huge.as_slice()), Err(GgufError::Format(_))));
    }
}
