//! The job's own prompt: templates over `input`.

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, UndefinedBehavior, context};
use serde::{Deserialize, Serialize};

use crate::contract::{Case, Contract};

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// `system`, `user` or `assistant`.
    pub role: String,
    /// The text.
    pub content: String,
}

impl Message {
    /// A message.
    #[must_use]
    pub fn new(role: &str, content: impl Into<String>) -> Self {
        Self { role: role.to_owned(), content: content.into() }
    }
}

/// A prompt can't be rendered for a case.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "OJ7003: the prompt can't be rendered for case `{case}`: {problem}\nhelp: every variable that a template names must be in the case's input"
)]
pub struct PromptError {
    /// The case.
    pub case: String,
    /// What the template says.
    pub problem: String,
}

fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    // A misspelt variable must not become an empty prompt.
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_syntax(SyntaxConfig::builder().keep_trailing_newline(true).build().unwrap_or_default());
    environment
}

/// Whether `source` is a template at all.
///
/// # Errors
/// What the parser says.
pub fn check_template(source: &str) -> Result<(), String> {
    environment().template_from_str(source).map(|_| ()).map_err(|error| error.to_string())
}

/// The conversation of a case: the prompt's messages, then the case's own turns.
///
/// # Errors
/// When a template names what the input does not have.
pub fn messages(contract: &Contract, case: &Case) -> Result<Vec<Message>, PromptError> {
    let environment = environment();
    let turns = contract.spec.prompt.messages.iter().chain(&case.turns);
    turns
        .map(|turn| {
            let content = environment
                .render_str(&turn.content, context! { input => Serde(&case.input) })
                .map_err(|error| PromptError { case: case.name.clone(), problem: error.to_string() })?;
            Ok(Message::new(&turn.role, content))
        })
        .collect()
}
