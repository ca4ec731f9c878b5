//! The exact request.

use serde_json::{Value, json};

use super::placeholder::{Values, fill, fill_text, get, merge, set};
use super::{Provider, Structured};
use crate::dialect::{Dialect, SystemPlace};
use crate::prompt::Message;

/// A request, before it is signed and sent.
#[derive(Clone, Debug, PartialEq)]
pub struct Outgoing {
    /// The whole URL.
    pub url: String,
    /// Headers, lower-case, in order. Secrets are still `{key}`.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Value,
}

/// A request can't be built: the provider's settings are incomplete.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BuildError {
    /// A placeholder has no value.
    #[error(
        "provider `{provider}`: the setting `{setting}` is missing; write settings = {{ {setting} = \"…\" }}"
    )]
    Setting {
        /// The provider.
        provider: String,
        /// What is missing.
        setting: String,
    },
    /// The dialect has no such parameter.
    #[error(
        "provider `{provider}`: the dialect `{dialect}` has no parameter `{parameter}`; it has {known}. Fields of the provider's own go under `body`"
    )]
    Parameter {
        /// The provider.
        provider: String,
        /// Its dialect.
        dialect: String,
        /// The parameter.
        parameter: String,
        /// Those there are.
        known: String,
    },
    /// The dialect can't ask for this structure.
    #[error(
        "provider `{provider}`: the dialect `{dialect}` has no {mode} mode; write structured = \"best\" or \"none\""
    )]
    Structured {
        /// The provider.
        provider: String,
        /// Its dialect.
        dialect: String,
        /// What was asked.
        mode: &'static str,
    },
}

/// What is asked of a provider.
#[derive(Clone, Copy, Debug)]
pub struct Ask<'a> {
    /// The contract's name.
    pub contract: &'a str,
    /// The output schema, if structure is wanted.
    pub schema: Option<&'a Value>,
    /// The conversation.
    pub messages: &'a [Message],
    /// The case's input, for dialects that carry it as it is.
    pub input: &'a Value,
    /// What the sender knows the work by, the same for every try at it.
    pub reference: &'a str,
    /// Whether the answer is to be streamed.
    pub stream: bool,
}

/// Builds the request.
///
/// # Errors
/// When the provider's settings are incomplete.
pub fn build(provider: &Provider, dialect: &Dialect, ask: &Ask<'_>) -> Result<Outgoing, BuildError> {
    let Ask { contract, schema, messages, input, reference, stream } = *ask;
    let missing =
        |setting: &str| BuildError::Setting { provider: provider.name.clone(), setting: setting.to_owned() };
    for setting in &dialect.request.needs {
        if !provider.settings.contains_key(setting) {
            return Err(missing(setting));
        }
    }
    if provider.base_url.is_empty() {
        return Err(missing("base_url"));
    }
    let schema_name = contract.replace(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '-'), "_");
    let mut values = Values::from([
        ("model", json!(provider.model)),
        ("contract", json!(contract)),
        // A job service may call the work by another name than the contract: a setting says so.
        ("kind", json!(contract)),
        ("reference", json!(reference)),
        ("input", input.clone()),
        ("schema_name", json!(schema_name)),
    ]);
    values.extend(provider.settings.iter().map(|(name, value)| (name.as_str(), json!(value))));
    if let Some(schema) = schema {
        values.insert("schema", schema.clone());
        values.insert("schema_text", json!(schema.to_string()));
    }
    conversation(dialect, messages, &mut values);

    let mut body = fill(&dialect.request.body, &values).unwrap_or_else(|| json!({}));
    if let Some(fragment) = fill(&dialect.identity.body, &values).filter(|fragment| !fragment.is_null()) {
        merge(&mut body, fragment);
    }
    if let Some(pattern) = structure(provider, dialect, schema.is_some())?
        && let Some(fragment) = fill(pattern, &values)
    {
        merge(&mut body, fragment);
    }
    for (name, value) in &provider.parameters {
        let place = dialect.parameters.get(name).ok_or_else(|| BuildError::Parameter {
            provider: provider.name.clone(),
            dialect: dialect.name.clone(),
            parameter: name.clone(),
            known: dialect.parameters.keys().cloned().collect::<Vec<_>>().join(", "),
        })?;
        set(&mut body, place, value.clone());
    }
    let mut path = &dialect.request.path;
    if let Some(shape) = dialect.stream.as_ref().filter(|_| stream) {
        path = shape.path.as_ref().unwrap_or(path);
        if !shape.ask.is_null() {
            merge(&mut body, shape.ask.clone());
        }
    }
    merge(&mut body, Value::Object(provider.body.clone()));
    let path = fill_text(path, &values).map_err(|setting| missing(&setting))?;
    let base = fill_text(&provider.base_url, &values).map_err(|setting| missing(&setting))?;
    let url = format!("{}{path}", if path.is_empty() { &base } else { base.trim_end_matches('/') });
    Ok(Outgoing { url, headers: headers(provider, dialect, &values), body })
}

/// The limit on the output in a body, where the dialect says where that is.
pub(crate) fn output_limit(dialect: &Dialect, body: &Value) -> Option<u64> {
    ["max_output_tokens", "max_tokens"]
        .iter()
        .find_map(|name| get(body, dialect.parameters.get(*name)?)?.as_u64())
}

fn headers(provider: &Provider, dialect: &Dialect, values: &Values<'_>) -> Vec<(String, String)> {
    let mut headers = vec![("content-type".to_owned(), "application/json".to_owned())];
    // A header whose only missing value is the key is sent only by providers that have one.
    let own = dialect
        .request
        .headers
        .iter()
        .filter(|(_, value)| provider.key_env.is_some() || !value.contains("{key}"))
        .chain(&dialect.identity.headers);
    for (name, value) in own.chain(&provider.headers) {
        let mut values = values.clone();
        values.insert("key", json!("{key}"));
        let value = fill_text(value, &values).unwrap_or_else(|_| value.clone());
        headers.retain(|(present, _)| *present != name.to_lowercase());
        headers.push((name.to_lowercase(), value));
    }
    headers
}

/// The pattern that asks for structured output, if any is wanted and there is one.
fn structure<'a>(
    provider: &Provider,
    dialect: &'a Dialect,
    has_schema: bool,
) -> Result<Option<&'a Value>, BuildError> {
    let shape = &dialect.structured;
    let none = |mode| BuildError::Structured {
        provider: provider.name.clone(),
        dialect: dialect.name.clone(),
        mode,
    };
    match provider.structured {
        Structured::None => Ok(None),
        _ if !has_schema => Ok(None),
        Structured::JsonSchema => shape.json_schema.as_ref().map(Some).ok_or_else(|| none("json_schema")),
        Structured::JsonObject => shape.json_object.as_ref().map(Some).ok_or_else(|| none("json_object")),
        Structured::Best => Ok(shape.json_schema.as_ref().or(shape.json_object.as_ref())),
    }
}

fn conversation(dialect: &Dialect, messages: &[Message], values: &mut Values<'_>) {
    let shape = &dialect.messages;
    let apart = shape.system == SystemPlace::Apart;
    let mut inline = Vec::new();
    let mut system = Vec::new();
    for message in messages {
        let role = shape.roles.get(&message.role).unwrap_or(&message.role);
        let parts = Values::from([("role", json!(role)), ("text", json!(message.content))]);
        if apart && message.role == "system" {
            let pattern = shape.system_message.as_ref().unwrap_or(&shape.message);
            system.extend(fill(pattern, &parts));
        } else {
            inline.extend(fill(&shape.message, &parts));
        }
    }
    values.insert("messages", Value::Array(inline));
    if !system.is_empty() {
        values.insert("system", Value::Array(system));
    }
}
