//! What commands other than `run` write as pages.

mod contract;
mod outputs;
mod prove;

pub(super) use contract::{check, comparison};
pub(super) use outputs::SheetOutputs;
pub(super) use prove::kill_matrix;
