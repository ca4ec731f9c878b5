//! `onejob prove`

use std::{collections::BTreeSet, io::Write as _};

use onejob_reference::Defect;
use onejob_reports::{exit::ExitCode, redact::Secrets};

use super::{
    args::{Global, ListFormat, ProveArgs},
    common::{self, Ground, load, load_target, stop_on_signals},
    sheets::{self, SheetOutputs},
};
use crate::{
    engine::{self, Selection, plan},
    fail::{Code, Fault},
    prove::{Culprit, Effort, KillMatrix, News, Pace, Trial, prove as try_all, table},
};

/// A play mostly waits: for leases, for deadlines, for what never comes. Fewer leave processors idle.
const PLAYS_PER_PROCESSOR: usize = 5;

pub(super) fn prove(global: &Global, args: &ProveArgs) -> Result<ExitCode, Fault> {
    if let Some(target) = &args.target {
        return super::negate::negate(global, args, target);
    }
    let outputs = SheetOutputs::parse(&args.report)?;
    let target = load_target(None)?;
    let defects = culprits(&args.defect)?;
    let selection =
        Selection { filters: args.filter.clone(), tags: args.tag.clone(), ..Selection::default() };
    let cells = plan(load(&args.scenarios)?, &selection, &target.capabilities(), &target.settings);
    if cells.is_empty() {
        talk!("nothing is selected: `onejob list` shows the scenarios");
        return Ok(ExitCode::NothingSelected);
    }
    let every_defect = args.defect.is_empty();
    let parallel = args.jobs.map_or_else(|| PLAYS_PER_PROCESSOR * common::processors(), usize::from);
    let quiet = global.quiet;
    let notes = tempfile::tempdir().map_err(|error| {
        Fault::new(
            Code::OutputUnwritable,
            "no folder for notes could be made",
            "check TMPDIR and the space there",
        )
        .because(error)
    })?;
    let runtime = common::runtime()?;
    let matrix = runtime.block_on(async {
        let stop = stop_on_signals();
        let leash = common::leash()?;
        let ground = Ground::prepare(&args.postgres, parallel, &target, &leash).await?;
        let grounds = ground.grounds(target, &leash, &[])?;
        engine::baseline(&grounds).await?;
        let mut tell = |news: &News<'_>, pace: Pace| {
            // Thousands of pairs are out of reach, and took no time.
            let dull = matches!(news, News::Tried(_, _, Trial::NotReached));
            if !quiet && !dull {
                talk!("{}", line(news, pace));
            }
        };
        let effort =
            Effort { all: args.all, unreached: args.unreached, parallel, notes: notes.path().to_owned() };
        let matrix = try_all(&grounds, cells, defects, &effort, &mut tell, stop).await;
        ground.end().await?;
        Ok::<_, Fault>(matrix)
    })?;
    runtime.shutdown_background();
    outputs.write(sheets::kill_matrix(&matrix), serde_json::json!(matrix), &Secrets::new())?;
    let stdout = std::io::stdout();
    let width = common::term_options(global, &stdout).width;
    let mut out = stdout.lock();
    // A closed pipe has seen enough; the exit code is what CI reads.
    let _ = match args.format {
        ListFormat::Json => writeln!(out, "{:#}", serde_json::json!(matrix)),
        ListFormat::Text => write!(out, "{}", table(&matrix, width)),
    };
    Ok(if matrix.interrupted { ExitCode::Interrupted } else { judge(&matrix, every_defect) })
}

/// A survivor is a survivor. That a scenario is idle says something only where all defects were tried.
fn judge(matrix: &KillMatrix, every_defect: bool) -> ExitCode {
    let broken = matrix.left_out.values().any(|why| why.starts_with("fails on the honest service"));
    if broken {
        return ExitCode::BrokenPromise;
    }
    let idle = every_defect && !matrix.idle().is_empty();
    if !matrix.survivors().is_empty() || idle { ExitCode::Survivor } else { ExitCode::Success }
}

fn culprits(names: &[String]) -> Result<Vec<Culprit>, Fault> {
    let known: BTreeSet<&str> = Defect::ALL.iter().map(|defect| defect.name()).collect();
    if let Some(name) = names.iter().find(|name| !known.contains(name.as_str())) {
        return Err(common::unknown_defect(name));
    }
    let wanted = |defect: &&Defect| names.is_empty() || names.iter().any(|name| name == defect.name());
    Ok(Defect::ALL
        .iter()
        .filter(wanted)
        .map(|defect| Culprit {
            name: defect.name().to_owned(),
            promise: defect.promise().to_owned(),
            story: defect.story().to_owned(),
        })
        .collect())
}

fn line(news: &News<'_>, pace: Pace) -> String {
    let left = pace.left.map(|left| format!(", {} s left", left.as_secs())).unwrap_or_default();
    let progress = format!("{:>5}/{}{left}", pace.done, pace.of.max(pace.done));
    match news {
        News::Honest(cell, None) => format!("{progress}  (honest)  {cell}"),
        News::Honest(cell, Some(wrong)) => format!("{progress}  (honest)  {cell}  DOES NOT PASS: {wrong}"),
        News::Tried(defect, scenario, trial) => {
            let word = match trial {
                Trial::Killed { promise, .. } => format!("killed ({promise})"),
                Trial::Survived => "not noticed".to_owned(),
                Trial::NotReached => "out of reach".to_owned(),
                Trial::Unclear { why } => format!("no verdict: {why}"),
            };
            format!("{progress}  {defect:<24} {scenario:<36} {word}")
        }
    }
}
