//! `onejob explore`

use std::{
    io::{self, Write as _},
    time::{Duration, Instant},
};

use onejob_reports::{
    exit::ExitCode,
    explore::{self, ExploreReport},
};
use serde_json::json;
use tokio::sync::watch;

use super::{
    args::{ExploreArgs, Global, ListFormat},
    common::{self, Ground, load_target, stop_on_signals},
    explored,
    run::check_defects,
    sheets::SheetOutputs,
};
use crate::{
    engine,
    explore::{Ability, Effort, Failure, Hunt, Shrunk, Theatre, digest, hunt, shrink},
    fail::Fault,
};

/// How long to look where nobody says.
const BUDGET: Duration = Duration::from_mins(1);
/// Plans whose digest is told.
const DIGESTED: u64 = 64;
/// Between two lines of progress.
const TELL_EVERY: Duration = Duration::from_secs(5);

pub(super) fn explore(global: &Global, args: &ExploreArgs) -> Result<ExitCode, Fault> {
    let outputs = SheetOutputs::parse(&args.report)?;
    let target = load_target(args.target.as_deref())?;
    check_defects(&target, args.target.is_none(), &args.defect)?;
    let hidden = target.hidden.clone();
    let seed = args.seed.unwrap_or_else(random_seed);
    let ability = Ability::of(&target, args.target.is_none());
    let sum = digest(seed, DIGESTED, &ability);
    if !global.quiet {
        talk!("seed {seed}; digest of its first {DIGESTED} plans: {sum}");
    }
    let parallel = match (&target.target.command, args.jobs) {
        // One service and one double for all: a plan must not see another's calls.
        (None, _) => 1,
        (Some(_), Some(jobs)) => usize::from(jobs),
        (Some(_), None) => 3 * common::processors(),
    };
    let effort = Effort {
        seed,
        from: 0,
        budget: args.budget.map(|span| span.0).or(args.plans.is_none().then_some(BUDGET)),
        plans: args.plans,
        parallel,
    };
    let frame = explored::frame(args, &target.target.name, seed, (sum, DIGESTED));
    let began = Instant::now();
    let runtime = common::runtime()?;
    let outcome = runtime.block_on(async {
        let stop = stop_on_signals();
        let leash = common::leash()?;
        let ground = Ground::prepare(&args.postgres, parallel, &target, &leash).await?;
        let database = ground.database();
        let grounds = ground.grounds(target, &leash, &args.defect)?;
        engine::baseline(&grounds).await?;
        let theatre = Theatre::new(grounds, ability);
        let (found, failures) = look(&theatre, effort, global.quiet, &stop).await;
        theatre.close().await;
        ground.end().await?;
        Ok::<_, Fault>((database, found, failures))
    });
    runtime.shutdown_background();
    let (database, found, failures) = outcome.map_err(|fault| fault.hiding(&hidden))?;
    let mut failures = failures
        .iter()
        .map(|found| explored::failure(args, seed, found, &hidden))
        .collect::<Result<Vec<_>, _>>()?;
    let others = failures.split_off(failures.len().min(1));
    let report = ExploreReport {
        duration_us: u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX),
        database,
        failure: failures.pop(),
        others,
        ..explored::found(frame, &found)
    };
    let secrets = common::secrets(&hidden);
    let report = secrets.exploration(report);
    let json = json!(report);
    outputs.write(explore::sheet(&report), json.clone(), &secrets)?;
    let mut out = io::stdout().lock();
    // A closed pipe has seen enough; the exit code is what CI reads.
    let _ = match args.format {
        ListFormat::Json => writeln!(out, "{json:#}"),
        ListFormat::Text => out.write_all(explore::text(&report).as_bytes()),
    };
    drop(out);
    conclude(found, report.failure.is_some())
}

/// Hunts until a failure is found that shows every time, or time is up. The failures come with the surest first.
async fn look(
    theatre: &Theatre,
    effort: Effort,
    quiet: bool,
    stop: &watch::Receiver<bool>,
) -> (Hunt, Vec<(Failure, Shrunk)>) {
    let mut found = Hunt::default();
    let mut failures: Vec<(Failure, Shrunk)> = Vec::new();
    let mut left = effort;
    let hidden = &theatre.grounds().target.hidden;
    let say = |line: String| {
        if !quiet {
            talk!("{}", hidden.redact(&line));
        }
    };
    loop {
        let began = Instant::now();
        hunt(theatre, left, &mut found, &mut progress(quiet), stop.clone()).await;
        left.budget = left.budget.map(|budget| budget.saturating_sub(began.elapsed()));
        let Some(failure) = found.failure.take() else { break };
        say(format!(
            "plan {} broke a promise: {}: {}",
            failure.plan.index, failure.broken.promise, failure.broken.sentence
        ));
        let mut tell =
            |steps: usize, tried: u32| say(format!("shrunk to {steps} steps, {tried} candidates tried"));
        let shrunk = shrink(theatre, &failure, effort.parallel, &mut tell, stop.clone()).await;
        left.from = failure.plan.index + 1;
        let sure = 2 * shrunk.failed > shrunk.trials;
        failures.push((failure, shrunk));
        if sure || found.stopped || *stop.borrow() {
            break;
        }
        say("it shows only now and then: looking on for one that shows every time".to_owned());
    }
    // Of those that show equally often the earliest stays first.
    failures.sort_by_key(|(_, shrunk)| std::cmp::Reverse(shrunk.failed));
    (found, failures)
}

fn conclude(found: Hunt, broke: bool) -> Result<ExitCode, Fault> {
    if broke {
        return Ok(ExitCode::BrokenPromise);
    }
    if found.stopped {
        return Ok(ExitCode::Interrupted);
    }
    match found.faults.into_iter().next() {
        Some((_, fault)) => Err(fault),
        None if found.played == 0 => Ok(ExitCode::NothingSelected),
        None => Ok(ExitCode::Success),
    }
}

fn random_seed() -> u64 {
    // Six digits are easy to say and to type again.
    u64::try_from(uuid::Uuid::new_v4().as_u128() % 1_000_000).unwrap_or_default()
}

fn progress(quiet: bool) -> impl FnMut(&Hunt) {
    let began = Instant::now();
    let mut told = began;
    move |hunt: &Hunt| {
        if !quiet && told.elapsed() >= TELL_EVERY {
            told = Instant::now();
            talk!(
                "{:>4} s  {} plans, {} of them unclear, nothing broken",
                began.elapsed().as_secs(),
                hunt.played,
                hunt.unclear
            );
        }
    }
}
