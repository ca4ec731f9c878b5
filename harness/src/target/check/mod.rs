//! Whether a target file makes sense: pure rules over the model, each finding with its path in the file.

mod finding;
mod owners;
mod placeholders;
mod process;
mod provider;
mod requests;
mod states;

pub(super) use finding::check;
