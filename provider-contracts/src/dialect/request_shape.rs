//! What goes out.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

/// Where a request goes and what it is made of.
///
/// In `path`, `headers` and `body`, `{name}` stands for a setting of the provider or a part of the call. A string
/// that is nothing but a placeholder is replaced by the JSON value itself; if there is no value, its key goes away.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RequestShape {
    /// Appended to the provider's base URL.
    pub path: String,
    /// Sent with every request.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// The body without structured output and parameters.
    pub body: Value,
    /// Settings that a provider of this dialect must give, such as `region`.
    #[serde(default)]
    pub needs: Vec<String>,
    /// A signature over the finished request.
    pub sign: Option<Signature>,
}

/// How a call carries the name that its sender knows the work by: `{reference}`, which is a job's id in a job service and
/// the sample's name in a check.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct IdentityShape {
    /// Headers. One that a provider does not know does no harm, and a gateway before it may.
    pub headers: BTreeMap<String, String>,
    /// Merged into the body, where the format has a field for it.
    pub body: Value,
}

/// A signature over the finished request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Signature {
    /// AWS Signature Version 4, with the service name `bedrock`.
    AwsSigv4,
}

/// How a conversation is written.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MessageShape {
    /// One message; `{role}` and `{text}` are replaced.
    pub message: Value,
    /// The provider's names for `user` and `assistant`, where they differ.
    #[serde(default)]
    pub roles: BTreeMap<String, String>,
    /// Where system messages may be.
    #[serde(default)]
    pub system: SystemPlace,
    /// One system message when it lives apart from the others; `{text}` is replaced.
    pub system_message: Option<Value>,
}

/// Where a provider takes system messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SystemPlace {
    /// Anywhere in the conversation.
    #[default]
    Anywhere,
    /// In the conversation, but only as its first message.
    First,
    /// Outside of the conversation, as `{system}` in the body.
    Apart,
}

/// How structured output is asked for. Each is merged into the body.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StructuredShape {
    /// With a schema: `{schema}`, `{schema_text}` (the schema as a JSON string) and `{schema_name}` are replaced.
    pub json_schema: Option<Value>,
    /// Any JSON object.
    pub json_object: Option<Value>,
    /// A word that the prompt must contain for `json_object` to be accepted.
    pub prompt_must_contain: Option<String>,
}

/// A field that must not be in a body of this dialect.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rejected {
    /// Dotted path of the field.
    pub path: String,
    /// `misplaced_parameter` when it is taken and ignored, `param_not_allowed` when it is an error.
    pub code: String,
    /// What to write instead.
    pub because: String,
}
