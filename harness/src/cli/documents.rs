//! What is generated from the code: schemas, completions, the man page.

use std::io::{self, Write as _};

use clap::CommandFactory as _;
use onejob_reports::exit::ExitCode;

use super::args::{Cli, CompletionsArgs, ManArgs, SchemaArgs, SchemaKind};
use crate::fail::{Code, Fault};

pub(super) fn schema(args: &SchemaArgs) -> Result<ExitCode, Fault> {
    let schema = match args.kind {
        SchemaKind::Scenario => crate::scenario::schema(),
        SchemaKind::Target => crate::target::schema(),
        SchemaKind::Contract => onejob_contracts::contract::file_schema(),
        SchemaKind::Providers => onejob_contracts::provider::schema(),
        SchemaKind::Bench => onejob_reports::bench::schema(),
        SchemaKind::Report => onejob_reports::json::schema(),
        SchemaKind::Explore => onejob_reports::explore::explore_schema(),
    };
    written(writeln!(io::stdout(), "{schema:#}"))
}

pub(super) fn completions(args: &CompletionsArgs) -> Result<ExitCode, Fault> {
    let mut page = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "onejob", &mut page);
    written(io::stdout().write_all(&page))
}

pub(super) fn man(_: &ManArgs) -> Result<ExitCode, Fault> {
    let mut page = Vec::new();
    let made = clap_mangen::Man::new(Cli::command()).render(&mut page);
    written(made.and_then(|()| io::stdout().write_all(&page)))
}

/// A reader that has seen enough closes the pipe, which ends well.
fn written(result: io::Result<()>) -> Result<ExitCode, Fault> {
    match result {
        Ok(()) => Ok(ExitCode::Success),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(ExitCode::Success),
        Err(error) => Err(Fault::new(
            Code::OutputUnwritable,
            "standard output can't be written",
            "check where it goes, and the space there",
        )
        .because(error)),
    }
}
