//! Keeping secrets out of everything that is written.

mod encodings;
mod names;
mod report;
mod secrets;
mod sheet;

pub use secrets::{REDACTED, Secrets};
