//! What `onejob explore` found, as its report and as scenario files.

use std::{
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use onejob_reports::explore::{self as report, EXPLORE_SCHEMA_VERSION, ExploreReport, Unplayed};

use super::args::ExploreArgs;
use crate::{
    engine::shell_word,
    explore::{Failure, Hunt, Shrunk, commented},
    fail::{Code, Fault},
    target::Hidden,
};

/// The report as far as it is known before anything is played.
pub(super) fn frame(
    args: &ExploreArgs,
    target: &str,
    seed: u64,
    (digest, digested): (String, u64),
) -> ExploreReport {
    let command = format!("onejob explore --seed {seed}{}", flags(args));
    ExploreReport {
        schema_version: EXPLORE_SCHEMA_VERSION,
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        command,
        started_at: jiff::Timestamp::now().to_string(),
        duration_us: 0,
        target: target.to_owned(),
        defects: args.defect.clone(),
        database: None,
        seed,
        digest,
        digested,
        played: 0,
        unclear: 0,
        faults: Vec::new(),
        interrupted: false,
        failure: None,
        others: Vec::new(),
        coverage: report::Coverage::default(),
    }
}

/// The same with what was played and reached.
pub(super) fn found(frame: ExploreReport, found: &Hunt) -> ExploreReport {
    let unplayed = |(plan, fault): &(u64, Fault)| Unplayed {
        plan: *plan,
        code: fault.code().to_string(),
        message: fault.message().to_owned(),
    };
    // With a budget of time alone it is known only now how many plans there were.
    let command = format!("{} --plans {}", frame.command, found.played + found.faults.len() as u64);
    ExploreReport {
        command,
        played: found.played,
        unclear: found.unclear,
        faults: found.faults.iter().map(unplayed).collect(),
        interrupted: found.stopped,
        coverage: found.coverage.shown(),
        ..frame
    }
}

/// A failure, with its scenario written where `--out` says.
pub(super) fn failure(
    args: &ExploreArgs,
    seed: u64,
    (failure, shrunk): &(Failure, Shrunk),
    hidden: &Hidden,
) -> Result<report::Failure, Fault> {
    let folder = args.out.clone().unwrap_or_else(|| args.store.join("explored"));
    let index = failure.plan.index;
    let scenario = hidden.redact(&page(args, seed, index, shrunk));
    let file = write_new(&folder, &format!("seed-{seed}-plan-{index}"), &scenario)?;
    Ok(report::Failure {
        plan: index,
        promise: shrunk.broken.promise.clone(),
        sentence: shrunk.broken.sentence.clone(),
        steps: shrunk.scenario.step.len(),
        steps_before: shrunk.steps_before,
        tried: shrunk.tried,
        failed: shrunk.failed,
        trials: shrunk.trials,
        rounds: shrunk.scenario.rounds,
        file: Some(file.display().to_string()),
        scenario,
        replay: replay(args, &file),
    })
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
    let target =
        args.target.iter().map(|target| format!(" --target {}", shell_word(&target.display().to_string())));
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
    format!("onejob run --scenarios {}{}", shell_word(&file.display().to_string()), flags(args))
}
