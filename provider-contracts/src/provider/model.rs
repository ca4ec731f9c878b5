//! One entry of a providers file.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;
use serde_json::{Map, Value};

/// One provider, as its file says. Paths are relative to that file.
#[expect(clippy::struct_excessive_bools, reason = "independent switches of a file")]
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Provider {
    /// The key in the file; filled in after reading.
    #[serde(skip)]
    pub name: String,
    /// The file's folder; filled in after reading.
    #[serde(skip)]
    pub folder: PathBuf,
    /// The dialect's name.
    pub dialect: String,
    /// Up to where the dialect's path begins.
    pub base_url: String,
    /// The model as the provider calls it.
    #[serde(default)]
    pub model: String,
    /// The environment variable that holds the key. The key itself never stands in a file.
    pub key_env: Option<String>,
    /// Further placeholders of the dialect, such as `region`.
    #[serde(default)]
    pub settings: BTreeMap<String, String>,
    /// Headers of one's own.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// Parameters by the contract's names, such as `temperature` and `max_output_tokens`.
    #[serde(default)]
    pub parameters: BTreeMap<String, Value>,
    /// Fields of the body as the provider calls them, merged last.
    #[serde(default)]
    pub body: Map<String, Value>,
    /// How structured output is asked for.
    #[serde(default)]
    pub structured: Structured,
    /// Whether answers are streamed.
    #[serde(default)]
    pub stream: bool,
    /// Whether connections are kept for the next call: see the transport.
    #[serde(default)]
    pub keep_connections: bool,
    /// Tokens that prompt and output share.
    pub window: Option<u64>,
    /// `o200k`, `cl100k`, or a file: `tokenizer.json`, `tekken.json`, a GGUF model.
    pub tokenizer: Option<String>,
    /// The chat template: `tokenizer_config.json`, a GGUF model, or the template itself.
    pub chat_template: Option<PathBuf>,
    /// The server's own rendering of the first case, to compare with.
    pub rendered_prompt: Option<PathBuf>,
    /// The server's own token ids of the first case, as a JSON list.
    pub rendered_tokens: Option<PathBuf>,
    /// Whether the server's tokenizer adds special tokens on top of the rendered prompt.
    #[serde(default)]
    pub adds_special_tokens: bool,
    /// Text from users reaches a tokenizer that parses control tokens.
    #[serde(default)]
    pub self_hosted: bool,
    /// The template's own system prompt is known and wanted.
    #[serde(default)]
    pub allow_injected_system: bool,
    /// The schema as an adapter in between rewrites it, if it does.
    pub sent_schema: Option<PathBuf>,
    /// The request as the far side of a gateway received it.
    pub captured_request: Option<PathBuf>,
    /// By which factor the provider may count more prompt tokens than was counted here.
    pub token_factor: Option<f64>,
    /// By which share it may count fewer.
    pub token_tolerance: Option<f64>,
    /// Behind a gateway: who must have answered.
    pub served_by: Option<String>,
    /// What tokens cost.
    pub price: Option<Price>,
}

/// How structured output is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Structured {
    /// With the schema, where the dialect has a way; otherwise as `JsonObject`; otherwise not at all.
    #[default]
    Best,
    /// With the schema.
    JsonSchema,
    /// Any JSON object.
    JsonObject,
    /// Not at all.
    None,
}

/// US dollars for a million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Of the prompt.
    pub input: f64,
    /// Of the output.
    pub output: f64,
}

impl Price {
    /// What a call cost.
    #[must_use]
    pub fn of(&self, usage: &crate::answer::Usage) -> f64 {
        let million = |count: Option<u64>| crate::answer::float_of(count.unwrap_or(0)) / 1e6;
        million(usage.input) * self.input + million(usage.output) * self.output
    }
}

impl Provider {
    /// The output limit, under whichever of its names it is set.
    #[must_use]
    pub fn max_output(&self) -> Option<u64> {
        ["max_output_tokens", "max_tokens"].iter().find_map(|name| self.parameters.get(*name)?.as_u64())
    }

    /// A path of the file, from its folder.
    #[must_use]
    pub fn file(&self, path: &std::path::Path) -> PathBuf {
        self.folder.join(path)
    }
}
