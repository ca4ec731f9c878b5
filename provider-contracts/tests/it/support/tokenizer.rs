//! A small tokenizer of the byte-level kind, with the control tokens of the Llama 3 family at their real ids.

use serde_json::{Map, json};

/// `tokenizer.json`: one token for each byte, and a post-processor that adds BOS.
pub(crate) fn tiny_tokenizer() -> String {
    let mut vocabulary = Map::new();
    for byte in 0..=255_u8 {
        vocabulary.insert(byte_character(byte).to_string(), json!(byte));
    }
    let control = [
        ("<|begin_of_text|>", 128_000),
        ("<|start_header_id|>", 128_006),
        ("<|end_header_id|>", 128_007),
        ("<|eot_id|>", 128_009),
    ];
    let mut added = Vec::new();
    for (word, id) in control {
        vocabulary.insert(word.to_owned(), json!(id));
        added.push(json!({"id": id, "content": word, "single_word": false, "lstrip": false, "rstrip": false,
            "normalized": false, "special": true}));
    }
    json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": added, "normalizer": null,
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [{"SpecialToken": {"id": "<|begin_of_text|>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
            "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
            "special_tokens": {"<|begin_of_text|>": {"id": "<|begin_of_text|>", "ids": [128_000], "tokens": ["<|begin_of_text|>"]}}
        },
        "decoder": {"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true},
        "model": {"type": "BPE", "dropout": null, "unk_token": null, "continuing_subword_prefix": null,
            "end_of_word_suffix": null, "fuse_unk": false, "byte_fallback": false, "vocab": vocabulary, "merges": []}
    })
    .to_string()
}

/// The printable character that byte-level vocabularies write for a byte.
fn byte_character(byte: u8) -> char {
    let printable = |byte: u8| matches!(byte, b'!'..=b'~' | 0xA1..=0xAC | 0xAE..=0xFF);
    if printable(byte) {
        return char::from(byte);
    }
    let before = u32::try_from((0..byte).filter(|other| !printable(*other)).count()).unwrap();
    char::from_u32(256 + before).unwrap()
}
