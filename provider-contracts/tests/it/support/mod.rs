//! What tests share.
mod case_file;
mod double;
mod script;
mod tokenizer;
mod workspace;

pub(crate) use case_file::{CaseFile, Run, Scripted};
pub(crate) use double::{Act, Double};
pub(crate) use script::Script;
pub(crate) use tokenizer::tiny_tokenizer;
pub(crate) use workspace::{INVOICE, Workspace};
