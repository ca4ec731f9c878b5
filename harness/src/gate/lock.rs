//! The strongest gate: a lock in the service's database that every contender runs into.

use std::time::Duration;

use sqlx::{
    AssertSqlSafe, Connection as _, PgConnection, Row,
    postgres::{PgConnectOptions, types::Oid},
};
use tokio::time::{Instant, sleep};

/// How often Postgres is asked who waits.
const POLL: Duration = Duration::from_millis(1);

/// `SHARE ROW EXCLUSIVE` lets reads and `SELECT ... FOR UPDATE` pass and makes every write wait, so contenders get as far
/// as their decision: checks are done, nothing is written.
const LOCK: &str = "LOCK TABLE {} IN SHARE ROW EXCLUSIVE MODE";

/// The backends that wait, and then what is asked about them: `$ask` finds them in `waiters` joined with `queue`.
///
/// A backend waits for one lock at a time: either for ours, or behind somebody who does. Only those that wait for another
/// lock are asked whom they wait for, because that question costs.
macro_rules! of_those_who_wait {
    ($ask:literal) => {
        concat!(
            "\
    WITH RECURSIVE waiters AS MATERIALIZED ( \
        SELECT pid, bool_or(locktype = 'relation' AND relation = $1 \
                   AND database = (SELECT oid FROM pg_database WHERE datname = current_database())) AS at_gate \
          FROM pg_locks WHERE NOT granted AND pid <> pg_backend_pid() GROUP BY pid \
    ), queue(pid) AS ( \
        SELECT pid FROM waiters WHERE at_gate \
        UNION \
        SELECT w.pid FROM waiters w JOIN queue q ON NOT w.at_gate AND q.pid = ANY (pg_blocking_pids(w.pid)) \
    ) ",
            $ask
        )
    };
}

const WAITING: &str = of_those_who_wait!(
    "SELECT count(*) FILTER (WHERE at_gate), count(*) FILTER (WHERE NOT at_gate) FROM waiters JOIN queue USING (pid)"
);

/// The same, but of each kind only those that run one and the same statement, literals aside: requests that are alike run
/// the same one, and a worker of the service's that happens to write to the table runs another.
const WAITING_ALIKE: &str = of_those_who_wait!(
    ", alike AS ( \
        SELECT at_gate, count(*) AS backends FROM waiters JOIN queue USING (pid) LEFT JOIN pg_stat_activity USING (pid) \
         GROUP BY at_gate, regexp_replace(coalesce(query, ''), '''[^'']*''|[0-9]+', '?', 'g') \
    ) \
    SELECT coalesce(max(backends) FILTER (WHERE at_gate), 0), coalesce(max(backends) FILTER (WHERE NOT at_gate), 0) FROM alike"
);

/// Those whose statement inserts into the table, by an expression that finds such statements.
const WAITING_TO_INSERT: &str = of_those_who_wait!(
    "SELECT count(*) FILTER (WHERE at_gate), count(*) FILTER (WHERE NOT at_gate) \
       FROM waiters JOIN queue USING (pid) JOIN pg_stat_activity USING (pid) WHERE query ~* $2"
);

/// A table that nobody can write to until the gate opens.
///
/// It has a connection of its own. Dropping it closes that connection, at which Postgres rolls back: the gate opens.
#[derive(Debug)]
pub struct LockGate {
    keeper: LockKeeper,
}

/// A connection that locks one table, again and again: connecting anew takes longer than everything else about a gate.
#[derive(Debug)]
pub struct LockKeeper {
    connection: PgConnection,
    /// As the target file names it.
    table: String,
    /// Quoted by Postgres, with its schema.
    quoted: String,
    oid: Oid,
}

/// Who waits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Waiting {
    /// Backends that wait for the gate's own lock.
    pub at_gate: u32,
    /// Backends that wait for one that waits there: the service lets its requests meet on a lock of its own before.
    pub behind: u32,
}

impl Waiting {
    /// All of them.
    #[must_use]
    pub fn all(self) -> u32 {
        self.at_gate + self.behind
    }
}

/// How long is waited for contenders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// Time without a new one after which nobody else is expected: a service that takes one request after the other sends
    /// a single one this far.
    pub quiet: Duration,
    /// Time that is waited on after as many as expected are there. The service's own workers write to the table too, and
    /// one of them may stand in the place of the last contender.
    pub linger: Duration,
    /// Time without anybody at all after which it is given up.
    pub first: Duration,
    /// Count only those that run the same statement: the contenders are requests that are alike, and the service's own
    /// workers must not stand in the place of one.
    pub alike: bool,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            quiet: Duration::from_millis(50),
            linger: Duration::from_millis(3),
            first: Duration::from_secs(2),
            alike: false,
        }
    }
}

/// The gate can't be armed, or its connection broke.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// The database can't be reached.
    #[error("the lock gate can't connect to the service's database: {0}; see `[target.database]`")]
    Connect(#[source] sqlx::Error),
    /// There is no such table.
    #[error(
        "the service's database has no table `{table}`; set `jobs_table` under `[target.database]` to the table that every creation writes to, with its schema where that isn't on the search path"
    )]
    NoTable {
        /// As the target file names it.
        table: String,
    },
    /// Somebody else holds the table.
    #[error("the table `{table}` could not be locked within {within:?}: another transaction holds it")]
    Busy {
        /// As the target file names it.
        table: String,
        /// How long was waited.
        within: Duration,
    },
    /// The role may not lock.
    #[error(
        "the role may not lock `{table}`: {source}; give the harness a role that owns the table, or may write to it"
    )]
    Forbidden {
        /// As the target file names it.
        table: String,
        /// What Postgres says.
        source: sqlx::Error,
    },
    /// The statement found no row to lock.
    #[error(
        "`lock_job` under `[target.database]` found no row for job {job}: see what `$1` is compared with"
    )]
    NoRow {
        /// The job's id.
        job: String,
    },
    /// The statement was refused, or somebody else holds the row.
    #[error("the row of job {job} could not be locked: {source}; see `lock_job` under `[target.database]`")]
    Row {
        /// The job's id.
        job: String,
        /// What Postgres says.
        source: sqlx::Error,
    },
    /// The connection broke.
    #[error("the lock gate lost its database: {0}")]
    Broken(#[from] sqlx::Error),
}

impl LockKeeper {
    /// Connects and finds the table. `table` is a name as SQL has it: `jobs`, `app.jobs`, `"Jobs"`.
    ///
    /// # Errors
    /// [`LockError::Connect`], [`LockError::NoTable`].
    pub async fn connect(url: &str, table: &str, within: Duration) -> Result<Self, LockError> {
        let options: PgConnectOptions = url.parse().map_err(LockError::Connect)?;
        let options = options.application_name("onejob lock gate");
        let mut connection = tokio::time::timeout(within, PgConnection::connect_with(&options))
            .await
            .unwrap_or_else(|_| Err(sqlx::Error::Io(std::io::ErrorKind::TimedOut.into())))
            .map_err(LockError::Connect)?;
        let (oid, quoted) = find(&mut connection, table).await?;
        Ok(Self { connection, table: table.to_owned(), quoted, oid })
    }

    /// Locks the table.
    ///
    /// # Errors
    /// [`LockError::Busy`] where it isn't to be had within that time, [`LockError::Forbidden`], [`LockError::Broken`].
    pub async fn arm(mut self, within: Duration) -> Result<LockGate, LockError> {
        let patience = within.as_millis().max(1);
        let sql = format!(
            "BEGIN; SET LOCAL lock_timeout = {patience}; SET LOCAL idle_in_transaction_session_timeout = 0; {}",
            LOCK.replace("{}", &self.quoted)
        );
        // A number, and a name that Postgres itself has quoted.
        sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut self.connection).await.map_err(|source| {
            let table = self.table.clone();
            match code(&source).as_deref() {
                Some("55P03") => LockError::Busy { table, within },
                Some("42501") => LockError::Forbidden { table, source },
                _ => LockError::Broken(source),
            }
        })?;
        Ok(LockGate { keeper: self })
    }
}

impl LockGate {
    /// Connects and locks the table: [`LockKeeper::connect`] and [`LockKeeper::arm`] in one, for a gate that is needed once.
    ///
    /// # Errors
    /// [`LockError`]: no connection, no such table, no right to lock it, or not within that time.
    pub async fn arm(url: &str, table: &str, within: Duration) -> Result<Self, LockError> {
        LockKeeper::connect(url, table, within).await?.arm(within).await
    }

    /// Who waits at this moment.
    ///
    /// # Errors
    /// [`LockError::Broken`].
    pub async fn waiting(&mut self) -> Result<Waiting, LockError> {
        self.count(WAITING).await
    }

    /// Who waits with an insert into the table: requests that create, and none of the service's own workers.
    pub(crate) async fn waiting_to_insert(&mut self) -> Result<Waiting, LockError> {
        let statement = format!(r"insert\s+into\s+{}[\s(]", regex::escape(&self.keeper.table));
        sqlx::raw_sql("SELECT pg_stat_clear_snapshot()").execute(&mut self.keeper.connection).await?;
        let asked = sqlx::query_as(WAITING_TO_INSERT).bind(self.keeper.oid).bind(statement);
        Ok(waiting(asked.fetch_one(&mut self.keeper.connection).await?))
    }

    async fn waiting_alike(&mut self) -> Result<Waiting, LockError> {
        // Within a transaction Postgres shows what others run as it was at the first look, unless told to look anew.
        sqlx::raw_sql("SELECT pg_stat_clear_snapshot()").execute(&mut self.keeper.connection).await?;
        self.count(WAITING_ALIKE).await
    }

    async fn count(&mut self, query: &'static str) -> Result<Waiting, LockError> {
        let asked = sqlx::query_as(query).bind(self.keeper.oid);
        Ok(waiting(asked.fetch_one(&mut self.keeper.connection).await?))
    }

    /// Waits until that many contenders wait, or no more of them come, or the deadline.
    ///
    /// Postgres can't tell anybody that a backend begins to wait, so it is asked every millisecond: that is still a wait
    /// for an event, and it ends with it.
    ///
    /// # Errors
    /// [`LockError::Broken`].
    pub async fn wait_for(
        &mut self,
        expected: u32,
        patience: Patience,
        deadline: Instant,
    ) -> Result<Waiting, LockError> {
        let mut most = Waiting::default();
        let mut until = Instant::now() + patience.first;
        loop {
            let now = if patience.alike { self.waiting_alike().await? } else { self.waiting().await? };
            if now.all() > most.all() {
                let enough = now.all() >= expected;
                until = Instant::now() + if enough { patience.linger } else { patience.quiet };
                most = now;
            }
            if Instant::now() >= until.min(deadline) {
                return Ok(now);
            }
            sleep(POLL).await;
        }
    }

    /// Opens the gate: all contenders go on, in whatever order Postgres wakes them. What comes back can lock again.
    ///
    /// # Errors
    /// [`LockError::Broken`]; the gate is open all the same, because the connection is gone.
    pub async fn open(mut self) -> Result<LockKeeper, LockError> {
        sqlx::raw_sql("COMMIT").execute(&mut self.keeper.connection).await?;
        Ok(self.keeper)
    }
}

fn waiting((at_gate, behind): (i64, i64)) -> Waiting {
    let count = |backends: i64| u32::try_from(backends).unwrap_or(u32::MAX);
    Waiting { at_gate: count(at_gate), behind: count(behind) }
}

/// The table's number, and its name quoted with its schema.
async fn find(connection: &mut PgConnection, table: &str) -> Result<(Oid, String), LockError> {
    let missing = || LockError::NoTable { table: table.to_owned() };
    let found = sqlx::query(
        "SELECT c.oid, format('%I.%I', n.nspname, c.relname) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
          WHERE c.oid = to_regclass($1) AND c.relkind IN ('r', 'p')",
    )
    .bind(table)
    .fetch_optional(connection)
    .await;
    match found {
        Ok(Some(row)) => Ok((row.try_get(0)?, row.try_get(1)?)),
        Ok(None) => Err(missing()),
        // A text that can't be a name at all.
        Err(error) if matches!(code(&error).as_deref(), Some("42602" | "42601" | "0A000")) => Err(missing()),
        Err(error) => Err(error.into()),
    }
}

fn code(error: &sqlx::Error) -> Option<String> {
    error.as_database_error()?.code().map(std::borrow::Cow::into_owned)
}
