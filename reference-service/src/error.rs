use std::net::SocketAddr;

/// Why the service can't start or had to stop.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The configuration contradicts itself.
    #[error("the configuration is wrong: {0}")]
    Config(String),
    /// The address to listen on is not to be had.
    #[error("can't listen on {listen}: {source}; choose another address, or stop what listens there")]
    Bind {
        /// The address that was asked for.
        listen: SocketAddr,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// The database can't be reached or refuses the role.
    #[error(
        "can't use the database: {source}; check that it runs and that the URL, role and password are right"
    )]
    Database {
        /// What the driver said. Never holds the password.
        #[source]
        source: sqlx::Error,
    },
    /// The schema is older or newer than this program.
    #[error(
        "the database has {found} of {expected} migrations that this program knows; migrate it first, \
         or start with migrations enabled"
    )]
    NotMigrated {
        /// Migrations that the database has.
        found: i64,
        /// Migrations that this program knows.
        expected: i64,
    },
    /// A part of the service ended by itself, which none of them should.
    #[error("a part of the service stopped by itself; the rest was drained; please report this")]
    Broken,
    /// A migration failed.
    #[error("a migration failed: {source}")]
    Migration {
        /// What the migrator said.
        #[source]
        source: sqlx::migrate::MigrateError,
    },
}
