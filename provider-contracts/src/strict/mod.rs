//! A strict pass over JSON text, before any schema sees it.
//!
//! Parsers differ on what they let through: the common ones keep the last of two equal keys, round large numbers and
//! ignore what comes after the value. A model's answer that depends on the parser of the day is a failure here.
mod scan;
mod strings;
mod trouble;

pub use scan::{Scan, scan};
pub use trouble::{Trouble, TroubleKind};
