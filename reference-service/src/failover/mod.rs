//! Going on at another provider, only when that one has proven that it meets the contract.
//!
//! ```text
//! what is known       ─ at start ─▶ JobFacts ─┐
//! attestations/, keys ─ looked at ────────────┼─ may_fail_over ─▶ Move ─▶ the transaction that ends the attempt
//! what the call came to, the time ────────────┘
//! ```
//!
//! An attempt that came to its provider that way is asked about once more before it is sent, and so is each retry there:
//! the proof may have expired, been taken away, or be about a contract that is no longer the job's.
//!
//! ```text
//! Moved (from whom, on what) ─ may_fail_over ─▶ sent | turned away, back to whom it came from
//! ```
mod cause;
mod facts;
mod files;
mod gate;

pub(crate) use cause::{may_pass, read_cause, spell_cause};
pub use files::Failover;
pub(crate) use gate::{Asked, Gate};
