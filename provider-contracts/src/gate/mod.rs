//! Whether a job may move to the fallback on its own. Fails closed.
//!
//! ```text
//! attestations/*.json ─ verify ─▶ Attestations ─┐
//! contract, provider  ─ digests ─▶ JobFacts ────┼─ may_fail_over ─▶ Permit | Refusal
//! trigger, now, model ──────────────────────────┘
//! ```
//!
//! A service reads its files once, looks whether the folder changed ([`Attestations::is_stale`]), and asks before
//! every automatic failover. Asking costs microseconds and no I/O:
//!
//! ```no_run
//! use std::path::Path;
//!
//! use onejob_contracts::attest::TrustedKeys;
//! use onejob_contracts::dialect::{Catalogue, ErrorClass};
//! use onejob_contracts::gate::{Attestations, JobFacts, Question, Trigger, may_fail_over};
//! use onejob_contracts::{contract, provider};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let contract = contract::load(Path::new("contract.toml"))?;
//! let providers = provider::load_providers(Path::new("providers.toml"))?;
//! let (primary, fallback) = (&providers["primary"], &providers["fallback"]);
//! let dialect = Catalogue::embedded()?.get(&fallback.dialect)?;
//! let job = JobFacts::of(&contract, fallback, &dialect)?.with_primary(primary);
//! let keys = TrustedKeys::load(Path::new("key.pub.pem"))?;
//! let attestations = Attestations::load(Path::new("attestations"), &keys)?;
//!
//! let answer = may_fail_over(&Question {
//!     from: "primary",
//!     to: "fallback",
//!     job: &job,
//!     attestations: &attestations,
//!     now: jiff::Timestamp::now(),
//!     model_reported: None,
//!     trigger: Trigger::Failed(ErrorClass::Throttled),
//! });
//! match answer {
//!     Ok(permit) => println!("yes, until {}", permit.expires),
//!     Err(refusal) => println!("no ({}): {refusal}", refusal.code()),
//! }
//! # Ok(())
//! # }
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
