//! What commands other than `run` write as pages.

mod contract;
mod negate;
mod outputs;
mod prove;

pub(super) use contract::{check, comparison};
pub(super) use negate::negations;
pub(super) use outputs::SheetOutputs;
pub(super) use prove::kill_matrix;
