//! From a case to the exact text that the model sees.
//!
//! ```text
//! Case ─ messages ─▶ [Message] ─┬─ dialect ─▶ request
//!                               └─ chat template ─▶ text ─ tokenizer ─▶ ids ─▶ BOS, control tokens, budget
//! ```
mod chat_template;
mod gguf;
mod injected;
mod message;

pub use chat_template::{ChatTemplate, TemplateError};
pub use gguf::{Gguf, GgufError};
pub use injected::{SystemEffect, system_effect};
pub use message::{Message, PromptError, check_template, messages};
