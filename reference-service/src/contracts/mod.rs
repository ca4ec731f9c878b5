//! What jobs need from a model, by their kind, and who stands behind each provider.
//!
//! ```text
//! contracts, providers, dialects ─ at start ─▶ Known ─┬─ JobFacts ─▶ whether a job may go on elsewhere
//!                                                     └─ Askers   ─▶ calls in each provider's own wire format
//! ```
mod askers;
mod files;
mod known;

pub(crate) use askers::Askers;
pub use files::Contracts;
pub(crate) use known::{Known, PLAIN, Speaker};
