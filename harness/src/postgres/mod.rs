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
mod own_server;
mod prepared;
mod programs;
#[cfg(feature = "testcontainers")]
mod pull;
mod scratch;
mod server;
mod settings;
mod source;
mod standby;
mod template;

pub(crate) use account::Account;
pub use databases::{Database, Databases};
pub use environment::{DEFAULT_IMAGE, Environment};
pub use error::PostgresError;
pub use options::{Halt, StartOptions};
pub use own_server::OwnServer;
pub(crate) use prepared::{give, run_as};
pub use programs::local_programs;
pub(crate) use programs::program_beside_server;
pub(crate) use scratch::Scratch;
pub use server::{Server, Talk};
pub use source::Source;
pub use standby::own_server_options;
pub use template::Template;
