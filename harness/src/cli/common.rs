//! What several commands need: a look, a runtime, a database, a place on the leash.

use std::{
    io::IsTerminal,
    path::{Path, PathBuf},
    sync::Arc,
};

use onejob_reports::{
    Format,
    exit::ExitCode,
    term::{ColorChoice, TermOptions, Volume},
};

use tokio::sync::watch;

use super::args::{Global, PostgresArgs};
use crate::{
    engine::{Grounds, migrate},
    fail::{Code, Fault, Look},
    leash::Leash,
    postgres::{Databases, Server, Source, StartOptions, Template},
    scenario::{Loaded, discover, embedded},
    target::{self, TargetFile},
};

/// How errors are drawn on standard error.
pub(super) fn look(choice: ColorChoice) -> Look {
    let options = TermOptions::detect(choice, Volume::Normal, &std::io::stderr());
    Look { color: options.color, width: options.width, ..Look::default() }
}

/// How the terminal report is written to a stream.
pub(super) fn term_options(global: &Global, stream: &impl IsTerminal) -> TermOptions {
    let volume = match (global.quiet, global.verbose) {
        (true, _) => Volume::Quiet,
        (_, true) => Volume::Verbose,
        _ => Volume::Normal,
    };
    TermOptions::detect(global.color.into(), volume, stream)
}

/// A runtime for a command.
pub(super) fn runtime() -> Result<tokio::runtime::Runtime, Fault> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(|error| {
        Fault::new(Code::Bug, "no runtime could be started", "check the limits on threads and files")
            .because(error)
    })
}

/// This program.
pub(super) fn program() -> Result<PathBuf, Fault> {
    std::env::current_exe().map_err(|error| {
        Fault::new(Code::Bug, "this program can't find itself", "start it by its full path").because(error)
    })
}

/// Starts the watchdog that kills what is left.
pub(super) fn leash() -> Result<Leash, Fault> {
    Ok(Leash::start(&program()?)?)
}

/// Starts or finds Postgres.
pub(super) async fn postgres(
    args: &PostgresArgs,
    leash: &Leash,
    options: &StartOptions,
) -> Result<Server, Fault> {
    let source = Source::choose(args.postgres.name(), args.database_url.clone())?;
    Ok(Server::start(&source, options, leash, &|line: &str| eprintln!("{line}")).await?)
}

/// A report format by its name.
pub(super) fn format(name: &str) -> Result<Format, Fault> {
    name.parse().map_err(|error: onejob_reports::format::UnknownFormat| {
        Fault::new(Code::UnknownFormat, error.to_string(), "see `onejob run --help`")
    })
}

/// The built-in suite, or the scenarios in these files and folders; every cell of them.
pub(super) fn load(paths: &[PathBuf]) -> Result<Vec<Loaded>, Fault> {
    let mut files = Vec::new();
    if paths.is_empty() {
        files = embedded()?;
    }
    for path in paths {
        files.extend(discover(path)?);
    }
    let mut cells = Vec::new();
    let mut faults = Vec::new();
    for file in &files {
        match file.cells() {
            Ok(found) => cells.extend(found),
            Err(fault) => faults.push(fault),
        }
    }
    match Fault::together(faults) {
        Some(fault) => Err(fault),
        None => Ok(cells),
    }
}

/// The target file, or the reference service's.
pub(super) fn load_target(path: Option<&Path>) -> Result<TargetFile, Fault> {
    match path {
        Some(path) => target::load_file(path),
        None => target::reference(),
    }
}

/// Turns to true at Ctrl-C or SIGTERM. A second signal ends the process at once; the watchdog cleans up.
pub(super) fn stop_on_signals() -> watch::Receiver<bool> {
    use tokio::signal::unix::{SignalKind, signal};

    let (stop, stopped) = watch::channel(false);
    tokio::spawn(async move {
        let (Ok(mut interrupt), Ok(mut terminate)) =
            (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
        else {
            return std::future::pending().await;
        };
        for time in 0.. {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            if time > 0 {
                std::process::exit(i32::from(ExitCode::Interrupted as u8));
            }
            eprintln!("stopping: the report is being written; once more to stop at once");
            let _ = stop.send(true);
        }
    });
    stopped
}

/// The database of a run, where the target needs one of ours.
pub(super) struct Ground {
    server: Option<Server>,
    databases: Option<Databases>,
    /// The migrated database to clone.
    template: Option<Template>,
}

impl Ground {
    pub(super) async fn prepare(
        postgres: &PostgresArgs,
        ahead: usize,
        target: &TargetFile,
        leash: &Leash,
    ) -> Result<Self, Fault> {
        let Some(command) = &target.target.command else {
            return Ok(Self { server: None, databases: None, template: None });
        };
        let wants = |text: &String| text.contains("{database.url}");
        if !command.start.iter().chain(&command.migrate).chain(command.env.values()).any(wants) {
            return Ok(Self { server: None, databases: None, template: None });
        }
        let server = self::postgres(postgres, leash, &StartOptions::default()).await?;
        let databases = Databases::open(&server, leash, ahead.min(8)).await?;
        let program = program()?;
        let template =
            databases.template("target", async |url: String| migrate(target, &program, url).await).await?;
        Ok(Self { server: Some(server), databases: Some(databases), template: Some(template) })
    }

    /// What is the same for all cells that stand on it.
    pub(super) fn grounds(
        &self,
        target: TargetFile,
        leash: &Leash,
        defects: &[String],
    ) -> Result<Grounds, Fault> {
        Ok(Grounds {
            target: Arc::new(target),
            program: program()?,
            template: self.template.clone(),
            leash: leash.clone(),
            defects: defects.to_vec(),
            negation: None,
            run_id: uuid::Uuid::now_v7().to_string(),
            reach: None,
            first_break: false,
        })
    }

    /// Where it came from, in one line.
    pub(super) fn database(&self) -> Option<String> {
        self.server.as_ref().map(Server::describe)
    }

    /// Drops what was made on a server that isn't ours.
    pub(super) async fn end(self) -> Result<(), Fault> {
        if let Some(databases) = self.databases {
            databases.close().await?;
        }
        Ok(())
    }
}

/// Whether a file can be written there. Nothing that is there is touched, and nothing is left.
pub(super) fn writable(path: &Path) -> std::io::Result<()> {
    match std::fs::metadata(path) {
        Ok(_) => std::fs::OpenOptions::new().append(true).open(path).map(drop),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            std::fs::OpenOptions::new().write(true).create_new(true).open(path)?;
            std::fs::remove_file(path)
        }
        Err(error) => Err(error),
    }
}

/// Processors that this process may use.
pub(super) fn processors() -> usize {
    std::thread::available_parallelism().map_or(2, std::num::NonZero::get)
}

/// The error for a defect that the reference service doesn't have.
pub(super) fn unknown_defect(name: &str) -> Fault {
    let known: Vec<_> = onejob_reference::Defect::ALL.iter().map(|defect| defect.name()).collect();
    Fault::new(
        Code::UnknownDefect,
        format!("there is no defect `{name}`"),
        format!("there are: {}", known.join(", ")),
    )
}
