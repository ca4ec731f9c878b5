//! What changed from one run to another.

mod compare;
mod text;

pub use compare::{Change, Diff, Slower, Thresholds, diff, doubts};
