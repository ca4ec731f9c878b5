//! Where a database comes from: a server that the user has, a container, or a private server from the machine's own
//! programs; and a fresh database on it for every scenario.

mod account;
mod blocking;
mod cluster;
#[cfg(feature = "testcontainers")]
mod container;
mod databases;
mod environment;
mod error;
mod lent;
mod link;
mod options;
mod prepared;
mod programs;
#[cfg(feature = "testcontainers")]
mod pull;
mod scratch;
mod server;
mod settings;
mod source;
mod template;

pub use databases::{Database, Databases};
pub use environment::{DEFAULT_IMAGE, Environment};
pub use error::PostgresError;
pub use options::{Halt, StartOptions};
pub use server::{Server, Talk};
pub use source::Source;
pub use template::Template;
