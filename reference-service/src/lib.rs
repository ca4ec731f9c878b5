//! A correct job service on Postgres: one job per user intent.
//!
//! One user intent is one **job**, named by the client's idempotency key. Every try at carrying it out is an
//! **attempt**. Exactly one attempt may write the job's result, and it does so by a compare-and-swap on the version
//! that it read when it started:
//!
//! ```sql
//! UPDATE jobs SET result = $3, completed_by = $4, state = 'succeeded', version = version + 1
//!  WHERE id = $1 AND version = $2 AND completed_by IS NULL
//! ```
//!
//! The crate is a library. [`migrate`] prepares a database, [`serve`] runs the service until it is told to stop:
//!
//! ```no_run
//! # async fn run() -> Result<(), onejob_reference::Error> {
//! use onejob_reference::{Config, Principal, Provider, Token, serve};
//!
//! let config = Config {
//!     database_url: "postgres://localhost/jobs".to_owned(),
//!     tokens: vec![Token::new("alice", "a-secret", Principal::User)],
//!     providers: vec![Provider::new("mail", "http://127.0.0.1:9000/")],
//!     ..Config::default()
//! };
//! let (ready, address) = tokio::sync::oneshot::channel();
//! tokio::spawn(async move { println!("ready on {:?}", address.await) });
//! serve(config, ready, std::future::pending()).await
//! # }
//! ```
//!
//! The rules (state machine, fingerprint, judging answers) are pure functions in [`domain`]. All SQL is in one
//! module. [`Defect`]s are mistakes that public services have made, each one switch, off by default: they prove that
//! a test suite can fail.

mod api;
mod config;
mod contracts;
mod defect;
pub mod domain;
mod error;
mod failover;
mod log;
mod metrics;
#[cfg(test)]
mod model;
mod provider;
mod reach;
mod rules;
mod serve;
pub mod signature;
mod store;
mod worker;

pub use config::{Config, Principal, Profile, Provider, Retention, Role, Token};
pub use contracts::Contracts;
pub use defect::{Defect, Family};
pub use error::Error;
pub use failover::Failover;
pub use reach::reached;
pub use serve::serve;
pub use store::migrate;
