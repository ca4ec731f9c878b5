//! A second server that follows the first, and takes its place.

use std::{fs, net::SocketAddr, time::Duration};

use sqlx::Connection as _;
use tokio::time::Instant;

use super::{
    Environment, Halt, OwnServer, PostgresError, Server, StartOptions, cluster::Cluster, link::query_error,
    server::Place, settings::ROLE,
};
use crate::leash::Leash;

const CAUGHT_UP_WITHIN: Duration = Duration::from_secs(20);
/// The primary tells nobody when its standby has caught up.
const LOOK: Duration = Duration::from_millis(2);

/// What a server that is to be crashed needs besides. What was not waited for stays unwritten for as long as possible:
/// a service that does not wait for its commits must lose them, and not by chance.
#[must_use]
pub fn own_server_options() -> StartOptions {
    let settings = [
        ("wal_level", "replica"),
        ("max_wal_senders", "4"),
        ("shared_buffers", "16MB"),
        ("wal_writer_delay", "10s"),
        ("wal_writer_flush_after", "128MB"),
        ("wal_retrieve_retry_interval", "50ms"),
        ("autovacuum", "off"),
    ];
    StartOptions {
        max_connections: 80,
        settings: settings.into_iter().map(|(name, value)| (name, value.to_owned())).collect(),
        ..StartOptions::default()
    }
}

impl Server {
    /// Gives a private server a standby that streams from it by way of `primary`, an address that leads to this server.
    /// This one is stopped for a moment. With [`OwnServer::SynchronousStandby`] its commits wait for the standby from
    /// then on.
    pub async fn standby(
        &self,
        kind: OwnServer,
        options: &StartOptions,
        leash: &Leash,
        primary: SocketAddr,
    ) -> Result<Self, PostgresError> {
        let Place::Local(cluster) = self.place_of() else {
            return Err(PostgresError::NotOurs { place: self.place().to_owned() });
        };
        cluster.halt(Halt::Clean).await?;
        let mut follower = options.clone();
        let from = format!("host={} port={} user={ROLE} sslmode=disable", primary.ip(), primary.port());
        follower.settings.push(("primary_conninfo", from));
        let copy = cluster.copied(&Environment::of_this_process(), &follower, leash).await?;
        copy.write("data/standby.signal", "")?;
        if kind == OwnServer::SynchronousStandby {
            cluster.append("data/postgresql.conf", "synchronous_standby_names = '*'\n")?;
        }
        cluster.resume().await?;
        copy.resume().await?;
        let standby = Self::of_cluster(copy, &follower).await?;
        standby.has_caught_up_with(self).await?;
        Ok(standby)
    }

    /// Returns when this standby has all that the primary has written.
    pub async fn has_caught_up_with(&self, primary: &Self) -> Result<(), PostgresError> {
        let asking = || query_error("asking how far the standby is");
        let mut there = primary.link().connect().await?;
        let mut here = self.link().connect().await?;
        let written: String = sqlx::query_scalar("SELECT pg_current_wal_flush_lsn()::text")
            .fetch_one(&mut there)
            .await
            .map_err(asking())?;
        let deadline = Instant::now() + CAUGHT_UP_WITHIN;
        let mut streams = false;
        while Instant::now() < deadline {
            // Only a standby that streams gets what is written from now on.
            streams = streams
                || sqlx::query_scalar(
                    "SELECT EXISTS (SELECT FROM pg_stat_replication WHERE state = 'streaming')",
                )
                .fetch_one(&mut there)
                .await
                .map_err(asking())?;
            let has: bool =
                sqlx::query_scalar("SELECT coalesce(pg_last_wal_replay_lsn() >= $1::pg_lsn, false)")
                    .bind(&written)
                    .fetch_one(&mut here)
                    .await
                    .map_err(asking())?;
            if streams && has {
                drop((there.close().await, here.close().await));
                return Ok(());
            }
            tokio::time::sleep(LOOK).await;
        }
        Err(PostgresError::Cluster {
            what: "did not catch up with its primary".to_owned(),
            log: String::new(),
        })
    }

    /// Makes a standby a primary; returns when it takes writes.
    pub async fn promote(&self) -> Result<(), PostgresError> {
        let mut admin = self.link().connect().await?;
        let promoted: bool = sqlx::query_scalar("SELECT pg_promote(true, 30)")
            .fetch_one(&mut admin)
            .await
            .map_err(query_error("promoting the standby"))?;
        drop(admin.close().await);
        if promoted {
            return Ok(());
        }
        Err(PostgresError::Cluster { what: "was not promoted in time".to_owned(), log: String::new() })
    }
}

impl Cluster {
    /// A copy of this cluster, which must be stopped; not started yet.
    async fn copied(
        &self,
        environment: &Environment,
        options: &StartOptions,
        leash: &Leash,
    ) -> Result<Self, PostgresError> {
        let (environment, options, leash) = (environment.clone(), options.clone(), leash.clone());
        let (data, programs) = (self.data(), self.programs().clone());
        super::blocking::blocking(move || Self::copy_of(&data, programs, &environment, &options, &leash))
            .await
    }

    fn write(&self, name: &str, text: &str) -> Result<(), PostgresError> {
        let path = self.socket_folder().join(name);
        fs::write(&path, text)
            .and_then(|()| self.give(&path))
            .map_err(|cause| PostgresError::Folder { path, cause })
    }

    fn append(&self, name: &str, text: &str) -> Result<(), PostgresError> {
        use std::io::Write as _;

        let path = self.socket_folder().join(name);
        let appended = fs::File::options().append(true).open(&path);
        appended
            .and_then(|mut file| file.write_all(text.as_bytes()))
            .map_err(|cause| PostgresError::Folder { path, cause })
    }
}
