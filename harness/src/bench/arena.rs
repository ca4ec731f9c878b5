//! A cluster to measure on: its tables, its contenders, its counters, and pgbench beside it.

use std::{str::FromStr as _, time::Duration};

use sqlx::{ConnectOptions as _, Connection as _, PgConnection, postgres::PgConnectOptions};

use super::{
    Block, Calls, ClaimForm, Contender, Course, Figures, Load, Meter, Pace, Pgbench, Script, Strategy, Table,
    Unsound, Venue, Work, call_all, contender::open, judge, judge::span_ns, judge_calls, race,
};

use crate::fail::Fault;

/// Why a block came to nothing.
#[derive(Debug, thiserror::Error)]
pub enum Trouble {
    /// What it measured can't be spoken of.
    #[error(transparent)]
    Unsound(#[from] Unsound),
    /// The database failed.
    #[error("the database failed: {0}")]
    Database(#[from] sqlx::Error),
    /// The service under test can't be measured.
    #[error(transparent)]
    Target(#[from] Fault),
}

/// How large a block is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effort {
    /// Decisions, or calls of each caller.
    pub count: i64,
    /// Time after which nothing new begins.
    pub within: Duration,
    /// How attempts follow each other.
    pub load: Load,
    /// How contenders keep together; callers who claim keys always go at their own pace.
    pub pace: Pace,
}

/// How an arena is set up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setup {
    /// `scratch`, `durable` or `lent`.
    pub cluster: &'static str,
    /// Whether nobody else writes there, so that the server's counters tell of us alone.
    pub ours: bool,
    /// The most contenders at a time.
    pub most: u32,
    /// Rows that are there before anything is measured.
    pub rows: i64,
    /// Whether pgbench is to stand beside.
    pub limit: bool,
}

/// A cluster to measure on.
#[derive(Debug)]
pub struct Arena {
    /// How it was set up.
    pub setup: Setup,
    /// pgbench, or why there is none.
    pub pgbench: Result<Pgbench, String>,
    admin: PgConnection,
    table: Table,
    meter: Option<Meter>,
    idle: Vec<PgConnection>,
}

impl Arena {
    /// Sets everything up in an empty database.
    pub async fn open(url: &str, setup: Setup) -> Result<Self, Trouble> {
        let options = PgConnectOptions::from_str(url)?.disable_statement_logging();
        let mut admin = PgConnection::connect_with(&options).await?;
        let table = Table::make(&mut admin, setup.rows).await?;
        let meter = if setup.ours { Some(Meter::open(&options).await?) } else { None };
        let mut idle = Vec::new();
        for _ in 0..setup.most {
            idle.push(open(&options).await?);
        }
        let pgbench = if setup.limit {
            Pgbench::find(url, &options).await
        } else {
            Err("it was not asked for".to_owned())
        };
        Ok(Self { setup, pgbench, admin, table, meter, idle })
    }

    /// The number before the first of the jobs to race for.
    async fn lay_out(&mut self, strategy: Strategy, count: i64) -> sqlx::Result<i64> {
        if strategy.shape().own_table {
            return Ok(self.table.numbers(count));
        }
        self.table.jobs(&mut self.admin, count).await
    }

    async fn decide(
        &mut self,
        strategy: Strategy,
        contenders: u32,
        effort: Effort,
    ) -> Result<Figures, Trouble> {
        let shape = strategy.shape();
        let before = self.lay_out(strategy, effort.count).await?;
        let racers =
            (0..contenders).zip(self.take(contenders)).map(|(number, it)| Contender::new(number, it));
        let racers: Vec<Contender> = racers.collect();
        let then = self.read().await?;
        let Effort { count, within, load, pace } = effort;
        let block = Block { before, count, within, load, pace };
        let (back, attempts) = race(racers, shape, block).await;
        let now = self.read().await?;
        for contender in back {
            // What the database did to us is no finding about the strategy.
            if let Some(broke) = contender.broke {
                return Err(broke.into());
            }
            self.idle.push(contender.connection);
        }
        let decided = Table::decided(&mut self.admin, shape.own_table, before, effort.count).await?;
        let all_decided = decided.len();
        let sound = judge(&attempts, &decided, contenders as usize, pace == Pace::Lockstep)?;
        let written = now.zip(then).map(|(now, then)| now.since(then).of_share(sound.jobs, all_decided));
        let busy_ns =
            if pace == Pace::Lockstep && load == Load::Closed { sound.busy_ns } else { sound.span_ns };
        Ok(Figures::of(&sound.attempts, (sound.jobs, busy_ns), sound.overlap, written))
    }

    async fn claim(&mut self, form: ClaimForm, calls: Calls, effort: Effort) -> Result<Figures, Trouble> {
        let all = effort.count * i64::from(calls.callers);
        let before = self.table.numbers(all);
        let callers = self.take(calls.callers);
        let then = self.read().await?;
        let Effort { count, within, load, .. } = effort;
        let block = Block { before, count, within, load, pace: Pace::Own };
        let (back, told) = call_all(callers, form, calls, block).await;
        let now = self.read().await?;
        self.idle.extend(back);
        let rows = Table::made(&mut self.admin, before, all).await?;
        // Nothing keeps callers in step: they are sure to meet at a key only when each asks for it more than once.
        let racing = calls.callers > 1 && calls.per_key >= 2 * i64::from(calls.callers);
        let overlap = judge_calls(&told, &rows, racing)?;
        let attempts: Vec<_> = told.iter().map(|told| told.attempt).collect();
        let written = now.zip(then).map(|(now, then)| now.since(then));
        Ok(Figures::of(&attempts, (attempts.len(), span_ns(&attempts)), overlap, written))
    }

    fn take(&mut self, wanted: u32) -> Vec<PgConnection> {
        let left = self.idle.len().saturating_sub(wanted as usize);
        self.idle.split_off(left)
    }

    async fn read(&mut self) -> sqlx::Result<Option<super::Written>> {
        match &mut self.meter {
            Some(meter) => Ok(Some(meter.read().await?)),
            None => Ok(None),
        }
    }

    /// Closes all connections.
    pub async fn close(self) {
        for connection in self.idle.into_iter().chain([self.admin]) {
            // The server notices anyway.
            drop(connection.close().await);
        }
    }
}

impl Venue for Arena {
    async fn play(&mut self, work: Work, contenders: u32, effort: Effort) -> Result<Figures, Trouble> {
        match work {
            Work::Decide(strategy) => self.decide(strategy, contenders, effort).await,
            Work::Claim(form, percent) => {
                let calls =
                    Calls::sharing(contenders, percent).unwrap_or(Calls { callers: contenders, per_key: 1 });
                self.claim(form, calls, effort).await
            }
            Work::Live(_) => Err(Unsound::Nothing.into()),
        }
    }

    async fn limit(
        &mut self,
        work: Work,
        contenders: u32,
        effort: Effort,
    ) -> Result<Result<f64, String>, Trouble> {
        let Ok(pgbench) = self.pgbench.clone() else { return Ok(Err(String::new())) };
        let calls_per_key = work.duplicates().and_then(|percent| Calls::sharing(contenders, percent));
        let mut course = Course {
            before: 0,
            count: effort.count,
            clients: contenders as usize,
            calls_per_key: calls_per_key.map_or(1, |calls| calls.per_key),
            within: effort.within * 20 + Duration::from_secs(20),
        };
        match work {
            Work::Decide(strategy) => {
                let shape = strategy.shape();
                course.before = self.lay_out(strategy, effort.count).await?;
                let rate = match pgbench.run(&Script::deciding(&shape), course).await {
                    // Each client tried each job.
                    Ok(rate) => rate / f64::from(contenders),
                    Err(why) => return Ok(Err(why)),
                };
                let decided =
                    Table::decided(&mut self.admin, shape.own_table, course.before, effort.count).await?;
                let again = decided.iter().find(|job| job.times != 1);
                if let Some(again) = again {
                    return Err(Unsound::DecidedAgain { job: again.job, times: again.times }.into());
                }
                if decided.len() != usize::try_from(effort.count).unwrap_or_default() {
                    return Err(Unsound::Lost { job: course.before }.into());
                }
                Ok(Ok(rate))
            }
            Work::Claim(form, _) => {
                course.before = self.table.numbers(effort.count * i64::from(contenders));
                Ok(pgbench.run(&Script::claiming(&form.shape()), course).await)
            }
            Work::Live(_) => Err(Unsound::Nothing.into()),
        }
    }

    fn has_limit(&self) -> bool {
        self.pgbench.is_ok()
    }
}
