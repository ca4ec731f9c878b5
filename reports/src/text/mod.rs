//! The words, figures and lengths that every report shares.

pub mod human;
mod naming;
pub mod plain;
mod words;

pub use naming::cell_name;
pub use words::{lane_word, mark_symbol, mark_word, outcome_word, verdict_word};
