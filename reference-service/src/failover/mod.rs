//! Going on at another provider, only when that one has proven that it meets the contract.
//!
//! ```text
//! contract, providers ─ at start ─▶ JobFacts ─┐
//! attestations/, keys ─ looked at ────────────┼─ may_fail_over ─▶ Move ─▶ the transaction that ends the attempt
//! what the call came to, the time ────────────┘
//! ```
mod facts;
mod files;
mod gate;

pub use files::Failover;
pub(crate) use gate::{Asked, Gate};
