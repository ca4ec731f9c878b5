//! One wire format.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{
    AnswerShape, ErrorShape, FinishClass, IdentityShape, MessageShape, Rejected, RequestShape, RetryShape,
    SchemaSubset, StreamShape, StructuredShape,
};

/// One wire format, as its file says.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dialect {
    /// The name that providers refer to, such as `openai-chat`.
    pub name: String,
    /// The name for people.
    pub title: String,
    /// Where a request goes and what it is made of.
    pub request: RequestShape,
    /// How a call carries its sender's name for the work.
    #[serde(default)]
    pub identity: IdentityShape,
    /// How a conversation is written.
    pub messages: MessageShape,
    /// How structured output is asked for.
    #[serde(default)]
    pub structured: StructuredShape,
    /// The contract's parameter names and where each goes in the body, as a dotted path.
    #[serde(default)]
    pub parameters: BTreeMap<String, String>,
    /// Fields that must not be in the body, with the reason.
    #[serde(default)]
    pub reject: Vec<Rejected>,
    /// Where the parts of an answer are.
    pub answer: AnswerShape,
    /// What each finish value means. A value that is not here fails the sample.
    pub finish: BTreeMap<String, FinishClass>,
    /// How errors look and what they mean.
    pub error: ErrorShape,
    /// How the provider says when to come back.
    #[serde(default)]
    pub retry: RetryShape,
    /// How it streams, if it does.
    pub stream: Option<StreamShape>,
    /// Which part of JSON Schema it enforces.
    #[serde(default)]
    pub schema: SchemaSubset,
    /// How an attempt with an unknown outcome can be looked up.
    pub probe: Probe,
    /// Rules for some models only.
    #[serde(default)]
    pub model: Vec<ModelRule>,
}

impl Dialect {
    /// The rules that apply to `model`, in the file's order.
    pub fn rules_for<'a>(&'a self, model: &'a str) -> impl Iterator<Item = &'a ModelRule> {
        self.model.iter().filter(move |rule| rule.applies_to(model))
    }
}

/// How an unknown outcome can be resolved.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Probe {
    /// The means, if there is any.
    pub kind: ProbeKind,
    /// The condition or the call, for people.
    #[serde(default)]
    pub how: String,
}

/// The means to look an attempt up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProbeKind {
    /// There is none: the job stays unknown until somebody decides.
    None,
    /// By a key that the caller chose.
    ByCallersKey,
    /// By the id that the provider gave, which must have arrived.
    ByProvidersId,
}

impl ProbeKind {
    /// As the file writes it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::ByCallersKey => "by-callers-key",
            Self::ByProvidersId => "by-providers-id",
        }
    }
}

/// What is different for some models of a provider.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelRule {
    /// A prefix of the model's name; `*` for all.
    pub prefix: String,
    /// Parameters that these models reject, and why.
    #[serde(default)]
    pub rejects: BTreeMap<String, String>,
    /// Parameters that these models take and ignore, and why.
    #[serde(default)]
    pub ignores: BTreeMap<String, String>,
    /// Tokens that prompt and output share, where it is published.
    pub window: Option<u64>,
    /// The vocabulary, where this crate ships it: `o200k` or `cl100k`.
    pub tokenizer: Option<String>,
}

impl ModelRule {
    /// Whether the rule speaks of `model`.
    #[must_use]
    pub fn applies_to(&self, model: &str) -> bool {
        self.prefix == "*" || model.rsplit('/').next().unwrap_or(model).starts_with(&self.prefix)
    }
}
