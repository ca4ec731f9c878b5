//! Gives the errors of the parts that the engine uses their public codes.

use crate::{
    double::DoubleError,
    fail::{Code, Fault},
    fault::FaultError,
    gate::{ArrivalError, LockError, OriginError, calibrate::CalibrateError},
    leash::LeashError,
    middlebox::MiddleboxError,
    postgres::PostgresError,
};

impl From<LeashError> for Fault {
    fn from(error: LeashError) -> Self {
        Self::new(
            Code::Leash,
            error.to_string(),
            "the watchdog is this program started again; check that it may start processes",
        )
    }
}

impl From<DoubleError> for Fault {
    fn from(error: DoubleError) -> Self {
        let code = match &error {
            DoubleError::Listen { .. } => Code::PortInUse,
            DoubleError::BadAddress { .. }
            | DoubleError::BadName { .. }
            | DoubleError::BadLocator { .. }
            | DoubleError::UnknownDialect { .. } => Code::TargetProvider,
            DoubleError::BadRule { .. } => Code::ScenarioField,
            _ => Code::DoubleFailed,
        };
        Self::new(
            code,
            error.to_string(),
            "see `[provider]` in the target file and `[[provider]]` in the scenario",
        )
    }
}

impl From<ArrivalError> for Fault {
    fn from(error: ArrivalError) -> Self {
        Self::new(Code::ArrivalGate, error.to_string(), "see `base` and `http` in the target file")
    }
}

impl From<OriginError> for Fault {
    fn from(error: OriginError) -> Self {
        match &error {
            OriginError::Tls { .. } => Self::new(
                Code::TargetTls,
                error.to_string(),
                "`ca` in [target] names a file of the authorities that signed its certificate; is it TLS that it speaks there?",
            ),
            _ => Self::new(Code::TargetRefused, error.to_string(), "see `base` in the target file"),
        }
    }
}

impl From<FaultError> for Fault {
    fn from(error: FaultError) -> Self {
        Self::new(
            Code::FaultFailed,
            "a fault could not be applied",
            "run it again; faults need no special rights",
        )
        .because(error)
    }
}

impl From<MiddleboxError> for Fault {
    fn from(error: MiddleboxError) -> Self {
        match error {
            MiddleboxError::Place(error) => error.into(),
            MiddleboxError::Leash(error) => error.into(),
            other => {
                let cause = std::error::Error::source(&other).map(ToString::to_string);
                let why = cause.map(|cause| format!(": {cause}")).unwrap_or_default();
                Self::new(
                    Code::Middlebox,
                    format!("{other}{why}"),
                    "see whether the program can be started by hand; `onejob explain OJ5007` says more",
                )
            }
        }
    }
}

impl From<LockError> for Fault {
    fn from(error: LockError) -> Self {
        Self::new(Code::LockGate, error.to_string(), "see `[target.database]` in the target file")
    }
}

impl From<PostgresError> for Fault {
    fn from(error: PostgresError) -> Self {
        let help = error.remedy();
        match error {
            // The target's own migrations have said it better.
            PostgresError::Migration { cause, .. } if cause.is::<Fault>() => cause
                .downcast()
                .map_or_else(|_| Self::new(Code::Migration, "a migration failed", help), |fault| *fault),
            other => Self::new(code_of(&other), other.to_string(), help),
        }
    }
}

fn code_of(error: &PostgresError) -> Code {
    match error {
        PostgresError::UnknownSource(_) | PostgresError::NoUrl | PostgresError::BadUrl { .. } => {
            Code::PostgresUrl
        }
        PostgresError::Refused { .. } | PostgresError::Silent { .. } | PostgresError::NotPostgres { .. } => {
            Code::PostgresRefused
        }
        PostgresError::LoginRefused { .. }
        | PostgresError::NoSuchDatabase { .. }
        | PostgresError::Tls { .. } => Code::PostgresDenied,
        PostgresError::MayNotCreate { .. } => Code::PostgresMayNotCreate,
        PostgresError::NoDockerSupport | PostgresError::NoDocker { .. } => Code::DockerAbsent,
        PostgresError::NoImage { .. } => Code::DockerImage,
        PostgresError::Container { .. } => Code::DockerContainer,
        PostgresError::NoPrograms { .. } => Code::LocalAbsent,
        PostgresError::NoAccount => Code::LocalUser,
        PostgresError::Initdb { .. } | PostgresError::Folder { .. } => Code::LocalInit,
        PostgresError::Cluster { .. } => Code::LocalStart,
        PostgresError::Nowhere { .. } => Code::PostgresNowhere,
        PostgresError::Migration { .. } => Code::Migration,
        PostgresError::TooOld { .. } | PostgresError::Query { .. } | PostgresError::NotOurs { .. } => {
            Code::DatabaseLost
        }
        PostgresError::Leash(_) => Code::Leash,
    }
}

impl From<CalibrateError> for Fault {
    fn from(error: CalibrateError) -> Self {
        Self::new(Code::ArrivalGate, "the gates could not be measured", "run it again on a quieter machine")
            .because(error)
    }
}
