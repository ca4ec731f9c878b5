//! The suite for tests written in Rust: `onejob::Suite` in a `#[tokio::test]`.

mod failure;
mod hosted;
#[cfg(feature = "in-process")]
mod router;
mod run;

pub use failure::{Failure, Report};
pub use hosted::{Given, Hosted, Running};
pub use run::Suite;
