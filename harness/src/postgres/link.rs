use std::io;
use std::net::SocketAddr;
use std::str::FromStr;
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{ConnectOptions, Connection};
use url::Url;

use super::PostgresError;

const CONNECT_WITHIN: Duration = Duration::from_secs(5);

/// A database URL that was understood, with what may be said about it.
#[derive(Clone)]
pub(super) struct Link {
    url: Url,
    options: PgConnectOptions,
    /// Host and port or the socket: never user, password or parameters.
    place: String,
}

impl std::fmt::Debug for Link {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Link({})", self.place)
    }
}

impl Link {
    pub(super) fn read(text: &str) -> Result<Self, PostgresError> {
        let bad = |reason: String| PostgresError::BadUrl { reason };
        let url = Url::parse(text.trim()).map_err(|error| bad(error.to_string()))?;
        if !matches!(url.scheme(), "postgres" | "postgresql") {
            return Err(bad(format!("it begins with {}:// and not with postgres://", url.scheme())));
        }
        let options = PgConnectOptions::from_str(url.as_str()).map_err(|error| bad(error.to_string()))?;
        let options = options.application_name("onejob").disable_statement_logging();
        let place = match options.get_socket() {
            Some(socket) => format!("{} (port {})", socket.display(), options.get_port()),
            None => format!("{}:{}", options.get_host(), options.get_port()),
        };
        Ok(Self { url, options, place })
    }

    pub(super) fn place(&self) -> &str {
        &self.place
    }

    pub(super) fn url(&self) -> &Url {
        &self.url
    }

    pub(super) fn options(&self) -> &PgConnectOptions {
        &self.options
    }

    /// The same database by another way: whatever listens at `address` and passes bytes on to the server.
    pub(super) fn url_through(&self, database: &str, address: SocketAddr) -> Option<String> {
        let mut url = Url::parse(&self.url_of(database)).ok()?;
        let others: Vec<(String, String)> = url
            .query_pairs()
            .filter(|(name, _)| !matches!(&**name, "host" | "hostaddr" | "port" | "sslmode"))
            .map(|(name, value)| (name.into(), value.into()))
            .collect();
        url.set_ip_host(address.ip()).ok()?;
        url.set_port(Some(address.port())).ok()?;
        url.query_pairs_mut().clear().extend_pairs(others).append_pair("sslmode", "disable");
        Some(url.into())
    }

    /// The same server, another database.
    pub(super) fn url_of(&self, database: &str) -> String {
        let mut url = self.url.clone();
        url.set_path(database);
        let others: Vec<(String, String)> = url
            .query_pairs()
            .filter(|(name, _)| name != "dbname")
            .map(|(k, v)| (k.into(), v.into()))
            .collect();
        url.set_query(None);
        if !others.is_empty() {
            url.query_pairs_mut().extend_pairs(others);
        }
        url.into()
    }

    pub(super) async fn connect(&self) -> Result<PgConnection, PostgresError> {
        self.connect_as(&self.options).await
    }

    pub(super) async fn connect_as(&self, options: &PgConnectOptions) -> Result<PgConnection, PostgresError> {
        match tokio::time::timeout(CONNECT_WITHIN, PgConnection::connect_with(options)).await {
            Ok(Ok(connection)) => Ok(connection),
            Ok(Err(error)) => Err(self.why(error)),
            Err(_) => {
                Err(PostgresError::Silent { place: self.place.clone(), seconds: CONNECT_WITHIN.as_secs() })
            }
        }
    }

    /// The error of a failed connection, told apart by what the user has to do about it.
    fn why(&self, error: sqlx::Error) -> PostgresError {
        let place = self.place.clone();
        match error {
            sqlx::Error::Io(cause)
                if matches!(cause.kind(), io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset) =>
            {
                PostgresError::NotPostgres { place, cause: cause.to_string() }
            }
            sqlx::Error::Io(cause) => PostgresError::Refused { place, cause },
            sqlx::Error::Tls(cause) => PostgresError::Tls { place, cause: cause.to_string() },
            sqlx::Error::Protocol(cause) => PostgresError::NotPostgres { place, cause },
            sqlx::Error::Database(cause) => match cause.code().as_deref() {
                Some("3D000") => PostgresError::NoSuchDatabase { place, message: cause.message().to_owned() },
                Some(code) if code.starts_with("28") => {
                    PostgresError::LoginRefused { place, message: cause.message().to_owned() }
                }
                _ => PostgresError::Query {
                    doing: format!("connecting to {place}"),
                    cause: sqlx::Error::Database(cause),
                },
            },
            cause => PostgresError::Query { doing: format!("connecting to {place}"), cause },
        }
    }
}

/// Turns a failed statement into an error that says what it was for.
pub(super) fn query_error(doing: impl Into<String>) -> impl FnOnce(sqlx::Error) -> PostgresError {
    let doing = doing.into();
    move |cause| PostgresError::Query { doing, cause }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_database_keeps_user_socket_and_parameters() {
        let link = Link::read("postgres://onejob@localhost/postgres?host=/tmp/x&dbname=other&port=6000")
            .expect("reads");
        assert_eq!(link.url_of("job_1"), "postgres://onejob@localhost/job_1?host=%2Ftmp%2Fx&port=6000");
        assert_eq!(link.place(), "/tmp/x (port 6000)");
    }

    #[test]
    fn the_way_through_a_proxy_keeps_user_and_password_and_drops_the_old_way() {
        let proxy = SocketAddr::from(([127, 0, 0, 1], 7000));
        for (url, through) in [
            (
                "postgres://onejob@localhost:5432/postgres?host=%2Ftmp%2Fx",
                "postgres://onejob@127.0.0.1:7000/a?sslmode=disable",
            ),
            (
                "postgres://me:pw@10.0.0.1/b?sslmode=prefer&options=-cx%3D1",
                "postgres://me:pw@127.0.0.1:7000/a?options=-cx%3D1&sslmode=disable",
            ),
        ] {
            assert_eq!(Link::read(url).expect("reads").url_through("a", proxy).as_deref(), Some(through));
        }
    }

    #[test]
    fn a_password_is_in_neither_the_place_nor_an_error() {
        let link = Link::read("postgresql://me:hunter2@127.0.0.1:5433/x").expect("reads");
        assert_eq!(link.place(), "127.0.0.1:5433");
        assert!(!format!("{link:?}").contains("hunter2"));
        for bad in ["postgres://me:hunter2@h:99999/x", "mysql://me:hunter2@h/x", "hunter2"] {
            let error = Link::read(bad).expect_err("refused");
            assert!(!error.to_string().contains("hunter2"), "{error}");
        }
    }
}
