//! Whether a cell's scenario makes sense: pure rules over the model, each finding with its path in the file.

mod expectations;
mod finding;
mod invariants;
mod names;
mod proof;
mod references;
mod rules;
mod sweep;
mod verbs;

pub(super) use finding::check;
