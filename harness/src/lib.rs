//! Proves that a job API never turns one user intent into two jobs.
//!
//! One straight line, and no step knows the one after it:
//!
//! ```text
//! scenarios/*.toml ─ parse ─▶ Scenario ─┐
//!                                       ├─ plan ─▶ engine ─▶ events ─▶ laws ─▶ verdict ─▶ reports
//! onejob.toml ───── parse ─▶ Target  ───┘            │
//!                                  gates · provider double · faults · database
//! ```

// Before the others: they talk.
#[macro_use]
mod talk;

pub mod bench;
pub mod cli;
pub mod doctor;
pub mod double;
pub mod engine;
pub mod explore;
pub mod fail;
pub mod fault;
pub mod gate;
pub mod history;
pub mod law;
pub mod leash;
pub mod middlebox;
pub mod negate;
pub mod postgres;
pub mod prove;
pub mod scenario;
pub mod suite;
pub mod target;

pub use suite::Suite;

/// What a process that uses the engine must do once, before anything else: choose the cryptography that TLS uses.
pub fn prepare() {
    // A second call finds the choice made, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
}
