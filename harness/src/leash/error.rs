use std::io;
use std::path::PathBuf;

/// Why the watchdog can't promise a clean-up.
#[derive(Debug, thiserror::Error)]
pub enum LeashError {
    /// The program that should become the watchdog could not be started.
    #[error("the watchdog {} could not be started: {cause}", program.display())]
    Start {
        /// The program that was asked for.
        program: PathBuf,
        /// What the operating system said.
        cause: io::Error,
    },
    /// The program ran, but it isn't a watchdog: it never said that it is ready.
    #[error("{} was started as the watchdog but did not answer as one", program.display())]
    NotAWatchdog {
        /// The program that was started.
        program: PathBuf,
    },
    /// The watchdog is gone, so what was just started is not protected.
    #[error("the watchdog has ended, nothing would clean up after this run: {cause}")]
    Gone {
        /// What the pipe to it said.
        cause: io::Error,
    },
    /// A folder that nobody should ever delete as a whole, or one that can't be named to the watchdog.
    #[error("{} can't be put on the leash: it has to be an absolute UTF-8 path at least two levels deep", path.display())]
    UnfitFolder {
        /// The folder that was refused.
        path: PathBuf,
    },
    /// The child could not be started at all.
    #[error("{program} could not be started: {cause}")]
    Spawn {
        /// The child's program.
        program: String,
        /// What the operating system said.
        cause: io::Error,
    },
}

impl LeashError {
    /// What the user can do about it, in one sentence.
    #[must_use]
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::Start { .. } | Self::NotAWatchdog { .. } => {
                "give the path of the onejob program itself; when onejob is used as a library, build its binary too"
            }
            Self::Gone { .. } => "something killed the watchdog; run again",
            Self::UnfitFolder { .. } => "set TMPDIR to a folder of its own, such as /tmp",
            Self::Spawn { .. } => "check that the program exists and may be executed",
        }
    }
}
