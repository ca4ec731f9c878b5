use sqlx::error::DatabaseError;

use crate::domain::JobState;

/// Why a transaction of the store did not happen.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StoreError {
    /// A row or table stayed locked for longer than the caller wants to wait.
    #[error("somebody else held the lock for too long")]
    Locked,
    /// The database aborted the transaction because of a concurrent one; nothing of it happened.
    #[error("the database asked to run the transaction again")]
    Again,
    /// The connection is gone, the server is starting or stopping, or no connection was free in time.
    #[error("the database can't be reached: {0}")]
    Unreachable(sqlx::Error),
    /// The database did not answer in time. Whether anything happened is not known.
    #[error("the database fell silent")]
    Silent,
    /// A row can't be read as what it should be.
    #[error("a row is not what it should be: {0}")]
    Corrupt(String),
    /// Anything else that the database said.
    #[error("the database refused: {0}")]
    Refused(sqlx::Error),
    /// A job that was being written has another state than expected.
    #[error("the job changed under a held lock, to {0}")]
    Changed(JobState),
}

impl StoreError {
    /// Whether the same transaction may succeed when it is run again.
    pub(crate) fn is_transient(&self) -> bool {
        match self {
            Self::Again => true,
            // Waiting for a connection, or for an answer, took long enough.
            Self::Unreachable(error) => !matches!(error, sqlx::Error::PoolTimedOut | sqlx::Error::PoolClosed),
            Self::Locked | Self::Silent | Self::Corrupt(_) | Self::Refused(_) | Self::Changed(_) => false,
        }
    }

    /// Whether the database could be reached and said no for a reason of its own.
    pub(crate) fn is_refusal(&self) -> bool {
        matches!(self, Self::Corrupt(_) | Self::Refused(_) | Self::Changed(_))
    }
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        let code = error.as_database_error().and_then(DatabaseError::code).map(std::borrow::Cow::into_owned);
        match code.as_deref() {
            Some("55P03") => Self::Locked,
            Some("40001" | "40P01") => Self::Again,
            // Class 08, the shutdown family of 57, "too many connections", a standby that can't write yet.
            Some(code)
                if code.starts_with("08")
                    || code.starts_with("57P")
                    || code == "53300"
                    || code == "25006" =>
            {
                Self::Unreachable(error)
            }
            Some(_) => Self::Refused(error),
            None => match error {
                sqlx::Error::Io(_)
                | sqlx::Error::Protocol(_)
                | sqlx::Error::PoolTimedOut
                | sqlx::Error::PoolClosed
                | sqlx::Error::WorkerCrashed
                | sqlx::Error::BeginFailed => Self::Unreachable(error),
                sqlx::Error::ColumnDecode { .. } | sqlx::Error::Decode(_) => Self::Corrupt(error.to_string()),
                other => Self::Refused(other),
            },
        }
    }
}
