//! `onejob bench lifecycle`

use std::{collections::BTreeMap, time::Instant};

use onejob_reports::{
    bench::{BENCH_SCHEMA_VERSION, BenchReport, Limit, Subject},
    exit::ExitCode,
};

use super::{database::broke, flags::LifecycleArgs, output::Output, progress::Progress};
use crate::{
    bench::{Broke, Budget, Campaign, Life, Load, Point, Service, Trouble, Work, campaign, row},
    cli::{args::Global, common},
    engine,
    fail::Fault,
};

const LIVES: [Life; 3] = [Life::Create, Life::Duplicate, Life::ToResult];

pub(super) fn lifecycle(global: &Global, args: &LifecycleArgs) -> Result<ExitCode, Fault> {
    let output = Output::prepare(&args.output, Subject::Lifecycle)?;
    let target = common::load_target(args.target.as_deref())?;
    let (name, hidden) = (target.target.name.clone(), target.hidden.clone());
    let runtime = common::runtime()?;
    let report = runtime.block_on(async {
        let (began, started_at) = (Instant::now(), jiff::Timestamp::now().to_string());
        let stop = common::stop_on_signals();
        let leash = common::leash()?;
        let ground = common::Ground::prepare(&args.postgres, 1, &target, &leash).await?;
        let reads = target.target.read.is_some();
        let grounds = ground.grounds(target, &leash, &[])?;
        engine::baseline(&grounds).await?;
        let mut services = [Service::open(&grounds, args.replicas as usize).await?];
        let points = points(args, reads);
        let mut progress = Progress::new(global);
        let run =
            campaign(&mut services, &points, budget(args), &|| *stop.borrow(), &mut |at| progress.tell(at))
                .await;
        progress.end();
        for service in services {
            service.close().await;
        }
        let database = ground.database();
        ground.end().await?;
        let run = match run {
            Err(Broke { point, trouble: Trouble::Unsound(unsound) }) if unsound.is_of_the_target() => {
                return Ok(Err(format!("there are no figures: {point}: {unsound}")));
            }
            run => run.map_err(broke)?,
        };
        let (rows, not_measured) = rows(args, &points, &run);
        Ok::<_, Fault>(Ok(BenchReport {
            schema_version: BENCH_SCHEMA_VERSION,
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            subject: Subject::Lifecycle,
            command: super::output::command(),
            started_at,
            duration_us: u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX),
            interrupted: run.stopped,
            not_measured,
            processors: common::processors(),
            databases: database.into_iter().collect(),
            settings: settings(args, &name),
            limit: limit(args),
            notes: notes(reads),
            rows,
            comparison: None,
        }))
    });
    runtime.shutdown_background();
    match report.map_err(|fault| fault.hiding(&hidden))? {
        Ok(report) => output.write(global, report),
        Err(broken) => {
            // No fault of onejob's or of its user's: the verdict on the target, as a scenario would give it.
            eprintln!("{}", hidden.redact(&broken));
            eprintln!("`onejob run` finds out which situation breaks it, and shows it step by step");
            Ok(ExitCode::BrokenPromise)
        }
    }
}

fn points(args: &LifecycleArgs, reads: bool) -> Vec<Point> {
    let lives = LIVES.iter().filter(|life| reads || **life != Life::ToResult);
    let of = |contenders: u32| {
        lives.clone().map(move |life| Point { work: Work::Live(*life), contenders, arena: 0 })
    };
    args.contenders.iter().flat_map(|contenders| of(*contenders)).collect()
}

fn load(args: &LifecycleArgs) -> Load {
    args.rate.map_or(Load::Closed, |rate| Load::Open(f64::from(rate.get())))
}

fn budget(args: &LifecycleArgs) -> Budget {
    Budget {
        repeats: args.repeats as usize,
        count: i64::from(args.count),
        time: args.time.0,
        load: load(args),
    }
}

fn rows(
    args: &LifecycleArgs,
    points: &[Point],
    run: &Campaign,
) -> (Vec<onejob_reports::bench::Row>, Vec<String>) {
    let (mut rows, mut missing) = (Vec::new(), Vec::new());
    for (point, measured) in points.iter().zip(&run.measured) {
        match row(point, "target", load(args), measured, &[]) {
            Some(row) => rows.push(row),
            None => missing.push(format!("{point} target")),
        }
    }
    (rows, missing)
}

fn settings(args: &LifecycleArgs, target: &str) -> BTreeMap<String, String> {
    let mut settings = BTreeMap::from([
        ("target".to_owned(), target.to_owned()),
        ("replicas".to_owned(), args.replicas.to_string()),
        ("count".to_owned(), args.count.to_string()),
        ("for".to_owned(), args.time.to_string()),
        ("repeats".to_owned(), args.repeats.to_string()),
    ]);
    settings.extend(args.rate.map(|rate| ("rate".to_owned(), rate.to_string())));
    settings
}

fn limit(args: &LifecycleArgs) -> Limit {
    if args.rate.is_some() {
        let why = "in an open loop the rate is given, and says nothing about a limit".to_owned();
        return Limit::Absent { why };
    }
    Limit::EmptyExchange
}

fn notes(reads: bool) -> Vec<String> {
    let mut notes = vec![
        "create-to-result looks at a job every 2 ms at first and every 20 ms later: shorter lives than that are not told \
         apart"
            .to_owned(),
    ];
    if !reads {
        notes
            .push("the target can't be asked for a job, so lives to the result were not measured".to_owned());
    }
    if cfg!(debug_assertions) {
        notes.push(
            "this program was built without optimisation, and so is the reference service in it".to_owned(),
        );
    }
    notes
}
