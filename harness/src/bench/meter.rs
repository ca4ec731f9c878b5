//! What the server wrote to its log, and how often it made the disk keep it.

use sqlx::{Connection as _, PgConnection, Row as _, postgres::PgConnectOptions};

/// Reads the server's counters.
#[derive(Debug)]
pub struct Meter {
    connection: PgConnection,
    syncs: Option<&'static str>,
}

/// What was written up to a moment, or between two.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Written {
    /// Bytes of the write-ahead log.
    pub bytes: f64,
    /// Flushes of it; absent on a server that flushes nothing or doesn't count.
    pub syncs: Option<f64>,
}

impl Meter {
    /// A meter over a connection of its own.
    pub async fn open(options: &PgConnectOptions) -> sqlx::Result<Self> {
        let mut connection = PgConnection::connect_with(options).await?;
        let row = sqlx::query(
            "SELECT current_setting('server_version_num')::int AS version, current_setting('fsync') = 'on' AS fsync",
        )
        .fetch_one(&mut connection)
        .await?;
        let (version, fsync): (i32, bool) = (row.try_get("version")?, row.try_get("fsync")?);
        // Counted in another place from 18 on; before 15 the counters are a second behind, which is as good as none.
        let syncs = match version {
            _ if !fsync => None,
            180_000.. => {
                Some("SELECT coalesce(sum(fsyncs), 0)::float8 AS syncs FROM pg_stat_io WHERE object = 'wal'")
            }
            150_000.. => Some("SELECT wal_sync::float8 AS syncs FROM pg_stat_wal"),
            _ => None,
        };
        Ok(Self { connection, syncs })
    }

    /// What was written so far. Whoever wrote must have flushed its statistics.
    pub async fn read(&mut self) -> sqlx::Result<Written> {
        let bytes = sqlx::query_scalar("SELECT (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::float8")
            .fetch_one(&mut self.connection)
            .await?;
        let syncs = match self.syncs {
            Some(sql) => Some(sqlx::query_scalar(sql).fetch_one(&mut self.connection).await?),
            None => None,
        };
        Ok(Written { bytes, syncs })
    }
}

impl Written {
    /// What was written since an earlier moment.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        let syncs = self.syncs.zip(earlier.syncs).map(|(now, then)| now - then);
        Self { bytes: self.bytes - earlier.bytes, syncs }
    }

    /// The share of it that belongs to some of all that wrote.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "blocks are short")]
    pub fn of_share(self, some: usize, all: usize) -> Self {
        let share = some as f64 / all.max(1) as f64;
        Self { bytes: self.bytes * share, syncs: self.syncs.map(|syncs| syncs * share) }
    }
}
