//! `onejob run`

use std::{collections::BTreeSet, io::Write as _, path::PathBuf, sync::Arc};

use onejob_reports::{
    Format,
    exit::ExitCode,
    model::{Progress, RunReport, Shard, Verdict},
    redact,
    term::Terminal,
};
use tokio::sync::mpsc;

use super::{
    args::{Flaky, Global, RunArgs},
    common::{self, Ground, load, load_target, stop_on_signals},
    store::Store,
};
use crate::{
    engine::{self, Grounds, Options, PlannedCell, Selection, frame, plan},
    fail::{Code, Fault},
    target::TargetFile,
};

pub(super) fn run(global: &Global, args: &RunArgs) -> Result<ExitCode, Fault> {
    let outputs = Outputs::parse(args)?;
    let target = load_target(args.target.as_deref())?;
    check_defects(&target, args.target.is_none(), &args.defect)?;
    let store = Store::new(&args.store);
    let selection = Selection {
        filters: args.filter.clone(),
        tags: args.tag.clone(),
        excluded: args.exclude.clone(),
        shard: args.shard,
        only: if args.last_failed { Some(store.last_failed()?) } else { None },
    };
    let planned = plan(load(&args.scenarios)?, &selection, &target.capabilities(), &target.settings);
    if planned.is_empty() {
        eprintln!("nothing is selected: `onejob list` shows the scenarios");
        return Ok(ExitCode::NothingSelected);
    }
    let runtime = common::runtime()?;
    // A second line of defence: the history is clean already.
    let secrets = target.hidden.values().iter().fold(redact::Secrets::new(), |all, value| all.value(value));
    let hidden = target.hidden.clone();
    let report = runtime
        .block_on(carry_out(global, args, target, planned, &store, &outputs, &secrets))
        .map_err(|fault| fault.hiding(&hidden))?;
    let mut report = secrets.report(report);
    if args.flaky.is_some() {
        engine::forgive(&mut report);
    }
    store.save(&report)?;
    outputs.write(&report)?;
    // Tasks that wait for a dead target must not hold the process up.
    runtime.shutdown_background();
    Ok(ExitCode::of_run(&report, args.flaky == Some(Flaky::Fail)))
}

/// Defects are switches of a target; only the reference service's are known by name.
fn check_defects(target: &TargetFile, built_in: bool, names: &[String]) -> Result<(), Fault> {
    if names.is_empty() {
        return Ok(());
    }
    let takes = target
        .target
        .command
        .as_ref()
        .is_some_and(|command| command.start.iter().any(|part| part == "{defects}"));
    if !takes {
        return Err(Fault::new(
            Code::DefectElsewhere,
            format!("the target {} has no defects to switch on", target.target.name),
            "`--defect` is for targets whose `start` has an argument `{defects}`; the reference service has",
        ));
    }
    let known = onejob_reference::Defect::ALL.iter().map(|defect| defect.name());
    match names.iter().find(|name| built_in && known.clone().all(|known| known != **name)) {
        Some(name) => Err(common::unknown_defect(name)),
        None => Ok(()),
    }
}

/// Everything that needs the runtime. Whatever it starts is gone when it returns.
async fn carry_out(
    global: &Global,
    args: &RunArgs,
    target: TargetFile,
    planned: Vec<PlannedCell>,
    store: &Store,
    outputs: &Outputs,
    secrets: &redact::Secrets,
) -> Result<RunReport, Fault> {
    let stop = stop_on_signals();
    let leash = common::leash()?;
    let ahead = args.jobs.map_or(4, usize::from);
    let ground = Ground::prepare(&args.postgres, ahead, &target, &leash).await?;
    let grounds = Grounds {
        target: Arc::new(target),
        program: common::program()?,
        template: ground.template.clone(),
        leash: leash.clone(),
        defects: args.defect.clone(),
        run_id: uuid::Uuid::now_v7().to_string(),
    };
    let seed = args.seed.unwrap_or_else(|| u64::from(std::process::id()) ^ 0x6f6e_656a_6f62);
    let mut frame = frame(&grounds, seed, ground.database(), grounds.target.widens());
    frame.shard = args.shard.map(|(index, of)| Shard { index, of });
    let parallel = match (&grounds.target.target.command, args.jobs) {
        // One service and one double for all: a cell must not see another's calls.
        (None, _) => 1,
        (Some(_), Some(jobs)) => usize::from(jobs),
        (Some(_), None) => 2 * common::processors(),
    };
    let options = Options { parallel, repeat: args.repeat, replay: replay(args, seed), frame };
    let (tell, mut told) = mpsc::unbounded_channel();
    let listener = tokio::spawn({
        let mut listener = outputs.listener(global);
        let secrets = secrets.clone();
        async move {
            while let Some(progress) = told.recv().await {
                // Whoever watches must see no more than whoever reads the report.
                listener.on(&secrets.progress(progress));
            }
        }
    });
    let _ = tell.send(Progress::RunStarted {
        target: grounds.target.target.name.clone(),
        database: options.frame.database.clone(),
        cells: planned.len(),
    });
    store.begin()?;
    let secrets = &grounds.target.hidden;
    let keep = |name: &str, repeat: u32, events: &[crate::history::Event]| {
        if let Err(error) = store.keep(name, repeat, events, secrets) {
            tracing::warn!(%error, "a history could not be kept");
        }
    };
    let mut stopped = stop.clone();
    let outcome = tokio::select! {
        biased;
        outcome = engine::baseline(&grounds) => outcome.map(|()| false),
        _ = stopped.wait_for(|stop| *stop) => Ok(true),
    };
    let report = match outcome {
        Ok(false) => Ok(engine::run(&grounds, planned, &options, &tell, &keep, stop).await),
        Ok(true) => {
            let report = RunReport { interrupted: true, planned: planned.len(), ..options.frame.clone() };
            let _ = tell.send(Progress::RunFinished { report: Box::new(report.clone()) });
            Ok(report)
        }
        Err(fault) => Err(fault),
    };
    drop(tell);
    // The listener ends with the channel; a panic in it was reported where it happened.
    let _ = listener.await;
    ground.end().await?;
    report
}

fn replay(args: &RunArgs, seed: u64) -> String {
    let target = args.target.iter().map(|target| format!(" --target {}", target.display()));
    let defects = args.defect.iter().map(|defect| format!(" --defect {defect}"));
    target.chain(defects).chain([format!(" --seed {seed}")]).collect()
}

/// Where reports go.
struct Outputs {
    stdout: Format,
    files: Vec<(Format, PathBuf)>,
}

impl Outputs {
    fn parse(args: &RunArgs) -> Result<Self, Fault> {
        let file = |text: &String| {
            let (name, path) =
                text.split_once('=').filter(|(_, path)| !path.is_empty()).ok_or_else(|| {
                    Fault::new(
                        Code::UnknownFormat,
                        format!("`--report {text}` names no file"),
                        "write FORMAT=PATH, for example `--report junit=report.xml`",
                    )
                })?;
            Ok((common::format(name)?, PathBuf::from(path)))
        };
        Ok(Self {
            stdout: common::format(&args.format)?,
            files: args.report.iter().map(file).collect::<Result<_, Fault>>()?,
        })
    }

    fn listener(&self, global: &Global) -> Listener {
        if self.stdout == Format::Term {
            let stdout = std::io::stdout();
            Listener::Out(Box::new(Terminal::new(common::term_options(global, &stdout), stdout)))
        } else {
            // Standard output is for the machine, so people are told on standard error.
            let stderr = std::io::stderr();
            Listener::Err(Box::new(Terminal::new(common::term_options(global, &stderr), stderr)))
        }
    }

    fn write(&self, report: &RunReport) -> Result<(), Fault> {
        if self.stdout != Format::Term {
            let mut out = std::io::stdout().lock();
            onejob_reports::render(report, self.stdout, &mut out)
                .map_err(|error| unwritable("standard output", error))?;
            out.flush().map_err(|error| unwritable("standard output", error))?;
        }
        for (format, path) in &self.files {
            let mut page = Vec::new();
            onejob_reports::render(report, *format, &mut page)
                .map_err(|error| unwritable(&path.display().to_string(), error))?;
            std::fs::write(path, page).map_err(|error| unwritable(&path.display().to_string(), error))?;
        }
        Ok(())
    }
}

fn unwritable(what: &str, error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Fault {
    Fault::new(
        Code::OutputUnwritable,
        format!("the report can't be written to {what}"),
        "check that the folder exists and may be written to",
    )
    .because(error)
}

enum Listener {
    Out(Box<Terminal<std::io::Stdout>>),
    Err(Box<Terminal<std::io::Stderr>>),
}

impl Listener {
    fn on(&mut self, progress: &Progress) {
        // A closed pipe must not end the run: files are still to be written, and the exit code is for CI.
        let _ = match self {
            Self::Out(terminal) => terminal.on(progress),
            Self::Err(terminal) => terminal.on(progress),
        };
    }
}

/// Cells that did not pass, by name.
pub(super) fn not_passed(report: &RunReport) -> BTreeSet<String> {
    let bad = |verdict: Verdict| !matches!(verdict, Verdict::Pass | Verdict::Skipped);
    let cells = report.cells.iter().filter(|cell| bad(cell.verdict));
    let names = cells.map(|cell| engine::name_of(&cell.scenario, &cell.at));
    // What an interrupted run never came to has not passed either.
    names.chain(report.not_run.iter().cloned()).collect()
}
