//! Walks a target file against the live service, step by step, and says what works, what is missing, and what that costs.
//!
//! It judges the mapping and no promise: what a service does with keys is told, and left to scenarios to judge.

mod check;
mod cost;
mod finding;
mod judge;
mod profiles;
mod walk;

pub use cost::{Cost, Coverage};
pub use finding::{Exchange, Finding, Standing};
pub use walk::{Diagnosis, Told, unstarted, walk};
