use std::{io, path::PathBuf};

use super::Program;
use crate::{leash::LeashError, postgres::PostgresError};

/// Why a program between the parts could not be started.
#[derive(Debug, thiserror::Error)]
pub enum MiddleboxError {
    /// It is not installed.
    #[error("{0} is not installed")]
    Absent(Program),
    /// It could not be started at all.
    #[error("{program} could not be started")]
    Start {
        /// Which.
        program: Program,
        /// Why.
        #[source]
        cause: io::Error,
    },
    /// It ended before it was ready, or never got ready.
    #[error("{program} {what}; it wrote:\n{log}")]
    Unready {
        /// Which.
        program: Program,
        /// What became of it.
        what: &'static str,
        /// What it wrote last.
        log: String,
    },
    /// It can't be put before a database with such a URL.
    #[error("{program} can't stand before {url}")]
    BadUrl {
        /// Which.
        program: Program,
        /// Without user and password.
        url: String,
    },
    /// Its folder or a file in it could not be made.
    #[error("{} could not be written", path.display())]
    Folder {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        cause: io::Error,
    },
    /// There is no folder for it, or no user that it could run as.
    #[error(transparent)]
    Place(#[from] PostgresError),
    /// It could not be put on the leash.
    #[error(transparent)]
    Leash(#[from] LeashError),
    /// The proxy before it could not be started.
    #[error("no proxy could be started before {program}")]
    Proxy {
        /// Before which.
        program: Program,
        /// Why.
        #[source]
        cause: crate::fault::FaultError,
    },
}
