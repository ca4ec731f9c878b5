//! The suite proves itself: every defect must be killed by a scenario, and every scenario must kill a defect.

mod matrix;
mod order;
mod run;

pub use matrix::{Culprit, KillMatrix, Trial};
pub use run::{Effort, Tell, prove};
