//! A provider: which dialect, where, which model, with which parameters.
//!
//! ```text
//! providers.toml ─ load ─▶ Provider ─┬─ request(messages, schema) ─▶ Outgoing
//!                                    └─ S0 checks: settings, parameters, schema, roles, template, tokens
//! ```
mod captured;
mod load;
mod model;
mod parameters;
mod placeholder;
mod request;
mod roles;
mod static_check;
mod tokens;

pub use captured::dropped;
#[cfg(feature = "schema")]
pub use load::schema;
pub use load::{is_plain_name, load_providers};
pub use model::{Price, Provider, Structured};
pub use parameters::lint_parameters;
pub(crate) use request::output_limit;
pub use request::{Ask, BuildError, Outgoing, build};
pub use roles::lint_roles;
pub use static_check::{StaticReport, static_check};
pub(crate) use static_check::{load_encoder, load_template};
pub use tokens::{PromptFacts, lint_tokens, prompt_facts};
