use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use sqlx::postgres::PgConnection;
use sqlx::{Connection, Row};

use super::blocking::blocking;
use super::cluster::Cluster;
use super::link::{Link, query_error};
use super::programs::Programs;
use super::settings::ROLE;
use super::{Environment, Halt, PostgresError, Source, StartOptions};
use crate::leash::Leash;

/// Gets what is worth telling while a server is being found, one line at a time.
pub type Talk<'a> = &'a (dyn Fn(&str) + Send + Sync);

/// A running Postgres server. Dropping the last clone ends it, unless it is the user's own.
#[derive(Clone)]
pub struct Server(Arc<Inner>);

struct Inner {
    link: Link,
    tcp: Option<Link>,
    version: String,
    version_number: u32,
    place: Place,
}

pub(super) enum Place {
    Lent,
    Local(Box<Cluster>),
    #[cfg(feature = "testcontainers")]
    Docker(Box<super::container::Container>),
}

impl Server {
    /// Finds or starts a server in the surroundings of this process.
    pub async fn start(
        source: &Source,
        options: &StartOptions,
        leash: &Leash,
        talk: Talk<'_>,
    ) -> Result<Self, PostgresError> {
        Self::start_in(&Environment::of_this_process(), source, options, leash, talk).await
    }

    /// Finds or starts a server in the given surroundings.
    pub async fn start_in(
        environment: &Environment,
        source: &Source,
        options: &StartOptions,
        leash: &Leash,
        talk: Talk<'_>,
    ) -> Result<Self, PostgresError> {
        match source {
            Source::Url(url) => Self::lent(url).await,
            Source::Docker => Self::docker(environment, options, leash, talk, false).await,
            Source::Local => Self::local(environment, options, leash).await,
            Source::Auto => Self::first_that_works(environment, options, leash, talk).await,
        }
    }

    async fn first_that_works(
        environment: &Environment,
        options: &StartOptions,
        leash: &Leash,
        talk: Talk<'_>,
    ) -> Result<Self, PostgresError> {
        // With nothing else to fall back on, a slow registry is worth waiting for.
        let programs = blocking({
            let environment = environment.clone();
            move || Ok(Programs::find(&environment).is_ok())
        });
        let hurry = programs.await?;
        let docker = match Self::docker(environment, options, leash, talk, hurry).await {
            Ok(server) => return Ok(server),
            Err(error @ PostgresError::Leash(_)) => return Err(error),
            Err(error) => error,
        };
        // That there is no Docker is nothing to talk about; that it is there and fails is.
        if !matches!(docker, PostgresError::NoDocker { .. } | PostgresError::NoDockerSupport) {
            talk(&format!("Postgres: {docker}; trying the programs on this machine"));
        }
        match Self::local(environment, options, leash).await {
            Err(local @ (PostgresError::NoPrograms { .. } | PostgresError::NoAccount)) => {
                let none = "neither --database-url nor ONEJOB_DATABASE_URL was given".to_owned();
                Err(PostgresError::Nowhere {
                    tried: vec![("url", none), ("docker", docker.to_string()), ("local", local.to_string())],
                })
            }
            other => other,
        }
    }

    async fn lent(url: &str) -> Result<Self, PostgresError> {
        let link = Link::read(url)?;
        let mut admin = link.connect().await?;
        let server = Self::describe_over(&mut admin, link, None, Place::Lent).await?;
        let (role, may_create): (String, bool) = sqlx::query_as(
            "SELECT rolname::text, rolcreatedb OR rolsuper FROM pg_roles WHERE rolname = current_user",
        )
        .fetch_one(&mut admin)
        .await
        .map_err(query_error("asking for the role's rights"))?;
        drop(admin.close().await);
        if !may_create {
            return Err(PostgresError::MayNotCreate { role, place: server.place().to_owned() });
        }
        Ok(server)
    }

    async fn local(
        environment: &Environment,
        options: &StartOptions,
        leash: &Leash,
    ) -> Result<Self, PostgresError> {
        Self::of_cluster(Cluster::start(environment, options, leash).await?, options).await
    }

    /// The server of a cluster that runs.
    pub(super) async fn of_cluster(cluster: Cluster, options: &StartOptions) -> Result<Self, PostgresError> {
        let (folder, port) = (cluster.socket_folder().display().to_string(), cluster.port());
        let mut url = url::Url::parse(&format!("postgres://{ROLE}@localhost:{port}/postgres"))
            .map_err(|error| PostgresError::BadUrl { reason: error.to_string() })?;
        url.query_pairs_mut().append_pair("host", &folder);
        let link = Link::read(url.as_str())?;
        let mut admin = link.connect().await?;
        let tcp = if options.tcp { Some(Self::open_tcp(&mut admin, port).await?) } else { None };
        let server = Self::describe_over(&mut admin, link, tcp, Place::Local(Box::new(cluster))).await?;
        drop(admin.close().await);
        Ok(server)
    }

    /// Sets the role's password, which TCP needs, and returns the way in.
    async fn open_tcp(admin: &mut PgConnection, port: u16) -> Result<Link, PostgresError> {
        let password = uuid::Uuid::new_v4().simple().to_string();
        // The slow hash protects weak passwords; this one is 122 random bits, and clients connect all the time.
        sqlx::raw_sql("SET password_encryption = 'md5'")
            .execute(&mut *admin)
            .await
            .map_err(query_error("setting the way passwords are kept"))?;
        sqlx::raw_sql(sqlx::AssertSqlSafe(format!("ALTER ROLE {ROLE} PASSWORD '{password}'")))
            .execute(&mut *admin)
            .await
            .map_err(query_error("setting the password for TCP"))?;
        Link::read(&format!("postgres://{ROLE}:{password}@127.0.0.1:{port}/postgres?sslmode=disable"))
    }

    #[cfg(feature = "testcontainers")]
    async fn docker(
        environment: &Environment,
        options: &StartOptions,
        leash: &Leash,
        talk: Talk<'_>,
        hurry: bool,
    ) -> Result<Self, PostgresError> {
        let container = super::container::Container::start(environment, options, leash, talk, hurry).await?;
        let link = Link::read(container.url())?;
        let mut admin = link.connect().await?;
        let server =
            Self::describe_over(&mut admin, link.clone(), Some(link), Place::Docker(Box::new(container)))
                .await?;
        drop(admin.close().await);
        Ok(server)
    }

    #[cfg(not(feature = "testcontainers"))]
    #[expect(clippy::unused_async, reason = "the same signature as with the feature")]
    async fn docker(
        _: &Environment,
        _: &StartOptions,
        _: &Leash,
        _: Talk<'_>,
        _: bool,
    ) -> Result<Self, PostgresError> {
        Err(PostgresError::NoDockerSupport)
    }

    async fn describe_over(
        admin: &mut PgConnection,
        link: Link,
        tcp: Option<Link>,
        place: Place,
    ) -> Result<Self, PostgresError> {
        let row = sqlx::query(
            "SELECT current_setting('server_version') AS version, \
             current_setting('server_version_num')::int AS number",
        )
        .fetch_one(admin)
        .await
        .map_err(query_error("asking for the version"))?;
        let read = |error| query_error("reading the version")(error);
        let version: String = row.try_get("version").map_err(read)?;
        let number: i32 = row.try_get("number").map_err(read)?;
        let version_number = number.unsigned_abs();
        if version_number / 10_000 < super::programs::OLDEST {
            return Err(PostgresError::TooOld { found: version });
        }
        Ok(Self(Arc::new(Inner { link, tcp, version, version_number, place })))
    }

    /// One line: the version, and where the server came from. Never a password.
    #[must_use]
    pub fn describe(&self) -> String {
        let version = &self.0.version;
        match &self.0.place {
            Place::Lent => format!("PostgreSQL {version} at {} (database URL)", self.place()),
            Place::Local(cluster) => {
                let account = cluster.account().map(|name| format!(" as user {name}")).unwrap_or_default();
                format!(
                    "PostgreSQL {version}, a private server{account} from {} (local programs)",
                    cluster.programs().folder.display()
                )
            }
            #[cfg(feature = "testcontainers")]
            Place::Docker(container) => {
                format!("PostgreSQL {version} in a container of {} (docker)", container.image())
            }
        }
    }

    /// The server's version number, such as 150018 for 15.18.
    #[must_use]
    pub fn version_number(&self) -> u32 {
        self.0.version_number
    }

    /// Host and port or the socket, without user and password.
    #[must_use]
    pub fn place(&self) -> &str {
        self.0.link.place()
    }

    /// The URL of a database on this server: over the unix socket where there is one. It may hold a password.
    #[must_use]
    pub fn url_of(&self, database: &str) -> String {
        self.0.link.url_of(database)
    }

    /// The URL of a database over TCP, for programs that speak nothing else. None for a private server that was
    /// started without [`StartOptions::tcp`], and for the user's own server behind a socket. It holds a password.
    #[must_use]
    pub fn tcp_url_of(&self, database: &str) -> Option<String> {
        let lent_tcp = matches!(self.0.place, Place::Lent) && self.0.link.options().get_socket().is_none();
        let link = self.0.tcp.as_ref().or_else(|| lent_tcp.then_some(&self.0.link))?;
        Some(link.url_of(database))
    }

    /// The URL of a database through a proxy that passes bytes on to this server. It may hold a password. None when
    /// the server's own URL is of a form that has no place for another address.
    #[must_use]
    pub fn url_through(&self, database: &str, proxy: SocketAddr) -> Option<String> {
        self.0.link.url_through(database, proxy)
    }

    /// The socket that the server listens on, for a proxy in front of it. None when it is reached over TCP.
    #[must_use]
    pub fn socket(&self) -> Option<PathBuf> {
        let options = self.0.link.options();
        Some(options.get_socket()?.join(format!(".s.PGSQL.{}", options.get_port())))
    }

    /// The URL to manage the server by: the database that the user named, else `postgres`.
    #[must_use]
    pub fn admin_url(&self) -> &str {
        self.0.link.url().as_str()
    }

    /// False for the user's own server, which must be left as it was found.
    #[must_use]
    pub fn is_ours(&self) -> bool {
        !matches!(self.0.place, Place::Lent)
    }

    /// Stops the server where it is, for an outage of the length that the caller wants.
    pub async fn halt(&self, how: Halt) -> Result<(), PostgresError> {
        match &self.0.place {
            Place::Lent => Err(PostgresError::NotOurs { place: self.place().to_owned() }),
            Place::Local(cluster) => cluster.halt(how).await,
            #[cfg(feature = "testcontainers")]
            Place::Docker(container) => container.halt(how).await,
        }
    }

    /// Starts the server again at the same place; returns when it takes connections.
    pub async fn resume(&self) -> Result<(), PostgresError> {
        match &self.0.place {
            Place::Lent => Err(PostgresError::NotOurs { place: self.place().to_owned() }),
            Place::Local(cluster) => cluster.resume().await,
            #[cfg(feature = "testcontainers")]
            Place::Docker(container) => container.resume().await,
        }
    }

    /// [`halt`](Self::halt) and [`resume`](Self::resume).
    pub async fn restart(&self, how: Halt) -> Result<(), PostgresError> {
        self.halt(how).await?;
        self.resume().await
    }

    /// Drops every connection to a database, as an administrator or a failing network would. How many there were.
    pub async fn terminate_backends(&self, database: &str) -> Result<u64, PostgresError> {
        let mut admin = self.0.link.connect().await?;
        let ended: i64 = sqlx::query_scalar(
            "SELECT count(*) FILTER (WHERE pg_terminate_backend(pid)) FROM pg_stat_activity \
             WHERE datname = $1 AND pid <> pg_backend_pid()",
        )
        .bind(database)
        .fetch_one(&mut admin)
        .await
        .map_err(query_error(format!("ending the connections to {database}")))?;
        drop(admin.close().await);
        Ok(ended.unsigned_abs())
    }

    pub(super) fn place_of(&self) -> &Place {
        &self.0.place
    }

    pub(super) fn link(&self) -> &Link {
        &self.0.link
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Server({})", self.describe())
    }
}
