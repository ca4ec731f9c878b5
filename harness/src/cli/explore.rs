//! `onejob explore`

use std::{
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use onejob_reports::exit::ExitCode;
use serde_json::json;
use tokio::sync::watch;

use super::{
    args::{ExploreArgs, Global, ListFormat},
    common::{self, Ground, load_target, stop_on_signals},
    run::check_defects,
};
use crate::{
    engine,
    explore::{
        ATTEMPT_EVENTS, ATTEMPT_STATES, Ability, Coverage, Effort, Failure, Hunt, JOB_EVENTS, JOB_STATES,
        Shrunk, Theatre, commented, digest, hunt, shrink, table,
    },
    fail::{Code, Fault},
};

/// How long to look where nobody says.
const BUDGET: Duration = Duration::from_mins(1);
/// Plans whose digest is told.
const DIGESTED: u64 = 64;
/// Between two lines of progress.
const TELL_EVERY: Duration = Duration::from_secs(5);

pub(super) fn explore(global: &Global, args: &ExploreArgs) -> Result<ExitCode, Fault> {
    let target = load_target(args.target.as_deref())?;
    check_defects(&target, args.target.is_none(), &args.defect)?;
    let hidden = target.hidden.clone();
    let seed = args.seed.unwrap_or_else(random_seed);
    let ability = Ability::of(&target, args.target.is_none());
    let sum = digest(seed, DIGESTED, &ability);
    if !global.quiet {
        eprintln!("seed {seed}; digest of its first {DIGESTED} plans: {sum}");
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
    let runtime = common::runtime()?;
    let outcome = runtime.block_on(async {
        let stop = stop_on_signals();
        let leash = common::leash()?;
        let ground = Ground::prepare(&args.postgres, parallel, &target, &leash).await?;
        let grounds = ground.grounds(target, &leash, &args.defect)?;
        engine::baseline(&grounds).await?;
        let theatre = Theatre::new(grounds, ability);
        let outcome = look(&theatre, effort, global.quiet, &stop).await;
        theatre.close().await;
        ground.end().await?;
        Ok::<_, Fault>(outcome)
    });
    runtime.shutdown_background();
    let (found, shrunk) = outcome.map_err(|fault| fault.hiding(&hidden))?;
    let file = match (&found.failure, &shrunk) {
        (Some(failure), Some(shrunk)) => {
            let folder = args.out.clone().unwrap_or_else(|| args.store.join("explored"));
            let page = page(args, seed, failure.plan.index, shrunk);
            Some(write_new(
                &folder,
                &format!("seed-{seed}-plan-{}", failure.plan.index),
                &hidden.redact(&page),
            )?)
        }
        _ => None,
    };
    let mut out = io::stdout().lock();
    // A closed pipe has seen enough; the exit code is what CI reads.
    let _ = match args.format {
        ListFormat::Json => {
            let value = as_json(seed, &sum, &found, shrunk.as_ref(), file.as_deref());
            writeln!(out, "{}", hidden.redact(&format!("{value:#}")))
        }
        ListFormat::Text => {
            out.write_all(hidden.redact(&as_text(args, &found, shrunk.as_ref(), file.as_deref())).as_bytes())
        }
    };
    drop(out);
    conclude(found)
}

/// Hunts until a failure is found that shows every time, or time is up; of those that show now and then, keeps the surest.
async fn look(
    theatre: &Theatre,
    effort: Effort,
    quiet: bool,
    stop: &watch::Receiver<bool>,
) -> (Hunt, Option<Shrunk>) {
    let mut found = Hunt::default();
    let mut best: Option<(Failure, Shrunk)> = None;
    let mut left = effort;
    let say = |line: String| {
        if !quiet {
            eprintln!("{line}");
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
        if best.as_ref().is_none_or(|(_, known)| shrunk.failed > known.failed) {
            best = Some((failure, shrunk));
        }
        if sure || found.stopped || *stop.borrow() {
            break;
        }
        say("it shows only now and then: looking on for one that shows every time".to_owned());
    }
    let (failure, shrunk) = best.unzip();
    found.failure = failure;
    (found, shrunk)
}

fn conclude(found: Hunt) -> Result<ExitCode, Fault> {
    if found.failure.is_some() {
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
            eprintln!(
                "{:>4} s  {} plans, {} of them unclear, nothing broken",
                began.elapsed().as_secs(),
                hunt.played,
                hunt.unclear
            );
        }
    }
}

/// The scenario file, with how it came about.
fn page(args: &ExploreArgs, seed: u64, index: u64, shrunk: &Shrunk) -> String {
    let mut scenario = shrunk.scenario.clone();
    let promise = shrunk.broken.promise.replace(':', " of ");
    scenario.title = format!("Found by exploration: {promise}");
    scenario.why.clone_from(&shrunk.broken.sentence);
    if args.target.is_none() {
        scenario.kills.clone_from(&args.defect);
    }
    let flags = flags(args);
    let head = [
        format!(
            "Found by `onejob explore --seed {seed}{flags}`: plan {index}, {} steps,",
            shrunk.steps_before
        ),
        format!("shrunk to {} by trying {} smaller ones.", scenario.step.len(), shrunk.tried),
        String::new(),
        format!("Broke the promise {promise}: {}", shrunk.broken.sentence),
        format!("One round of it failed {} of {} times at the end.", shrunk.failed, shrunk.trials),
        String::new(),
        format!("Replay it: onejob run --scenarios THIS-FILE{flags}"),
        String::new(),
    ];
    commented(&scenario, &head)
}

fn flags(args: &ExploreArgs) -> String {
    let target = args.target.iter().map(|target| format!(" --target {}", target.display()));
    target.chain(args.defect.iter().map(|defect| format!(" --defect {defect}"))).collect()
}

/// Writes a file that wasn't there; another name where it was.
fn write_new(folder: &Path, name: &str, page: &str) -> Result<PathBuf, Fault> {
    let unwritable = |path: &Path, error: io::Error| {
        Fault::new(
            Code::OutputUnwritable,
            format!("{} can't be written", path.display()),
            "give another folder with --out",
        )
        .because(error)
    };
    fs::create_dir_all(folder).map_err(|error| unwritable(folder, error))?;
    for number in 1_u32.. {
        let suffix = if number == 1 { String::new() } else { format!("-{number}") };
        let path = folder.join(format!("{name}{suffix}.toml"));
        match fs::File::create_new(&path) {
            Ok(mut file) => {
                file.write_all(page.as_bytes()).map_err(|error| unwritable(&path, error))?;
                return Ok(path);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(unwritable(&path, error)),
        }
    }
    Ok(folder.to_owned())
}

fn replay(args: &ExploreArgs, file: &Path) -> String {
    format!("onejob run --scenarios {}{}", file.display(), flags(args))
}

fn as_text(args: &ExploreArgs, found: &Hunt, shrunk: Option<&Shrunk>, file: Option<&Path>) -> String {
    use std::fmt::Write as _;
    let mut out = String::new();
    let Coverage { jobs, attempts } = &found.coverage;
    out.push_str(&table("job", jobs, &JOB_STATES, &JOB_EVENTS));
    out.push('\n');
    if attempts.0.is_empty() {
        out.push_str("The target's log tells of no attempts.\n\n");
    } else {
        out.push_str(&table("attempt", attempts, &ATTEMPT_STATES, &ATTEMPT_EVENTS));
        out.push('\n');
    }
    // Writing to a String can't fail.
    let _ = writeln!(out, "{} plans played, {} unclear", found.played, found.unclear);
    for (index, fault) in &found.faults {
        let _ = writeln!(out, "plan {index} could not be played: {}", fault.message());
    }
    match (&found.failure, shrunk, file) {
        (Some(failure), Some(shrunk), Some(file)) => {
            let _ = writeln!(out, "plan {} broke {}", failure.plan.index, shrunk.broken.promise);
            let _ = writeln!(out, "    {}", shrunk.broken.sentence);
            let _ = writeln!(
                out,
                "    {} steps, shrunk from {}; one round failed {} of {} times",
                shrunk.scenario.step.len(),
                shrunk.steps_before,
                shrunk.failed,
                shrunk.trials
            );
            let _ = writeln!(out, "    replay: {}", replay(args, file));
        }
        _ => out.push_str("no promise broke\n"),
    }
    out
}

fn as_json(
    seed: u64,
    sum: &str,
    found: &Hunt,
    shrunk: Option<&Shrunk>,
    file: Option<&Path>,
) -> serde_json::Value {
    let failure = found.failure.as_ref().zip(shrunk).map(|(failure, shrunk)| {
        json!({
            "plan": failure.plan.index,
            "promise": shrunk.broken.promise,
            "sentence": shrunk.broken.sentence,
            "steps": shrunk.scenario.step.len(),
            "steps_before": shrunk.steps_before,
            "failed": shrunk.failed,
            "trials": shrunk.trials,
            "rounds": shrunk.scenario.rounds,
            "file": file.map(|file| file.display().to_string()),
        })
    });
    json!({
        "seed": seed,
        "digest": sum,
        "digested": DIGESTED,
        "played": found.played,
        "unclear": found.unclear,
        "faults": found.faults.iter().map(|(index, fault)| json!({
            "plan": index, "code": fault.code().to_string(), "message": fault.message(),
        })).collect::<Vec<_>>(),
        "interrupted": found.stopped,
        "failure": failure,
        "coverage": { "jobs": found.coverage.jobs.list(), "attempts": found.coverage.attempts.list() },
    })
}
