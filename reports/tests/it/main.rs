//! The report formats, each on the same runs.

mod bench;
mod bench_fixtures;
mod ci_text;
mod diffing;
mod explore;
mod explore_fixtures;
mod fixtures;
mod formats;
mod html;
mod json;
mod junit;
mod merging;
mod planting;
mod redaction;
mod sarif;
mod sheet_fixtures;
mod sheets;
mod terminal;
mod torn;
