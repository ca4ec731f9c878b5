//! Rules over an output, in CEL (the Common Expression Language).
mod cel;
mod convert;

pub use cel::{Expression, Rule, RuleOutcome};
