//! Carrying a check out.
//!
//! ```text
//! S0 static_check ─▶ S1 canaries ─▶ S2 samples ─┬─▶ Tally ─▶ CheckReport
//!                                               │
//!               Ledger (spend cap) · Pace (rate limits) · Transport
//! ```
mod canary;
mod check;
mod ledger;
mod outcomes;
mod pace;
mod plan;
mod probe;
mod progress;
mod report;
mod sample;
mod tally;
mod verdict;

pub use check::{CheckError, CheckOptions, check};
pub use ledger::{Exhausted, Held, Ledger, Spent};
pub use outcomes::CaseOutcomes;
pub use pace::Pace;
pub use plan::{Plan, plan};
pub use progress::{Progress, Silent};
pub use report::{CheckReport, Figures, ProviderFacts, SampleFailure};
pub use sample::{Caller, SampleResult};
pub use tally::Tally;
