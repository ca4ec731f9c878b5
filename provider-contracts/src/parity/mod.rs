//! Stage S3: whether the fallback answers what the primary answers.
mod compare;
mod field;

pub use compare::{Comparison, compare};
pub use field::{FieldParity, RuleParity};
