//! One attempt of a job at a provider under its contract, by the very code that the contract was proven with.
//!
//! ```text
//! input ─ prompt ─▶ S0 for this input ─ build ─▶ Outgoing ─ send, once ─▶ Exchange ─ dialect, Judge ─▶ Outcome
//!                        │
//!                        └─▶ withheld: a call that can't go well is not made
//! ```
//!
//! A check and a service that share the request, the reading of the answer and the judgement can't disagree about them;
//! were they written twice, the proof would be about another request.
mod asker;
mod outcome;
mod reading;

pub use asker::{AskError, Asker, Work};
pub use outcome::{Failure, Outcome};
pub(crate) use reading::{Read, Reader};
