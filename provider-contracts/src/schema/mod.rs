//! The output schema: checking against it, what a provider makes of it, and whether a rewritten one means the same.
mod checker;
mod endless;
mod language;
mod subset;

pub use checker::{Checker, Violation};
pub use language::{LanguageChange, compare};
pub use subset::{SubsetReport, lint_subset};
