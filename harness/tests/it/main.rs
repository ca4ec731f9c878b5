//! Integration tests of the harness, in one binary: linking takes longer than most of them.

mod cli;
mod double;
mod fault;
mod files;
mod gate;
mod laws;
mod leash;
mod postgres;
mod story;
mod support;
