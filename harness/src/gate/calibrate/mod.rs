//! Measures the gates on the machine at hand: how close together requests arrive, and how often a planted bug is hit.

mod figures;
mod receiver;
mod run;
mod scratch;
mod server;

pub use figures::{Calibration, HitRate, Means, Spread};
pub use run::{CalibrateError, Effort, calibrate};
