//! How a command ends.

use crate::attest::{KeyError, StatementError, VerifyError};
use crate::dialect::DialectError;
use crate::file::FileError;
use crate::run::CheckError;
use crate::transport::{CassetteError, HttpError};
use crate::verdict::Verdict;

/// How a command ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitOutcome {
    /// 0: the contract is met, the file is fine, failover is allowed.
    Ok,
    /// 1: the contract is not met.
    NotMet,
    /// 2: usage, or a file that can't be used.
    Usage,
    /// 3: nothing can be said.
    Inconclusive,
    /// 11: our own machinery failed.
    Infrastructure,
    /// 21: `can-failover` says no.
    NoFailover,
}

impl ExitOutcome {
    /// The process's exit code.
    #[must_use]
    pub fn code(self) -> u8 {
        match self {
            Self::Ok => 0,
            Self::NotMet => 1,
            Self::Usage => 2,
            Self::Inconclusive => 3,
            Self::Infrastructure => 11,
            Self::NoFailover => 21,
        }
    }

    /// How a command ends that came to this verdict.
    #[must_use]
    pub fn of(verdict: &Verdict) -> Self {
        match verdict.exit_code() {
            0 => Self::Ok,
            1 => Self::NotMet,
            _ => Self::Inconclusive,
        }
    }
}

/// A command can't be carried out.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    /// A file can't be used.
    #[error(transparent)]
    File(#[from] FileError),
    /// A dialect can't be had.
    #[error(transparent)]
    Dialect(#[from] DialectError),
    /// A cassette can't be used.
    #[error(transparent)]
    Cassette(#[from] CassetteError),
    /// There is no way to send.
    #[error(transparent)]
    Http(#[from] HttpError),
    /// The check can't be carried out.
    #[error(transparent)]
    Check(#[from] CheckError),
    /// A key can't be used.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// There is nothing to attest.
    #[error(transparent)]
    Statement(#[from] StatementError),
    /// An envelope proves nothing.
    #[error(transparent)]
    Verify(#[from] VerifyError),
    /// What was asked makes no sense.
    #[error("{0}")]
    Usage(String),
    /// The output can't be written.
    #[error("the output can't be written: {0}")]
    Output(#[from] std::io::Error),
}

impl CliError {
    /// How the command ends.
    #[must_use]
    pub fn outcome(&self) -> ExitOutcome {
        match self {
            Self::Verify(_) => ExitOutcome::NotMet,
            Self::Output(_) | Self::Http(HttpError::Client(_)) | Self::Key(KeyError::Random) => {
                ExitOutcome::Infrastructure
            }
            _ => ExitOutcome::Usage,
        }
    }
}
