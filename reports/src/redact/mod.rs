//! Keeping secrets out of everything that is written.

mod bench;
mod encodings;
mod explore;
mod names;
mod report;
mod secrets;
mod sheet;

pub use secrets::{REDACTED, Secrets};
