//! The verdict model of onejob and its report formats.
//!
//! The harness judges a run and hands over a [`model::RunReport`]; everything that a person or a CI system reads is
//! rendered from that alone, so a stored report renders the same tomorrow.

pub mod annotations;
pub mod diff;
pub mod exit;
pub mod format;
pub mod headline;
pub mod html;
pub mod json;
pub mod junit;
pub mod markdown;
pub mod merge;
pub mod model;
pub mod redact;
pub mod sarif;
pub mod sheet;
pub mod tally;
pub mod tap;
pub mod term;
pub mod text;
pub mod timeline;

pub use format::{Format, render};
