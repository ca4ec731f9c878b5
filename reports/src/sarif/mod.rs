//! SARIF 2.1.0, for code scanning.

mod log;
mod result;

pub use log::{log, render};
