//! What `bench cas` and `bench claim` have in common: clusters, a campaign, a report.

use std::{collections::BTreeMap, time::Instant};

use onejob_reports::{
    bench::{BENCH_SCHEMA_VERSION, BenchReport, Limit, Subject},
    exit::ExitCode,
};

use super::{
    flags::{ClusterKind, MeasureArgs},
    output::Output,
    progress::Progress,
};
use crate::{
    bench::{Arena, Broke, Budget, Campaign, Load, Point, Setup, Trouble, Work, campaign, row},
    cli::{args::Global, common},
    fail::{Code, Fault},
    leash::Leash,
    postgres::{Database, Databases, Server, Source, StartOptions},
};

/// Connections beside those of contenders and of pgbench's clients.
const BESIDE: u16 = 20;

pub(super) fn measure(global: &Global, args: &MeasureArgs, works: &[Work]) -> Result<ExitCode, Fault> {
    let subject = subject(works);
    let output = Output::prepare(&args.output, subject)?;
    let runtime = common::runtime()?;
    let report = runtime.block_on(async {
        let stop = common::stop_on_signals();
        let leash = common::leash()?;
        let mut grounds = Vec::new();
        for kind in clusters(args)? {
            grounds.push(Ground::prepare(args, kind, &leash).await?);
        }
        let report = on(&mut grounds, args, works, &|| *stop.borrow(), &mut Progress::new(global)).await;
        for ground in grounds {
            ground.end().await?;
        }
        report
    });
    runtime.shutdown_background();
    output.write(global, report?)
}

fn subject(works: &[Work]) -> Subject {
    if works.iter().any(|work| matches!(work, Work::Claim(..))) { Subject::Claim } else { Subject::Cas }
}

/// The clusters to measure on, by their names.
fn clusters(args: &MeasureArgs) -> Result<Vec<&'static str>, Fault> {
    let lent = matches!(
        Source::choose(args.postgres.postgres.name(), args.postgres.database_url.clone())?,
        Source::Url(_)
    );
    Ok(match args.cluster {
        _ if lent => vec!["lent"],
        ClusterKind::Scratch => vec!["scratch"],
        ClusterKind::Durable => vec!["durable"],
        ClusterKind::Both => vec!["scratch", "durable"],
    })
}

/// A server and the database on it that is measured in.
struct Ground {
    cluster: &'static str,
    server: Server,
    databases: Databases,
    database: Database,
    arena: Vec<Arena>,
}

impl Ground {
    async fn prepare(args: &MeasureArgs, cluster: &'static str, leash: &Leash) -> Result<Self, Fault> {
        let most = args.contenders.iter().copied().max().unwrap_or(1);
        let connections = u16::try_from(2 * most).unwrap_or(u16::MAX).saturating_add(BESIDE);
        let options = StartOptions {
            durable: cluster == "durable",
            max_connections: connections.max(StartOptions::default().max_connections),
            ..StartOptions::default()
        };
        let server = common::postgres(&args.postgres, leash, &options).await?;
        let databases = Databases::open(&server, leash, 0).await?;
        let database = databases.empty().await?;
        let setup = Setup {
            cluster,
            ours: server.is_ours(),
            most,
            rows: i64::from(args.rows),
            limit: !args.no_limit && args.rate.is_none(),
        };
        let arena = Arena::open(&database.url, setup).await.map_err(|error| lost(&error.to_string()))?;
        Ok(Self { cluster, server, databases, database, arena: vec![arena] })
    }

    async fn end(self) -> Result<(), Fault> {
        for arena in self.arena {
            arena.close().await;
        }
        self.database.let_go();
        Ok(self.databases.close().await?)
    }
}

async fn on(
    grounds: &mut [Ground],
    args: &MeasureArgs,
    works: &[Work],
    stopped: &dyn Fn() -> bool,
    progress: &mut Progress,
) -> Result<BenchReport, Fault> {
    let (began, started_at) = (Instant::now(), jiff::Timestamp::now().to_string());
    let load = args.rate.map_or(Load::Closed, |rate| Load::Open(f64::from(rate.get())));
    let mut points = Vec::new();
    for (arena, _) in grounds.iter().enumerate() {
        for contenders in &args.contenders {
            points.extend(works.iter().map(|work| Point { work: *work, contenders: *contenders, arena }));
        }
    }
    let budget =
        Budget { repeats: args.repeats as usize, count: i64::from(args.count), time: args.time.0, load };
    let mut arenas: Vec<Arena> = grounds.iter_mut().flat_map(|ground| ground.arena.drain(..)).collect();
    let outcome =
        campaign(&mut arenas, &points, budget, stopped, &mut |standing| progress.tell(standing)).await;
    progress.end();
    let limit = limit(&arenas, args);
    for (ground, arena) in grounds.iter_mut().zip(arenas) {
        ground.arena.push(arena);
    }
    let run = outcome.map_err(broke)?;
    let (rows, not_measured) = rows(&points, grounds, load, &run);
    Ok(BenchReport {
        schema_version: BENCH_SCHEMA_VERSION,
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        subject: subject(works),
        command: super::output::command(),
        started_at,
        duration_us: u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX),
        interrupted: run.stopped,
        not_measured,
        processors: common::processors(),
        databases: grounds
            .iter()
            .map(|ground| format!("{}: {}", ground.cluster, ground.server.describe()))
            .collect(),
        settings: settings(args),
        limit,
        notes: notes(args, &points, &run),
        rows,
        comparison: None,
    })
}

fn rows(
    points: &[Point],
    grounds: &[Ground],
    load: Load,
    run: &Campaign,
) -> (Vec<onejob_reports::bench::Row>, Vec<String>) {
    let (mut rows, mut missing) = (Vec::new(), Vec::new());
    for (point, measured) in points.iter().zip(&run.measured) {
        let cluster = grounds[point.arena].cluster;
        let plain = points.iter().position(|it| it.work.is_baseline() && it.stands_beside(point));
        let beside = plain.map(|plain| run.measured[plain].repeats.as_slice()).unwrap_or_default();
        let beside = if point.work.is_baseline() { &[] } else { beside };
        match row(point, cluster, load, measured, beside) {
            Some(row) => rows.push(row),
            None => missing.push(format!("{point} {cluster}")),
        }
    }
    (rows, missing)
}

fn limit(arenas: &[Arena], args: &MeasureArgs) -> Limit {
    let why = if args.no_limit {
        "it was not asked for".to_owned()
    } else if args.rate.is_some() {
        "in an open loop the rate is given, and says nothing about a limit".to_owned()
    } else {
        match arenas.first().map(|arena| &arena.pgbench) {
            Some(Ok(pgbench)) => return Limit::Pgbench { version: pgbench.version().to_owned() },
            Some(Err(why)) => why.clone(),
            None => "there was no database".to_owned(),
        }
    };
    Limit::Absent { why }
}

fn settings(args: &MeasureArgs) -> BTreeMap<String, String> {
    let mut settings = BTreeMap::from([
        ("count".to_owned(), args.count.to_string()),
        ("for".to_owned(), args.time.to_string()),
        ("repeats".to_owned(), args.repeats.to_string()),
        ("rows".to_owned(), args.rows.to_string()),
    ]);
    settings.extend(args.rate.map(|rate| ("rate".to_owned(), rate.to_string())));
    settings
}

fn notes(args: &MeasureArgs, points: &[Point], run: &Campaign) -> Vec<String> {
    let mut notes = Vec::new();
    let mut add = |note: String| {
        if !notes.contains(&note) {
            notes.push(note);
        }
    };
    for (point, measured) in points.iter().zip(&run.measured) {
        let short = args.repeats as usize - measured.repeats.len();
        if short > 0 && !measured.repeats.is_empty() {
            add(format!("{point}: time was up after {} of {} repeats", measured.repeats.len(), args.repeats));
        }
        if let Some(why) = point.work.without_limit().filter(|_| !args.no_limit && args.rate.is_none()) {
            add(format!("{}: no limit beside it: {why}", point.work.name()));
        }
        if let Some(why) = &measured.limit_failed {
            add(format!("{point}: the limit is missing in a repeat: {why}"));
        }
    }
    if cfg!(debug_assertions) {
        add("this program was built without optimisation: figures and ratios to pgbench are lower for it"
            .to_owned());
    }
    if args.contenders.contains(&1) {
        add("one alone is bimodal: whether its processor sleeps between two statements decides its rate"
            .to_owned());
    }
    notes
}

pub(super) fn broke(broke: Broke) -> Fault {
    let Broke { point, trouble } = broke;
    let told = format!("there are no figures: {point}: {trouble}");
    match trouble {
        Trouble::Target(fault) => fault,

        Trouble::Unsound(unsound) if unsound.is_broken() => Fault::new(
            Code::BenchUnsound,
            told,
            "do not use this strategy; if it is one of onejob's own list, please report it with the command and the \
             version of the server",
        ),
        Trouble::Unsound(_) => Fault::new(
            Code::BenchNoContention,
            told,
            "give it more time (--for) or more contenders, or a machine that does less besides",
        ),
        Trouble::Database(_) => lost(&told),
    }
}

fn lost(message: &str) -> Fault {
    Fault::new(
        Code::DatabaseLost,
        message,
        "see whether the server still runs, has disk space and enough max_connections",
    )
}
