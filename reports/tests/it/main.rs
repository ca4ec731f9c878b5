//! The report formats, each on the same runs.

mod ci_text;
mod diffing;
mod fixtures;
mod formats;
mod html;
mod json;
mod junit;
mod merging;
mod redaction;
mod sarif;
mod sheet_fixtures;
mod sheets;
mod terminal;
