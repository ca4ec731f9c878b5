//! The suite proves itself: every defect must be killed by a scenario, and every scenario must kill a defect.

mod honest;
mod matrix;
mod negate;
mod order;
mod run;
mod table;
mod trial;

pub use matrix::{Culprit, KillMatrix, MATRIX_VERSION, Trial};
pub use negate::{Told, negate};
pub use run::{Effort, News, Pace, Tell, prove};
pub use table::table;
