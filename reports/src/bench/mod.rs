//! What a benchmark found: [`BenchReport`], in the words that every format uses.

mod model;

pub use model::*;
