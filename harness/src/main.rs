//! The onejob command line: parse, carry out, exit code.

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    onejob::prepare();
    match onejob::cli::Cli::try_parse() {
        Ok(cli) => onejob::cli::main(cli).into(),
        Err(error) => {
            // clap writes help and versions to standard output and mistakes to standard error.
            let _ = error.print();
            if error.use_stderr() { onejob_reports::exit::ExitCode::Usage.into() } else { ExitCode::SUCCESS }
        }
    }
}
