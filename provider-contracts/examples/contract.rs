//! The commands by themselves, for scripts that test this crate alone.
use std::process::ExitCode;

use clap::Parser;
use onejob_contracts::cli::{ContractCommand, run};

#[derive(Parser)]
#[command(name = "contract")]
struct Line {
    #[command(subcommand)]
    command: ContractCommand,
}

#[tokio::main]
async fn main() -> ExitCode {
    let command = Line::parse().command;
    ExitCode::from(run(command, &mut std::io::stdout(), &mut std::io::stderr()).await.code())
}
