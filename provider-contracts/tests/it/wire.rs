//! What each provider puts on the wire, as data, and the real sockets that carry it.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

/// The wire facts of a dialect.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Wire {
    /// Take what is missing from this dialect.
    pub(crate) like: Option<String>,
    /// A finished answer; `"CONTENT"` is the text, `"CONTENT_JSON"` the text as JSON.
    pub(crate) success: Option<String>,
    pub(crate) truncated: Option<String>,
    pub(crate) refusal: Option<String>,
    pub(crate) blocked: Option<String>,
    pub(crate) in_band: Option<String>,
    pub(crate) tool_call: Option<String>,
    /// Tool calls end with the ordinary finish value.
    pub(crate) tool_finish_is_stop: Option<String>,
    /// A stream with the text in two pieces; for a binary framing, its events as lines.
    pub(crate) stream: Option<String>,
    /// Where a broken stream breaks.
    pub(crate) break_before: Option<String>,
    pub(crate) error: Option<WireError>,
    pub(crate) rate_limit: Option<WireError>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WireError {
    pub(crate) status: u16,
    #[serde(default)]
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: String,
    pub(crate) class: String,
    #[serde(default)]
    pub(crate) wait_ms: u64,
}

impl Wire {
    pub(crate) fn load(dialect: &str) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/it/wire/{dialect}.toml"));
        let text =
            std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let mut wire: Self =
            toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        if let Some(like) = wire.like.take() {
            let base = Self::load(&like);
            wire.success = wire.success.or(base.success);
            wire.truncated = wire.truncated.or(base.truncated);
            wire.refusal = wire.refusal.or(base.refusal);
            wire.tool_call = wire.tool_call.or(base.tool_call);
            wire.stream = wire.stream.or(base.stream);
            wire.error = wire.error.or(base.error);
            wire.rate_limit = wire.rate_limit.or(base.rate_limit);
            wire.break_before = wire.break_before.or(base.break_before);
        }
        wire
    }

    /// A finished answer with this text.
    pub(crate) fn success(&self, content: &str) -> String {
        put(self.success.as_ref().unwrap(), content)
    }

    pub(crate) fn tool_call(&self, content: &str) -> Option<String> {
        Some(put(self.tool_call.as_ref()?, content))
    }

    /// A stream with this text in two pieces.
    pub(crate) fn streamed(&self, content: &str) -> String {
        let mut middle = content.len() / 2;
        while !content.is_char_boundary(middle) {
            middle += 1;
        }
        let (a, b) = content.split_at(middle);
        let stream = self.stream.as_ref().unwrap();
        stream.replace("\"CONTENT_A\"", &quoted(a)).replace("\"CONTENT_B\"", &quoted(b))
    }

    /// The same stream, broken off.
    pub(crate) fn broken(&self, content: &str) -> String {
        let whole = self.streamed(content);
        let marker = self.break_before.as_ref().unwrap().replace("\"CONTENT_B\"", "");
        let marker = marker.split("\"text\"").next().unwrap();
        let at = whole
            .rfind(marker.trim_end_matches(['\n']))
            .unwrap_or_else(|| panic!("{marker} is not in {whole}"));
        whole[..at].to_owned()
    }
}

fn quoted(text: &str) -> String {
    Value::String(text.to_owned()).to_string()
}

fn put(pattern: &str, content: &str) -> String {
    pattern
        .replace("\"CONTENT_JSON\"", content)
        .replace("CONTENT_JSON_RAW", content)
        .replace("\"CONTENT\"", &quoted(content))
}
