//! What a job needs from a model, as a file.
//!
//! ```text
//! contracts/invoice.toml ─ load ─▶ Contract ─┬─ lint ─▶ Findings      (can it be decided at all?)
//!                                            ├─ digests               (what an attestation is bound to)
//!                                            └─ cases × samples ─▶ check
//! ```
mod budget;
mod canary;
mod case;
mod digests;
mod lint;
mod load;
mod model;
mod thresholds;

pub use budget::Budget;
pub use canary::CanarySpec;
pub use case::{Case, Expectation, Turn};
pub use digests::{Digests, sha256_hex};
pub use lint::lint;
#[cfg(feature = "schema")]
pub use load::file_schema;
pub use load::load;
pub use model::{Contract, ContractFile, ExtraKeys, Extract, OutputSpec, PromptSpec};
pub use thresholds::{Agree, Determinism, DeterminismMode, Latency, SampleSpec, Thresholds};
