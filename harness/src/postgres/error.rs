use std::io;
use std::path::PathBuf;

use crate::leash::LeashError;

/// Why there is no Postgres to work on. Each says what is wrong; [`remedy`](Self::remedy) says what to do.
#[derive(Debug, thiserror::Error)]
pub enum PostgresError {
    /// `--postgres` has an unknown value.
    #[error("{0:?} is no place Postgres can come from")]
    UnknownSource(String),
    /// `--postgres url` without a URL.
    #[error("--postgres url needs a database URL, and none was given")]
    NoUrl,
    /// The URL can't be read. The URL itself is not repeated: it may hold a password.
    #[error("the database URL can't be read: {reason}")]
    BadUrl {
        /// What is wrong with it.
        reason: String,
    },
    /// Nobody listens there.
    #[error("Postgres at {place} refused the connection: {cause}")]
    Refused {
        /// Host and port, or the socket.
        place: String,
        /// What the operating system said.
        cause: io::Error,
    },
    /// Somebody may be there, but no answer came.
    #[error("Postgres at {place} gave no answer within {seconds} s")]
    Silent {
        /// Host and port, or the socket.
        place: String,
        /// How long it was waited for.
        seconds: u64,
    },
    /// What answers there doesn't speak Postgres' protocol.
    #[error("what listens at {place} does not answer like Postgres: {cause}")]
    NotPostgres {
        /// Host and port, or the socket.
        place: String,
        /// What was odd.
        cause: String,
    },
    /// Wrong user or password, or the server's access rules.
    #[error("Postgres at {place} refused the login: {message}")]
    LoginRefused {
        /// Host and port, or the socket.
        place: String,
        /// The server's own words.
        message: String,
    },
    /// The URL names a database that isn't there.
    #[error("Postgres at {place} has no such database: {message}")]
    NoSuchDatabase {
        /// Host and port, or the socket.
        place: String,
        /// The server's own words.
        message: String,
    },
    /// Encryption was demanded, or failed.
    #[error("no encrypted connection to Postgres at {place}: {cause}")]
    Tls {
        /// Host and port, or the socket.
        place: String,
        /// What was missing.
        cause: String,
    },
    /// The server lacks something that is relied upon.
    #[error("PostgreSQL {found} is too old")]
    TooOld {
        /// Its version.
        found: String,
    },
    /// The role may not create databases.
    #[error("the role {role:?} at {place} may not create databases")]
    MayNotCreate {
        /// The role's name.
        role: String,
        /// Host and port, or the socket.
        place: String,
    },
    /// This build can't start containers.
    #[error("this build of onejob has no Docker support")]
    NoDockerSupport,
    /// No engine, no permission, or an address of an unknown kind.
    #[error("no Docker engine at {address}: {cause}")]
    NoDocker {
        /// The engine's address.
        address: String,
        /// What was said.
        cause: String,
    },
    /// The image isn't there and could not be pulled.
    #[error("the image {image} is not there and could not be pulled: {cause}")]
    NoImage {
        /// Its name.
        image: String,
        /// What the engine said.
        cause: String,
    },
    /// The container did not become a Postgres server.
    #[error("the container of {image} did not become a Postgres server: {cause}{}", tail(log))]
    Container {
        /// The image's name.
        image: String,
        /// What went wrong, its causes included.
        cause: String,
        /// The end of what it printed.
        log: String,
    },
    /// No Postgres programs.
    #[error("no Postgres programs were found: {cause}")]
    NoPrograms {
        /// Where was looked, and what was wrong there.
        cause: String,
    },
    /// Started as root, and there is nobody to be instead.
    #[error("Postgres refuses to run as root, and this machine has neither a user `postgres` nor `nobody`")]
    NoAccount,
    /// `initdb` failed.
    #[error("{} failed ({status}){}", program.display(), tail(output))]
    Initdb {
        /// The program.
        program: PathBuf,
        /// How it ended.
        status: String,
        /// What it printed.
        output: String,
    },
    /// The private server ended, or was not ready in time.
    #[error("the private Postgres server {what}{}", tail(log))]
    Cluster {
        /// What happened.
        what: String,
        /// The end of its log.
        log: String,
    },
    /// A folder or file of the private server could not be written.
    #[error("{}: {cause}", path.display())]
    Folder {
        /// Which.
        path: PathBuf,
        /// What the operating system said.
        cause: io::Error,
    },
    /// Nothing worked.
    #[error("no Postgres was found\n{}", list(tried))]
    Nowhere {
        /// Each way that was tried and why it failed.
        tried: Vec<(&'static str, String)>,
    },
    /// A statement failed.
    #[error("Postgres failed while {doing}: {cause}")]
    Query {
        /// What was being done.
        doing: String,
        /// The server's or the driver's words.
        cause: sqlx::Error,
    },
    /// The template database could not be filled.
    #[error("the template database {template:?} could not be migrated: {cause}")]
    Migration {
        /// The template's name.
        template: String,
        /// What the migration said.
        cause: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Somebody else's server can't be restarted.
    #[error("the Postgres server at {place} is not onejob's own, so it can't be stopped or started")]
    NotOurs {
        /// Host and port, or the socket.
        place: String,
    },
    /// Nothing would clean up.
    #[error(transparent)]
    Leash(#[from] LeashError),
}

impl PostgresError {
    /// What the user can do about it.
    #[must_use]
    pub fn remedy(&self) -> String {
        match self {
            Self::UnknownSource(_) => "use auto, docker, local or url".into(),
            Self::NoUrl => format!("pass {URL_EXAMPLE}, or set ONEJOB_DATABASE_URL"),
            Self::BadUrl { .. } => {
                format!("write it as {URL_EXAMPLE}; encode special characters of the password, such as @ as %40")
            }
            Self::Refused { .. } | Self::Silent { .. } | Self::NotPostgres { .. } => {
                "start that server or correct host and port; `--postgres local` or `--postgres docker` need none".into()
            }
            Self::LoginRefused { .. } => "correct user and password in the URL, or the server's pg_hba.conf".into(),
            Self::NoSuchDatabase { .. } => "name a database that exists, such as `postgres`, in the URL".into(),
            Self::Tls { .. } => {
                "onejob speaks to Postgres unencrypted: use sslmode=disable and a server on this machine".into()
            }
            Self::TooOld { .. } => "use PostgreSQL 13 or newer".into(),
            Self::MayNotCreate { role, .. } => format!(
                "run as a superuser: ALTER ROLE \"{}\" CREATEDB; or use `--postgres local` or `--postgres docker`",
                role.replace('"', "\"\"")
            ),
            Self::NoDockerSupport => {
                "build with `--features testcontainers`, or use `--postgres local` or --database-url".into()
            }
            Self::NoDocker { cause, .. } if cause.contains("ermission") => {
                "let your user speak to Docker: sudo usermod -aG docker $USER, then log in again".into()
            }
            Self::NoDocker { .. } => {
                "start Docker (sudo systemctl start docker, or Docker Desktop), or set DOCKER_HOST to its socket".into()
            }
            Self::NoImage { image, .. } => {
                format!("docker pull {image}, or name one that is there in ONEJOB_POSTGRES_IMAGE")
            }
            Self::Container { image, .. } => format!(
                "try it by hand: docker run --rm -e POSTGRES_PASSWORD=x {image}; or name another in ONEJOB_POSTGRES_IMAGE"
            ),
            Self::NoPrograms { .. } => INSTALL.into(),
            Self::NoAccount => "create a user for it (useradd --system postgres), or don't run as root".into(),
            Self::Initdb { .. } | Self::Cluster { .. } => {
                "the output above is Postgres' own; a full disk and a broken installation are the usual causes".into()
            }
            Self::Folder { .. } => "free space or set TMPDIR to a folder that may be written to".into(),
            Self::Nowhere { .. } => format!(
                "any one of these is enough:\n  a server you have:  {URL_EXAMPLE}, or ONEJOB_DATABASE_URL\n  \
                 Docker:             sudo systemctl start docker (or Docker Desktop)\n  programs:           {INSTALL}"
            ),
            Self::Query { .. } => "see whether the server still runs and has disk space".into(),
            Self::Migration { .. } => "run the migrations by hand against an empty database to see more".into(),
            Self::NotOurs { .. } => "use `--postgres local` or `--postgres docker` for scenarios that restart it".into(),
            Self::Leash(error) => error.remedy().into(),
        }
    }
}

const URL_EXAMPLE: &str = "--database-url postgres://USER:PASSWORD@HOST:5432/postgres";
const INSTALL: &str = "apt install postgresql, dnf install postgresql-server or brew install postgresql@17";

/// The last lines of some program's output, indented under the message.
fn tail(output: &str) -> String {
    const LINES: usize = 15;
    let lines: Vec<&str> = output.lines().filter(|line| !line.trim().is_empty()).collect();
    lines
        .iter()
        .skip(lines.len().saturating_sub(LINES))
        .fold(String::new(), |all, line| all + "\n    " + line)
}

fn list(tried: &[(&'static str, String)]) -> String {
    tried.iter().map(|(way, why)| format!("  {way}: {why}")).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nowhere_names_the_three_ways_and_a_command_for_each() {
        let error = PostgresError::Nowhere {
            tried: vec![
                ("url", "none was given".into()),
                ("docker", "no engine".into()),
                ("local", "none".into()),
            ],
        };
        let told = format!("{error}\n{}", error.remedy());
        for part in
            ["--database-url", "ONEJOB_DATABASE_URL", "systemctl start docker", "apt install postgresql"]
        {
            assert!(told.contains(part), "{part} is missing in:\n{told}");
        }
    }

    #[test]
    fn only_the_end_of_a_long_output_is_repeated() {
        let output = (1..=100).map(|n| format!("line {n}")).collect::<Vec<_>>().join("\n");
        let told = tail(&output);
        assert!(told.ends_with("\n    line 100") && !told.contains("line 85\n"), "{told}");
    }
}
