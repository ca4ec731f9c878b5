//! What several commands need: a look, a runtime, a database, a place on the leash.

use std::{
    io::IsTerminal,
    path::{Path, PathBuf},
};

use onejob_reports::{
    Format,
    exit::ExitCode,
    redact::Secrets,
    term::{ColorChoice, TermOptions, Volume},
};

use tokio::sync::watch;

use super::args::{Global, PostgresArgs};
use crate::{
    engine::{self, Grounds},
    fail::{Code, Fault, Look},
    leash::Leash,
    postgres::{Server, Source, StartOptions},
    scenario::{Loaded, discover, embedded, unique},
    target::{self, Hidden, TargetFile},
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

/// What reports must not show: what the target's file hides, and whatever looks like a credential.
pub(super) fn secrets(hidden: &Hidden) -> Secrets {
    hidden.values().iter().fold(Secrets::new(), |all, value| all.value(value))
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
    let source = source(args)?;
    Ok(Server::start(&source, options, leash, &|line: &str| talk!("{line}")).await?)
}

/// Where Postgres is to come from, as the flags say.
fn source(args: &PostgresArgs) -> Result<Source, Fault> {
    Ok(Source::choose(args.postgres.name(), args.database_url.clone())?)
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
    let files = unique(files)?;
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

/// Turns to true at Ctrl-C, SIGTERM, and when the terminal goes away. A second signal ends the process at once; the watchdog cleans up.
pub(super) fn stop_on_signals() -> watch::Receiver<bool> {
    use tokio::signal::unix::{SignalKind, signal};

    let (stop, stopped) = watch::channel(false);
    tokio::spawn(async move {
        let (Ok(mut interrupt), Ok(mut terminate), Ok(mut hangup)) =
            (signal(SignalKind::interrupt()), signal(SignalKind::terminate()), signal(SignalKind::hangup()))
        else {
            return std::future::pending().await;
        };
        for time in 0.. {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
                _ = hangup.recv() => {}
            }
            if time > 0 {
                std::process::exit(i32::from(ExitCode::Interrupted as u8));
            }
            let _ = stop.send(true);
            talk!("stopping: the report is being written; once more to stop at once");
        }
    });
    stopped
}

/// The database of a run, where the target needs one of ours.
pub(super) struct Ground(engine::Ground);

impl Ground {
    pub(super) async fn prepare(
        postgres: &PostgresArgs,
        ahead: usize,
        target: &TargetFile,
        leash: &Leash,
    ) -> Result<Self, Fault> {
        let source = source(postgres)?;
        Ok(Self(engine::Ground::prepare(&source, ahead, target, leash, &program()?).await?))
    }

    /// What is the same for all cells that stand on it.
    pub(super) fn grounds(
        &self,
        target: TargetFile,
        leash: &Leash,
        defects: &[String],
    ) -> Result<Grounds, Fault> {
        Ok(self.0.grounds(target, leash, defects, program()?))
    }

    /// Where it came from, in one line.
    pub(super) fn database(&self) -> Option<String> {
        self.0.database()
    }

    /// Drops what was made on a server that isn't ours.
    pub(super) async fn end(self) -> Result<(), Fault> {
        self.0.end().await
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

/// Writes a file in one step: who reads it, or finds it after the process was killed, has the old one or the new one.
pub(super) fn write_whole(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    use std::{io::Write as _, os::unix::fs::PermissionsExt as _};

    let known = std::fs::symlink_metadata(path);
    // A pipe, a device or a link is to be written to, and not to be replaced.
    if known.as_ref().is_ok_and(|known| !known.is_file()) {
        return std::fs::write(path, bytes);
    }
    let permissions =
        known.map_or_else(|_| std::fs::Permissions::from_mode(0o666), |known| known.permissions());
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let draft = tempfile::Builder::new().prefix(".onejob-").permissions(permissions).tempfile_in(folder);
    // A file may be writable in a folder that isn't.
    let Ok(mut draft) = draft else { return std::fs::write(path, bytes) };
    draft.write_all(bytes)?;
    draft.persist(path).map_err(|error| error.error)?;
    Ok(())
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

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn a_file_is_replaced_whole_and_keeps_its_mode_and_a_link_stays_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("a.html"), folder.path().join("latest.html"));
        write_whole(&file, b"one").unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).unwrap();
        // Who has the old file open reads the old one to its end.
        let mut old = std::fs::File::open(&file).unwrap();
        write_whole(&file, b"another").unwrap();
        let mut read = String::new();
        std::io::Read::read_to_string(&mut old, &mut read).unwrap();
        assert_eq!((read.as_str(), std::fs::read(&file).unwrap().as_slice()), ("one", b"another".as_slice()));
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
        symlink(&file, &link).unwrap();
        write_whole(&link, b"third").unwrap();
        assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(std::fs::read(&file).unwrap(), b"third");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2, "no draft is left");
    }
}
