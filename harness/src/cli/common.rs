//! What several commands need: a look, a runtime, a database, a place on the leash.

use std::{io::IsTerminal, path::PathBuf};

use onejob_reports::{
    Format,
    term::{ColorChoice, TermOptions, Volume},
};

use super::args::{Global, PostgresArgs};
use crate::{
    fail::{Code, Fault, Look},
    leash::Leash,
    postgres::{Server, Source, StartOptions},
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
        Fault::new(Code::Bug, "no runtime could be started", "check the limits on threads and files").because(error)
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
pub(super) async fn postgres(args: &PostgresArgs, leash: &Leash, options: &StartOptions) -> Result<Server, Fault> {
    let source = Source::choose(args.postgres.name(), args.database_url.clone())?;
    Ok(Server::start(&source, options, leash, &mut |line: &str| eprintln!("{line}")).await?)
}

/// A report format by its name.
pub(super) fn format(name: &str) -> Result<Format, Fault> {
    name.parse().map_err(|error: onejob_reports::format::UnknownFormat| {
        Fault::new(Code::UnknownFormat, error.to_string(), "see `onejob run --help`")
    })
}
