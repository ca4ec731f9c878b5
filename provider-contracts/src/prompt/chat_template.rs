//! A model's own chat template, rendered as its makers' library does.

use std::path::Path;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, Error, ErrorKind, Value, context};
use minijinja_contrib::pycompat::unknown_method_callback;

use super::{Gguf, Message};
use crate::file::{FileError, read_text};

/// A chat template with the tokens that it may name.
#[derive(Clone, Debug)]
pub struct ChatTemplate {
    source: String,
    bos: String,
    eos: String,
}

/// The template refused or broke.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// It called `raise_exception`.
    #[error("the template says: {0}")]
    Raised(String),
    /// It is not a template, or uses what does not exist.
    #[error("the template is broken: {0}")]
    Broken(String),
}

impl ChatTemplate {
    /// A template and its tokens.
    #[must_use]
    pub fn new(source: impl Into<String>, bos: impl Into<String>, eos: impl Into<String>) -> Self {
        Self { source: source.into(), bos: bos.into(), eos: eos.into() }
    }

    /// Reads a template: a `tokenizer_config.json`, a GGUF model, or the template itself in any other file.
    /// `None` when the file is fine and has no template.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn load(path: &Path) -> Result<Option<Self>, FileError> {
        let shown = path.display().to_string();
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("gguf") => {
                let gguf = Gguf::open(path)
                    .map_err(|error| FileError::Io { file: shown, reason: error.to_string() })?;
                Ok(gguf.chat_template.clone().map(|source| {
                    Self::new(
                        source,
                        gguf.bos_text().unwrap_or_default(),
                        gguf.eos_text().unwrap_or_default(),
                    )
                }))
            }
            Some("json") => {
                let text = read_text(path)?;
                let config =
                    serde_json::from_str(&text).map_err(|error| FileError::json(&shown, &text, &error))?;
                Ok(Self::from_config(&config))
            }
            _ => Ok(Some(Self::new(read_text(path)?, "<s>", "</s>"))),
        }
    }

    /// The template of a `tokenizer_config.json`; of several named ones the one called `default`.
    #[must_use]
    pub fn from_config(config: &serde_json::Value) -> Option<Self> {
        let template = config.get("chat_template")?;
        let source = match template.as_str() {
            Some(source) => source.to_owned(),
            None => template
                .as_array()?
                .iter()
                .find(|entry| entry["name"] == "default")
                .and_then(|entry| entry["template"].as_str())?
                .to_owned(),
        };
        let token = |name: &str| {
            let token = &config[name];
            token.as_str().or_else(|| token["content"].as_str()).unwrap_or_default().to_owned()
        };
        Some(Self::new(source, token("bos_token"), token("eos_token")))
    }

    /// As it was written; what the template's digest is over.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The beginning-of-sequence token's text; empty if there is none.
    #[must_use]
    pub fn bos(&self) -> &str {
        &self.bos
    }

    /// Renders a conversation with the generation prompt.
    ///
    /// # Errors
    /// When the template refuses the roles or is broken.
    pub fn render(&self, messages: &[Message]) -> Result<String, TemplateError> {
        let mut environment = Environment::new();
        environment.set_syntax(whitespace());
        environment.set_unknown_method_callback(unknown_method_callback);
        environment.add_function("raise_exception", |message: String| -> Result<Value, Error> {
            Err(Error::new(ErrorKind::InvalidOperation, format!("{RAISED}{message}")))
        });
        // Templates print today's date; a fixed one keeps renderings comparable between runs.
        environment.add_function("strftime_now", |format: String| {
            jiff::civil::date(2026, 1, 1).strftime(&format).to_string()
        });
        environment
            .render_str(
                &self.source,
                context! {
                    messages => Serde(messages),
                    add_generation_prompt => true,
                    bos_token => self.bos.as_str(),
                    eos_token => self.eos.as_str(),
                    tools => Value::from(()),
                },
            )
            .map_err(|error| classify(&error))
    }
}

/// Chat templates are written for these two, whatever their library's default is.
fn whitespace() -> SyntaxConfig {
    SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build().unwrap_or_default()
}

/// Marks what the template said itself, so that it can be told from an error of the engine.
const RAISED: &str = "template raised: ";

fn classify(error: &Error) -> TemplateError {
    let detail = error.detail().unwrap_or_default();
    match detail.split_once(RAISED) {
        Some((_, message)) => TemplateError::Raised(message.to_owned()),
        None => TemplateError::Broken(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STRICT: &str = "{{ bos_token }}{% for m in messages %}{% if (m['role'] == 'user') != (loop.index0 % 2 == 0) %}\
        {{ raise_exception('roles must alternate') }}{% endif %}[{{ m.role }}]{{ m.content.strip() }}{% endfor %}";

    #[test]
    fn a_template_that_raises_is_told_from_a_broken_one() {
        let template = ChatTemplate::new(STRICT, "<s>", "</s>");
        let twice = [Message::new("user", "a"), Message::new("user", "b")];
        assert_eq!(template.render(&twice), Err(TemplateError::Raised("roles must alternate".into())));
        let broken = ChatTemplate::new("{{ nothing.at.all }}", "", "");
        assert!(matches!(broken.render(&twice), Err(TemplateError::Broken(_))));
    }

    #[test]
    fn python_methods_work() {
        let rendered = ChatTemplate::new(STRICT, "<s>", "</s>").render(&[Message::new("user", "  hi ")]);
        assert_eq!(rendered.unwrap(), "<s>[user]hi");
    }

    #[test]
    fn a_config_with_several_templates_gives_the_default_one() {
        let config = serde_json::json!({
            "bos_token": {"content": "<b>"}, "eos_token": "</b>",
            "chat_template": [{"name": "tool_use", "template": "t"}, {"name": "default", "template": "{{ bos_token }}d"}]
        });
        let template = ChatTemplate::from_config(&config).unwrap();
        assert_eq!(template.render(&[]).unwrap(), "<b>d");
    }
}
