//! Integration tests of the harness, in one binary: linking takes longer than most of them.

mod laws;
mod story;
