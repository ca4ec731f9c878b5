//! Workflow commands that GitHub shows beside the line of the scenario file.

mod commands;

pub use commands::render;
