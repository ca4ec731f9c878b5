//! Whether a job may move to the fallback on its own. Fails closed.
//!
//! ```text
//! attestations/*.json ─ verify ─▶ Attestations ─┐
//! contract, provider  ─ digests ─▶ JobFacts ────┼─ may_fail_over ─▶ Permit | Refusal
//! trigger, now, model ──────────────────────────┘
//! ```
mod attestations;
mod facts;
mod may;
mod refusal;
mod suspension;

pub use attestations::{Attestation, Attestations, Rejected};
pub use facts::{JobFacts, PrimaryFacts};
pub use may::{Permit, Question, Trigger, may_fail_over};
pub use refusal::Refusal;
pub use suspension::Suspension;
