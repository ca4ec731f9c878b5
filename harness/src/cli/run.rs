//! `onejob run`

use std::{
    collections::BTreeSet,
    io::{self, Write as _},
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use onejob_reports::{
    Format,
    exit::ExitCode,
    json::Head,
    model::{Progress, RunReport, Shard, Verdict},
    redact,
    term::Terminal,
};
use tokio::sync::{mpsc, watch};

use super::{
    args::{Flaky, Global, PostgresSource, RunArgs},
    common::{self, Ground, load, load_target, stop_on_signals},
    store::Store,
};
use crate::{
    engine::{self, Grounds, NoBaseline, Options, PlannedCell, Selection, frame, plan, promised, undoubled},
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
        on_request: false,
        only: if args.last_failed { Some(store.last_failed()?) } else { None },
    };
    let capabilities = target.capabilities();
    let cells = undoubled(load(&args.scenarios)?, &capabilities, target.counts_effects());
    let mut planned = plan(cells, &selection, &capabilities, &target.settings);
    if target.target.command.is_none() {
        planned = engine::as_it_runs(planned, &target.settings);
    }
    let planned = promised(planned, &target.promises());
    if planned.is_empty() {
        talk!("nothing is selected: `onejob list` shows the scenarios");
        return Ok(ExitCode::NothingSelected);
    }
    let planned = match args.seed {
        Some(seed) => engine::shuffled(planned, seed),
        None => planned,
    };
    outputs.check()?;
    store.check()?;
    if std::env::var_os("ONEJOB_CI").is_some() {
        engine::nothing_lacks_here(&planned)?;
    }
    let runtime = common::runtime()?;
    // A second line of defence: the history is clean already.
    let secrets = common::secrets(&target.hidden);
    let hidden = target.hidden.clone();
    let seed = args.seed.unwrap_or_default();
    let frame = RunReport {
        planned: planned.len(),
        shard: args.shard.map(|(index, of)| Shard { index, of }),
        ..frame(&target, &args.defect, seed)
    };
    let names = planned.iter().map(PlannedCell::name).collect();
    let work = Work { global, args, outputs: &outputs, store: &store, secrets: &secrets };
    // What ends a run before its first cell stands in a report too: whoever reads only that must not see the last one.
    let (report, ended) = match runtime.block_on(work.carry_out(target, planned, &frame)) {
        Ok(report) => (report, None),
        Err(no) => {
            let fault = no.fault.hiding(&hidden);
            (RunReport { not_run: names, cells: vec![*no.cell], ..frame }, Some(fault))
        }
    };
    let mut report = secrets.report(report);
    if args.flaky.is_some() {
        engine::forgive(&mut report);
    }
    store.save(&report)?;
    outputs.write(&report)?;
    // Tasks that wait for a dead target must not hold the process up.
    runtime.shutdown_background();
    if let Some(fault) = ended {
        return Err(fault);
    }
    if let Some(error) = outputs.lost() {
        return Err(unwritable("standard output", error));
    }
    Ok(ExitCode::of_run(&report, args.flaky == Some(Flaky::Fail)))
}

/// Defects are switches of a target; only the reference service's are known by name.
pub(super) fn check_defects(target: &TargetFile, built_in: bool, names: &[String]) -> Result<(), Fault> {
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

/// What carrying a run out needs beside the target and the plan.
struct Work<'a> {
    global: &'a Global,
    args: &'a RunArgs,
    outputs: &'a Outputs,
    store: &'a Store,
    secrets: &'a redact::Secrets,
}

impl Work<'_> {
    /// Everything that needs the runtime. Whatever it starts is gone when it returns.
    async fn carry_out(
        &self,
        target: TargetFile,
        planned: Vec<PlannedCell>,
        frame: &RunReport,
    ) -> Result<RunReport, NoBaseline> {
        let early = |fault: Fault| NoBaseline { cell: Box::new(engine::baseline_cell(&fault)), fault };
        let stop = stop_on_signals();
        let leash = common::leash().map_err(early)?;
        let ahead = self.args.jobs.map_or(4, usize::from);
        let mut stopped = stop.clone();
        let ground = tokio::select! {
            biased;
            ground = Ground::prepare(&self.args.postgres, ahead, &target, &leash) => ground.map_err(early)?,
            // Servers that don't answer and images that are pulled take longer than anybody waits for a Ctrl-C.
            _ = stopped.wait_for(|stop| *stop) => {
                let not_run = planned.iter().map(PlannedCell::name).collect();
                return Ok(RunReport { interrupted: true, not_run, ..frame.clone() });
            }
        };
        let grounds = ground.grounds(target, &leash, &self.args.defect).map_err(early)?;
        let grounds = Grounds { run_id: frame.run_id.clone(), ..grounds };
        let frame = RunReport { database: ground.database(), ..frame.clone() };
        let report = self.play(&grounds, planned, frame, stop).await;
        if let Ok(report) = &report {
            // A second Ctrl-C while it is tidied up must not cost the report.
            self.store.save(&self.secrets.report(report.clone())).map_err(early)?;
        }
        ground.end().await.map_err(early)?;
        report
    }

    async fn play(
        &self,
        grounds: &Grounds,
        planned: Vec<PlannedCell>,
        frame: RunReport,
        stop: watch::Receiver<bool>,
    ) -> Result<RunReport, NoBaseline> {
        let parallel = match (&grounds.target.target.command, self.args.jobs) {
            // One service and one double for all: a cell must not see another's calls.
            (None, _) => 1,
            (Some(_), Some(jobs)) => usize::from(jobs),
            (Some(_), None) => 2 * common::processors(),
        };
        let options = Options { parallel, repeat: self.args.repeat, replay: replay(self.args), frame };
        let mut journal = self
            .store
            .begin(self.head(&options.frame, &planned))
            .map_err(|fault| NoBaseline { cell: Box::new(engine::baseline_cell(&fault)), fault })?;
        let (tell, mut told) = mpsc::unbounded_channel();
        let listener = tokio::spawn({
            let mut listener = self.outputs.listener(self.global);
            let secrets = self.secrets.clone();
            async move {
                while let Some(progress) = told.recv().await {
                    // Whoever watches must see no more than whoever reads the report.
                    let progress = secrets.progress(progress);
                    if let Progress::CellFinished { cell } = &progress
                        && let Err(error) = journal.add(cell)
                    {
                        talk!("a cell could not be written down while the run goes on: {error}");
                    }
                    listener.on(&progress);
                }
            }
        });
        let _ = tell.send(Progress::RunStarted {
            target: grounds.target.target.name.clone(),
            database: options.frame.database.clone(),
            cells: planned.len(),
        });
        let report = self.baseline_and_cells(grounds, planned, &options, &tell, stop).await;
        drop(tell);
        // The listener ends with the channel; a panic in it was reported where it happened.
        let _ = listener.await;
        report
    }

    /// What is known of the run before its first cell, without secrets.
    fn head(&self, frame: &RunReport, planned: &[PlannedCell]) -> Head {
        let names = planned.iter().map(PlannedCell::name).collect();
        let frame = self.secrets.report(RunReport { not_run: names, ..frame.clone() });
        Head { cells: frame.not_run.clone(), ..Head::of(&frame) }
    }

    async fn baseline_and_cells(
        &self,
        grounds: &Grounds,
        planned: Vec<PlannedCell>,
        options: &Options,
        tell: &mpsc::UnboundedSender<Progress>,
        stop: watch::Receiver<bool>,
    ) -> Result<RunReport, NoBaseline> {
        let secrets = &grounds.target.hidden;
        let keep = |name: &str, repeat: u32, history: &crate::history::History| {
            if let Err(error) = self.store.keep(name, repeat, history, secrets) {
                talk!("the history of {name} could not be kept: {error}");
            }
        };
        let mut stopped = stop.clone();
        tokio::select! {
            biased;
            outcome = engine::baseline(grounds) => outcome?,
            _ = stopped.wait_for(|stop| *stop) => {
                let not_run = planned.iter().map(PlannedCell::name).collect();
                let report = RunReport { interrupted: true, not_run, ..options.frame.clone() };
                let _ = tell.send(Progress::RunFinished { report: Box::new(report.clone()) });
                return Ok(report);
            }
        }
        Ok(engine::run(grounds, planned, options, tell, &keep, stop).await)
    }
}

fn replay(args: &RunArgs) -> String {
    let path = |flag: &'static str| {
        move |path: &PathBuf| format!(" --{flag} {}", engine::shell_word(&path.display().to_string()))
    };
    let target = args.target.iter().map(path("target"));
    let scenarios = args.scenarios.iter().map(path("scenarios"));
    let source = args.postgres.postgres;
    // A URL may hold a password: whoever plays it again has it in the environment, or knows it.
    let postgres = (source != PostgresSource::Auto).then(|| format!(" --postgres {}", source.name()));
    let defects = args.defect.iter().map(|defect| format!(" --defect {defect}"));
    let seed = args.seed.map(|seed| format!(" --seed {seed}"));
    target.chain(scenarios).chain(defects).chain(postgres).chain(seed).collect()
}

/// Where reports go.
struct Outputs {
    stdout: Format,
    files: Vec<(Format, PathBuf)>,
    /// The first write to standard output that failed while the run went on.
    lost: Arc<Mutex<Option<io::Error>>>,
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
            lost: Arc::default(),
        })
    }

    /// Whether the files can be written, before a run is spent on them.
    fn check(&self) -> Result<(), Fault> {
        for (index, (_, path)) in self.files.iter().enumerate() {
            if self.files[..index].iter().any(|(_, other)| other == path) {
                return Err(Fault::new(
                    Code::ReportPath,
                    format!("two reports go to {}", path.display()),
                    "give each its own file",
                ));
            }
            common::writable(path).map_err(|error| {
                Fault::new(
                    Code::ReportPath,
                    format!("no report can be written to {}", path.display()),
                    "check that its folder exists, that you may write there, and that it names a file",
                )
                .because(error)
            })?;
        }
        Ok(())
    }

    /// Why standard output is incomplete, where it is.
    fn lost(&self) -> Option<io::Error> {
        self.lost.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn listener(&self, global: &Global) -> Listener {
        if self.stdout == Format::Term {
            let stdout = io::stdout();
            let terminal = Terminal::new(common::term_options(global, &stdout), stdout);
            Listener::Out(Box::new(terminal), self.lost.clone())
        } else {
            // Standard output is for the machine, so people are told on standard error.
            let stderr = io::stderr();
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
            common::write_whole(path, &page)
                .map_err(|error| unwritable(&path.display().to_string(), error))?;
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
    Out(Box<Terminal<io::Stdout>>, Arc<Mutex<Option<io::Error>>>),
    Err(Box<Terminal<io::Stderr>>),
}

impl Listener {
    fn on(&mut self, progress: &Progress) {
        match self {
            Self::Out(terminal, lost) => match terminal.on(progress) {
                // A full disk must not end the run: files are still to be written. It is told at the end. Whoever
                // closed a pipe has seen enough.
                Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                    lost.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                }
                _ => {}
            },
            Self::Err(terminal) => {
                let _ = terminal.on(progress);
            }
        }
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
