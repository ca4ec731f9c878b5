use std::{borrow::Cow, fmt::Write as _};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sqlx::postgres::PgConnectOptions;
use url::Url;

use super::{
    MiddleboxError, Program,
    daemon::{Daemon, Workplace},
};
use crate::{leash::Leash, postgres::Account};

/// The number in the socket's name. No port is opened.
const PORT: u16 = 6432;
const SOCKET: &str = ".s.PGSQL.6432";

/// A pooler between the service and its database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PoolerKind {
    /// pgbouncer in transaction mode, which gives every transaction another server connection.
    Pgbouncer,
}

impl PoolerKind {
    /// The program.
    #[must_use]
    pub const fn program(self) -> Program {
        match self {
            Self::Pgbouncer => Program::Pgbouncer,
        }
    }
}

/// A running pooler.
#[derive(Debug)]
pub struct Pooler {
    url: String,
    _daemon: Daemon,
}

impl Pooler {
    /// Starts it before a database; returns when it takes connections.
    pub async fn start(kind: PoolerKind, database_url: &str, leash: &Leash) -> Result<Self, MiddleboxError> {
        let PoolerKind::Pgbouncer = kind;
        let program = kind.program();
        let database = Target::read(database_url)
            .ok_or_else(|| MiddleboxError::BadUrl { program, url: shown(database_url).to_owned() })?;
        // It refuses to be root, as Postgres does.
        let workplace = Workplace::new(program, Account::for_server()?, leash)?;
        let folder = workplace.folder().display().to_string();
        let config = workplace.write("pgbouncer.ini", &config(&folder, &database))?.display().to_string();
        let daemon = workplace.start(&[&config], SOCKET, leash).await?;
        let url = format!(
            "postgres://{}@localhost:{PORT}/{}?host={}",
            encoded(&database.user),
            encoded(&database.name),
            encoded(&folder)
        );
        Ok(Self { url, _daemon: daemon })
    }

    /// The database's URL through the pooler.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }
}

/// What the pooler must know of a database.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Target {
    host: String,
    port: u16,
    name: String,
    user: String,
    password: Option<String>,
}

impl Target {
    fn read(database_url: &str) -> Option<Self> {
        let url = Url::parse(database_url).ok()?;
        let options: PgConnectOptions = database_url.parse().ok()?;
        let socket = options.get_socket().map(|folder| folder.display().to_string());
        let user = options.get_username().to_owned();
        Some(Self {
            host: socket.unwrap_or_else(|| options.get_host().to_owned()),
            port: options.get_port(),
            name: options.get_database().map_or_else(|| user.clone(), str::to_owned),
            user,
            password: url.password().map(decoded),
        })
    }
}

/// No TCP port, no login of its own (the socket's folder is closed to others), and one server connection after the
/// other in turn, so that a client hardly ever gets the same one twice.
fn config(folder: &str, database: &Target) -> String {
    let mut line = String::new();
    let pairs = [
        ("host", Some(database.host.clone())),
        ("port", Some(database.port.to_string())),
        ("dbname", Some(database.name.clone())),
        ("user", Some(database.user.clone())),
        ("password", database.password.clone()),
    ];
    for (name, value) in pairs {
        if let Some(value) = value {
            let _ = write!(line, " {name}='{}'", value.replace('\'', "''"));
        }
    }
    format!(
        "[databases]
* ={line}
[pgbouncer]
listen_addr =
listen_port = {PORT}
unix_socket_dir = {folder}
auth_type = any
pool_mode = transaction
default_pool_size = 24
max_client_conn = 500
server_round_robin = 1
server_login_retry = 0.2
ignore_startup_parameters = extra_float_digits,options
"
    )
}

fn decoded(text: &str) -> String {
    percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned()
}

fn encoded(text: &str) -> Cow<'_, str> {
    percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).into()
}

/// Without user and password.
fn shown(url: &str) -> &str {
    url.rsplit('@').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_is_read_from_its_url_over_tcp_and_over_a_socket() {
        let tcp = Target::read("postgres://me:p%27w@10.0.0.1:5433/db").expect("a URL");
        assert_eq!((tcp.host.as_str(), tcp.port, tcp.name.as_str()), ("10.0.0.1", 5433, "db"));
        assert_eq!(tcp.password.as_deref(), Some("p'w"));
        assert!(config("/tmp/x", &tcp).contains("password='p''w'"), "a quote doesn't end the value");
        let socket = Target::read("postgres://me@localhost:5432/db?host=%2Ftmp%2Fy").expect("a URL");
        assert_eq!((socket.host.as_str(), socket.password), ("/tmp/y", None));
    }

    #[test]
    fn nobody_can_mistake_it_for_session_mode() {
        let target = Target::read("postgres://me@localhost/db").expect("a URL");
        assert!(config("/tmp/x", &target).contains("pool_mode = transaction"));
    }
}
