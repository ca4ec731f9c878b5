//! Answers that don't fit the target file.

use crate::fail::{Code, Fault};

/// What is wrong with an answer. It says nothing about promises: the file or the service is not what it is said to be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Misfit {
    /// A success with a web page in it.
    #[error("`{request}` was answered {status} with a web page, not with JSON: {excerpt}")]
    Html {
        /// The operation's request, placeholders and all.
        request: String,
        /// HTTP status.
        status: u16,
        /// The first words.
        excerpt: String,
    },
    /// A success that is no JSON.
    #[error("`{request}` was answered {status} with something that is not JSON: {excerpt}")]
    NotJson {
        /// The operation's request.
        request: String,
        /// HTTP status.
        status: u16,
        /// The first words.
        excerpt: String,
    },
    /// A success in which a field isn't where the file says.
    #[error("`{place}` finds no {field} in the answer to `{request}` ({status}): {excerpt}")]
    Pointer {
        /// The operation's request.
        request: String,
        /// The field.
        field: String,
        /// Where the file says that it is.
        place: String,
        /// HTTP status.
        status: u16,
        /// A pointer that finds something and may have been meant.
        nearest: Option<String>,
        /// The first words.
        excerpt: String,
    },
    /// A state that the file has no word for.
    #[error("the answer to `{request}` says the state `{word}`, which [target.states] doesn't know")]
    State {
        /// The operation's request.
        request: String,
        /// The target's word.
        word: String,
    },
}

impl From<Misfit> for Fault {
    fn from(misfit: Misfit) -> Self {
        let message = misfit.to_string();
        let (code, help) = match misfit {
            Misfit::Html { .. } => (
                Code::AnswerHtml,
                "check that the base URL is the API's and not its front page or a sign-in, and that the path is right"
                    .to_owned(),
            ),
            Misfit::NotJson { .. } => (
                Code::AnswerNotJson,
                "check the path, and whether the service needs an `accept: application/json` header".to_owned(),
            ),
            Misfit::Pointer { field, nearest: Some(nearest), .. } => {
                (Code::AnswerPointer, format!("did you mean `{field} = \"{nearest}\"` in `reads`?"))
            }
            Misfit::Pointer { field, nearest: None, .. } => (
                Code::AnswerPointer,
                format!("correct `{field}` in the `reads` of this request; it is a JSON Pointer like `/id`"),
            ),
            Misfit::State { word, .. } => {
                (Code::AnswerState, format!("add \"{word}\" to the line of [target.states] that means the same"))
            }
        };
        Self::new(code, message, help)
    }
}
