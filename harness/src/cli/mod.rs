//! The command line: one file per command. The only part that knows that a terminal exists.

mod args;
mod bench;
mod calibrate;
mod common;
mod contract;
mod doctor;
mod documents;
mod explain;
mod explore;
mod explored;
mod init;
mod list;
mod negate;
mod prove;
mod report;
mod run;
mod serve;
mod sheets;
mod store;
mod target;

use std::io::Write as _;

pub use args::{Cli, Command};
use onejob_reports::exit::ExitCode;

use crate::fail::{Fault, Look, render};

/// Carries a parsed command line out, and tells how the process is to end.
#[must_use]
pub fn main(cli: Cli) -> ExitCode {
    let look = common::look(cli.global.color.into());
    match dispatch(cli) {
        Ok(code) => code,
        Err(fault) => {
            let _ = write!(std::io::stderr(), "{}", render(&fault, look));
            fault.exit()
        }
    }
}

fn dispatch(cli: Cli) -> Result<ExitCode, Fault> {
    let global = cli.global;
    match cli.command {
        Command::Run(args) => run::run(&global, &args),
        Command::Prove(args) => prove::prove(&global, &args),
        Command::Explore(args) => explore::explore(&global, &args),
        Command::List(args) => list::list(&args),
        Command::Serve(args) => serve::serve(&args),
        Command::Init(args) => init::init(&global, &args),
        Command::Doctor(args) => doctor::doctor(&global, &args),
        Command::Target(args) => target::target(&args),
        Command::Calibrate(args) => calibrate::calibrate(&global, &args),
        Command::Bench(args) => bench::bench(&global, &args),
        Command::Contract(args) => contract::contract(args),
        Command::Report(args) => report::report(&global, args),
        Command::Explain(args) => explain::explain(&args),
        Command::Schema(args) => documents::schema(&args),
        Command::Completions(args) => documents::completions(&args),
        Command::Man(args) => documents::man(&args),
        Command::Leash => {
            crate::leash::watch(std::io::stdin().lock(), std::io::stdout());
            Ok(ExitCode::Success)
        }
    }
}

/// Used where a look is needed and no command line was read.
#[must_use]
pub fn plain_look() -> Look {
    common::look(onejob_reports::term::ColorChoice::Auto)
}
