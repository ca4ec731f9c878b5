//! Integration tests of the harness, in one binary: linking takes longer than most of them.

#![expect(unreachable_pub, reason = "nobody uses a test binary, so every `pub` in it is for reading only")]

mod bench;
mod checkers;
mod cli;
mod counterexamples;
mod died;
mod doctor;
mod double;
mod explore;
mod fault;
mod files;
mod gate;
mod init;
mod laws;
mod leash;
mod long;
mod pages;
mod postgres;
mod rejudge;
mod story;
#[cfg(feature = "in-process")]
mod suite;
mod support;
mod tls;
