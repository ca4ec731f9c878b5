//! The verdict model of onejob and its report formats.
//!
//! The harness judges a run and hands over a [`model::RunReport`]; everything that a person or a CI system reads is
//! rendered from that alone, so a stored report renders the same tomorrow.
//!
//! - [`render`] writes a report in any [`Format`]; [`term::Terminal`] listens while a run goes on.
//! - [`json::NdjsonWriter`] writes it cell by cell, so that a crash leaves a readable report.
//! - [`merge::merge`] makes one report of a run's shards, [`diff::diff`] tells what changed from one run to another.
//! - [`redact::Secrets`] takes secrets out of a report, a sheet or a step of a run before anything is written.
//! - [`bench::BenchReport`] is what a benchmark measured, [`explore::ExploreReport`] what an exploration found.
//! - [`sheet::Sheet`] is for what isn't a run: kill matrices, benchmarks, contracts.
//!
//! Whatever a report shows of what others wrote is made safe to print first: no escape sequence reaches a terminal, no markup a
//! page.

pub mod annotations;
pub mod bench;
pub mod diff;
pub mod exit;
pub mod explore;
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
