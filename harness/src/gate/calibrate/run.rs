//! Does the measuring.

use std::{
    io,
    sync::Arc,
    time::{Duration, Instant as Moment},
};

use sqlx::{PgPool, postgres::PgPoolOptions};
use tokio::{sync::Barrier, task::JoinSet, time::Instant};

use super::{
    super::{
        ArrivalError, Client, LockError, LockKeeper, Loss, Origin, OriginError, Outcome, Patience, Prepared,
        Protocol, Timing, Unwatched, arrive_h1, arrive_h2,
    },
    Calibration, HitRate, Means, Spread,
    receiver::{Arrivals, BODY},
    scratch::Scratch,
    server::Server,
};

/// How many requests meet.
const SIZES: [usize; 2] = [2, 8];

/// How much is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Effort {
    /// Rounds for each figure.
    pub rounds: usize,
    /// The most that one figure may take: its rounds end here.
    pub each: Duration,
}

impl Default for Effort {
    fn default() -> Self {
        Self { rounds: 200, each: Duration::from_secs(4) }
    }
}

/// The measuring failed.
#[derive(Debug, thiserror::Error)]
pub enum CalibrateError {
    /// The measured service could not be started.
    #[error("no service to measure on could be started: {0}")]
    Server(#[from] io::Error),
    /// Its address is of no use.
    #[error(transparent)]
    Origin(#[from] OriginError),
    /// An arrival gate failed.
    #[error(transparent)]
    Arrival(#[from] ArrivalError),
    /// The lock gate failed.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// A request was lost, which on loopback means that the machine is out of something.
    #[error("a request to the measured service was lost: {0}")]
    Lost(#[from] Loss),
    /// The measured service answered with an error.
    #[error("the measured service answered {0}")]
    Status(u16),
    /// The database failed.
    #[error("the database to measure with failed: {0}; the role must be allowed to create a schema")]
    Database(#[from] sqlx::Error),
    /// A task of ours died.
    #[error("a sending task died, which is a bug in onejob")]
    Died,
}

/// Measures the gates. `database` is the URL of a database in which a schema may be made and dropped again; without one
/// only arrivals are measured.
///
/// # Errors
/// [`CalibrateError`].
pub async fn calibrate(effort: Effort, database: Option<&str>) -> Result<Calibration, CalibrateError> {
    let spreads = spreads(effort).await?;
    let hits = match database {
        Some(url) => {
            let scratch = Scratch::make(url).await?;
            let measured = hits(effort, &scratch).await;
            let dropped = scratch.remove().await;
            let hits = measured?;
            dropped?;
            hits
        }
        None => Vec::new(),
    };
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    Ok(Calibration { processors, spreads, hits })
}

async fn spreads(effort: Effort) -> Result<Vec<Spread>, CalibrateError> {
    let arrivals = Arrivals::default();
    let h1 = Server::noting(Protocol::H1, &arrivals)?;
    let h2 = Server::noting(Protocol::H2, &arrivals)?;
    let mut spreads = Vec::new();
    for requests in SIZES {
        for means in [Means::Barrier, Means::ArrivalH1, Means::ArrivalH2] {
            let server = if means == Means::ArrivalH2 { &h2 } else { &h1 };
            let origin = Origin::resolve(&format!("http://{}", server.address)).await?;
            let mut rounds = Vec::with_capacity(effort.rounds);
            let until = Moment::now() + effort.each;
            // The first round pays for what is made once, and is not counted.
            for round in 0..=effort.rounds {
                arrivals.take();
                send(means, &origin, "/", requests).await?;
                let times = arrivals.take();
                if let (Some(first), Some(last), true) = (times.iter().min(), times.iter().max(), round > 0) {
                    rounds.push(*last - *first);
                }
                if Moment::now() > until {
                    break;
                }
            }
            spreads.push(Spread::of(means, requests, rounds));
        }
    }
    Ok(spreads)
}

async fn hits(effort: Effort, scratch: &Scratch) -> Result<Vec<HitRate>, CalibrateError> {
    // As many as meet, so that no request waits for a connection, and none is asked whether it still lives.
    let most = u32::try_from(SIZES[1]).unwrap_or(u32::MAX);
    let options = PgPoolOptions::new().max_connections(most).min_connections(most).test_before_acquire(false);
    let pool = PgPoolOptions::new().max_connections(1).connect_with(scratch.options.clone()).await?;
    let server = Server::checking_then_acting(options, scratch.options.clone())?;
    let origin = Origin::resolve(&format!("http://{}", server.address)).await?;
    let mut keeper = LockKeeper::connect(&scratch.url, &scratch.table(), Timing::default().within).await?;
    let mut rates = Vec::new();
    for requests in SIZES {
        for means in [Means::Barrier, Means::ArrivalH1, Means::ArrivalH2, Means::Lock] {
            let mut rounds = Vec::with_capacity(effort.rounds);
            let until = Moment::now() + effort.each;
            for round in 0..=effort.rounds {
                let key = format!("{means}-{requests}-{round}");
                let began = Moment::now();
                match means {
                    Means::Lock => keeper = meet_at_lock(keeper, &origin, &key, requests).await?,
                    means => send(means, &origin, &format!("/{key}"), requests).await?,
                }
                let took = began.elapsed();
                if round > 0 {
                    rounds.push((took, made(&pool, &key).await? > 1));
                }
                if Moment::now() > until {
                    break;
                }
            }
            rates.push(HitRate::of(means, requests, &rounds));
        }
    }
    pool.close().await;
    Ok(rates)
}

async fn made(pool: &PgPool, key: &str) -> sqlx::Result<i64> {
    sqlx::query_scalar("SELECT count(*) FROM jobs WHERE key = $1").bind(key).fetch_one(pool).await
}

async fn send(means: Means, origin: &Origin, path: &str, requests: usize) -> Result<(), CalibrateError> {
    let prepared = vec![request(path); requests];
    let watch = Unwatched::shared();
    let outcomes = match means {
        Means::ArrivalH1 => arrive_h1(origin, prepared, Timing::default(), watch).await?.outcomes,
        Means::ArrivalH2 => arrive_h2(origin, prepared, Timing::default(), watch).await?.outcomes,
        Means::Barrier | Means::Lock => from_barrier(origin, prepared).await?,
    };
    judge(outcomes)
}

fn judge(outcomes: Vec<Outcome>) -> Result<(), CalibrateError> {
    for outcome in outcomes {
        let answer = outcome?;
        if answer.status >= 300 {
            return Err(CalibrateError::Status(answer.status));
        }
    }
    Ok(())
}

fn request(path: &str) -> Prepared {
    let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
    Prepared { method: "POST".to_owned(), path: path.to_owned(), headers, body: BODY.to_vec() }
}

/// What a careful test without a gate does: warm connections, a barrier, and then everybody sends.
async fn from_barrier(origin: &Origin, requests: Vec<Prepared>) -> Result<Vec<Outcome>, CalibrateError> {
    let barrier = Arc::new(Barrier::new(requests.len()));
    let deadline = Instant::now() + Timing::default().within;
    let mut tasks = JoinSet::new();
    for request in requests {
        let client = Client::new(origin.clone(), Protocol::H1);
        let barrier = Arc::clone(&barrier);
        let mut lane = client.connect(deadline).await?;
        tasks.spawn(async move {
            barrier.wait().await;
            lane.send(&request, deadline, || {}).await
        });
    }
    joined(tasks).await
}

async fn joined(mut tasks: JoinSet<Outcome>) -> Result<Vec<Outcome>, CalibrateError> {
    let mut outcomes = Vec::with_capacity(tasks.len());
    while let Some(joined) = tasks.join_next().await {
        outcomes.push(joined.map_err(|_| CalibrateError::Died)?);
    }
    Ok(outcomes)
}

async fn meet_at_lock(
    keeper: LockKeeper,
    origin: &Origin,
    key: &str,
    requests: usize,
) -> Result<LockKeeper, CalibrateError> {
    let within = Timing::default().within;
    let deadline = Instant::now() + within;
    let mut gate = keeper.arm(within).await?;
    let mut tasks = JoinSet::new();
    for _ in 0..requests {
        let client = Client::new(origin.clone(), Protocol::H1);
        let request = request(&format!("/{key}"));
        tasks.spawn(async move { client.send(&request, deadline, || {}).await });
    }
    let expected = u32::try_from(requests).unwrap_or(u32::MAX);
    // This service sends every request this far, so a pause means that the machine is busy and not that nobody comes.
    let patience = Patience { quiet: Duration::from_secs(1), ..Patience::default() };
    gate.wait_for(expected, patience, deadline).await?;
    let keeper = gate.open().await?;
    judge(joined(tasks).await?)?;
    Ok(keeper)
}
