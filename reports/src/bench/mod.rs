//! What a benchmark found: [`BenchReport`], in the words that every format uses, and the formats.
//!
//! [`render`] writes it as a page with plots, as Markdown, as CSV or as JSON; [`text`] as a terminal shows it; [`read`] reads the
//! JSON back, to compare a later run with.

mod csv;
mod document;
mod model;
mod points;
mod sheet;
mod text;

pub use document::{BenchFormat, ReadBenchError, UnknownBenchFormat, read, render, schema};
pub use model::*;
pub use sheet::sheet;
pub use text::text;
