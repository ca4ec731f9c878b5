//! `onejob report`

use std::io::{self, Write as _};

use onejob_reports::{Format, diff, exit::ExitCode, merge, model::RunReport};

use super::{
    args::{Global, ReportArgs, ReportCommand},
    common,
    store::{Store, read_report},
};
use crate::{
    engine,
    fail::{Code, Fault},
    scenario::Loaded,
};

pub(super) fn report(global: &Global, args: ReportArgs) -> Result<ExitCode, Fault> {
    let Some(command) = args.command else { return rejudge(global, &args) };
    match command {
        ReportCommand::Render { file, format, store } => {
            let report = match file {
                Some(file) => read_report(&file)?,
                None => Store::new(&store).last()?,
            };
            show(global, &report, &format)?;
        }
        ReportCommand::Merge { files, format } => {
            let reports = files.iter().map(|file| read_report(file)).collect::<Result<Vec<_>, _>>()?;
            let merged = merge::merge(&reports).map_err(|error| {
                Fault::new(
                    Code::ReportUnreadable,
                    error.to_string(),
                    "give the report of every shard, each once",
                )
            })?;
            show(global, &merged, &format)?;
        }
        ReportCommand::Open { store } => open(&Store::new(&store))?,
        ReportCommand::Diff { before, after } => {
            let (before, after) = (read_report(&before)?, read_report(&after)?);
            let diff = diff::diff(&before, &after, diff::Thresholds::default());
            for doubt in diff::doubts(&before, &after, &diff) {
                talk!("{doubt}");
            }
            written(io::stdout().write_all(diff.to_string().as_bytes()))?;
        }
    }
    Ok(ExitCode::Success)
}

/// Makes the page of the last run and shows it. The path goes to standard output either way, for scripts.
fn open(store: &Store) -> Result<(), Fault> {
    let report = store.last()?;
    let mut page = Vec::new();
    onejob_reports::render(&report, Format::Html, &mut page).map_err(|error| {
        Fault::new(Code::Bug, "the report can't be rendered", "please report this").because(error)
    })?;
    let path = store.keep_page(&page)?;
    written(writeln!(io::stdout(), "{}", path.display()))?;
    if !has_display(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty())) {
        talk!("no display here: open that file in a browser");
        return Ok(());
    }
    // The path was printed: where nothing can open it, a person still can.
    if let Err(error) = open::that_detached(&path) {
        talk!("nothing here opens HTML files ({error}): open that file in a browser");
    }
    Ok(())
}

/// Whether a browser could show something. Over SSH a forwarded display counts, as it does for every program.
fn has_display(set: impl Fn(&str) -> bool) -> bool {
    cfg!(any(target_os = "macos", windows))
        || set("DISPLAY")
        || set("WAYLAND_DISPLAY")
        || set("WSL_DISTRO_NAME")
}

/// Judges the last run's histories again.
fn rejudge(global: &Global, args: &ReportArgs) -> Result<ExitCode, Fault> {
    let store = Store::new(&args.store);
    let before = store.last()?;
    let histories = store.read_histories()?;
    for history in &histories {
        if let Some(line) = history.torn {
            let file = history.file.display();
            talk!("{file} ends in the middle of line {line}: judged up to there");
        }
    }
    let stored = histories.into_iter().map(|history| history.stored).collect();
    let scenarios = as_planned(&before, args)?;
    let engine::Rejudged { report, kept } = engine::rejudge(before.clone(), stored, scenarios);
    for (cell, reason) in &kept {
        talk!("{cell} keeps its verdict: {reason}");
    }
    let diff = diff::diff(&before, &report, diff::Thresholds::default());
    let _ = write!(std::io::stderr(), "judged again: {diff}");
    show(global, &report, &args.format)?;
    Ok(ExitCode::of_run(&report, false))
}

/// The scenarios as the run asked for them: a target's promises and means change what is asked.
fn as_planned(before: &RunReport, args: &ReportArgs) -> Result<Vec<Loaded>, Fault> {
    let target = common::load_target(args.target.as_deref())?;
    if target.target.name != before.target {
        let message =
            format!("the run was against {}, and this is the file of {}", before.target, target.target.name);
        return Err(Fault::new(
            Code::ReportUnreadable,
            message,
            "give the target file of the run with --target",
        ));
    }
    let capabilities = target.capabilities();
    let cells = engine::undoubled(common::load(&args.scenarios)?, &capabilities, target.counts_effects());
    let planned = engine::plan(cells, &engine::Selection::default(), &capabilities, &target.settings);
    let planned = engine::promised(planned, &target.promises());
    Ok(planned.into_iter().map(|planned| planned.loaded).collect())
}

fn show(global: &Global, report: &RunReport, format: &str) -> Result<(), Fault> {
    let mut out = io::stdout().lock();
    let format = common::format(format)?;
    if format == Format::Term {
        let options = common::term_options(global, &io::stdout());
        return written(onejob_reports::term::render(report, options, &mut out));
    }
    match onejob_reports::render(report, format, &mut out) {
        Ok(()) => written(out.flush()),
        Err(onejob_reports::format::RenderError::Io(error)) => written(Err(error)),
        Err(error) => {
            Err(Fault::new(Code::Bug, "the report can't be rendered", "please report this").because(error))
        }
    }
}

fn written(result: io::Result<()>) -> Result<(), Fault> {
    match result {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Fault::new(
            Code::OutputUnwritable,
            "standard output can't be written",
            "check where it goes, and the space there",
        )
        .because(error)),
        _ => Ok(()),
    }
}
