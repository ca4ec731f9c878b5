//! What a person sees while a run goes on and when it is over.

mod cell;
mod failure;
mod listener;
mod options;
mod paint;
mod progress;
mod summary;

pub use listener::{Terminal, render};
pub use options::{ColorChoice, Environment, TermOptions, UnknownColorChoice, Volume};
