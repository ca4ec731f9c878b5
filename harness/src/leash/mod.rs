//! Nothing that a run starts may outlive it: not after Ctrl-C, not after a panic, not after `kill -9`.
//!
//! A signal handler can't promise that, so a second process does: the *watchdog*, this same program started again
//! with a hidden subcommand. It is told over its standard input what is held, and cleans up when that input ends,
//! however it ended.

mod engine;
mod error;
mod handle;
mod held;
mod processes;
mod watch;

#[cfg(feature = "testcontainers")]
pub(crate) use engine::{Engine, EngineError};
pub use error::LeashError;
pub use handle::{Leash, SUBCOMMAND};
pub use held::Held;
pub(crate) use processes::{end_group, group_states};
pub use watch::watch;
