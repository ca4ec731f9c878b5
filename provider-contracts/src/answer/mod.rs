//! An answer, whatever wire format it came in, and the verdict on it.
//!
//! ```text
//! body   ─ dialect ─▶ Answer ─ finish, refusal, tool ─▶ text ─ strict JSON ─▶ value ─ schema ─▶ expectations ─ rules ─▶ Verdict
//! stream ─ frames ──▶
//! ```
mod canonical;
mod content;
mod error;
mod finish;
mod read;
mod score;
mod tokens;

pub use canonical::{Answer, StreamEnd, Usage};
pub use content::{Content, read_content};
pub use error::{ProviderError, read_error};
pub use read::read_answer;
pub(crate) use read::{first_text as first_text_of, joined as joined_of, usage as usage_of};
pub use score::{Judge, Judgement, Meta};
pub(crate) use score::{equal, selected};
pub use tokens::TokenExpectation;
pub(crate) use tokens::float as float_of;
