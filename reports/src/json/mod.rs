//! The report itself, for machines: one JSON document, or one JSON line a cell.

mod document;
mod ndjson;
mod schema;
mod torn;

pub use document::{ReadError, read, read_any, render};
pub use ndjson::{Head, Line, NdjsonWriter, read_lines, render_lines};
pub use schema::{line_schema, schema};
