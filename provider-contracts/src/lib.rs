//! Contract checks that a fallback model must pass before failover.
//!
//! A fallback that shares the code path, the HTTP client and the JSON schema of the primary does not behave like it.
//! Before a job may move to it on its own, it must have proven the same operational contract on real inputs.
//!
//! ```text
//! contract ─ lint ─▶ S0 static ─▶ S1 canary ─▶ S2 samples ─▶ S3 parity ─▶ verdict ─ sign ─▶ attestation ─▶ gate
//!                       ▲             ▲             ▲            ▲
//! dialects ─────────────┴─────────────┴─ providers ─┴─ cassettes ┘
//! ```
pub mod answer;
pub mod attempt;
pub mod attest;
#[cfg(feature = "cli")]
pub mod cli;
pub mod contract;
pub mod dialect;
pub mod drift;
pub mod file;
pub mod gate;
pub mod parity;
pub mod prompt;
pub mod provider;
pub mod rule;
pub mod run;
pub mod schema;
pub mod statistics;
pub mod stream;
pub mod strict;
pub mod tokenizer;
pub mod transport;
pub mod verdict;
