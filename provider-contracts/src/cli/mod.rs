//! The commands, as a library: the binary mounts them as `onejob contract …`.
//!
//! Data goes to one writer and talk to the other; nothing here knows whether there is a terminal.
mod arguments;
mod attest;
mod check;
mod compare;
mod dialects;
mod drift;
mod exit;
mod failover;
mod inputs;
mod lint;
mod render;
mod talk;

pub use arguments::{
    AttestArgs, CanFailoverArgs, CheckArgs, CompareArgs, ContractCommand, DialectsArgs, DriftArgs, Format,
    Inputs, KeyArgs, LintArgs, TapeArgs, VerifyArgs,
};
pub use exit::{CliError, ExitOutcome};

use std::io::Write;

use crate::parity::Comparison;
use crate::run::CheckReport;

/// What `check` and `compare` came to, whole.
#[derive(Clone, Copy, Debug)]
pub enum Found<'a> {
    /// A check of one provider.
    Check(&'a CheckReport),
    /// A fallback against its primary.
    Comparison(&'a Comparison),
}

/// Carries a command out. Data goes to `out`, talk to `talk`.
pub async fn run(
    command: ContractCommand,
    out: &mut (dyn Write + Send),
    talk: &mut (dyn Write + Send),
) -> ExitOutcome {
    run_telling(command, out, talk, &mut |_| ()).await
}

/// As [`run`], and passes on what `check` or `compare` came to, for a report of the caller's own.
pub async fn run_telling(
    command: ContractCommand,
    out: &mut (dyn Write + Send),
    talk: &mut (dyn Write + Send),
    tell: &mut (dyn FnMut(Found<'_>) + Send),
) -> ExitOutcome {
    let done = match command {
        ContractCommand::Lint(args) => lint::run(&args, out, talk),
        ContractCommand::Check(args) => check::run(&args, out, talk, tell).await,
        ContractCommand::Compare(args) => compare::run(&args, out, talk, tell).await,
        ContractCommand::Attest(args) => attest::run(&args, out, talk),
        ContractCommand::Verify(args) => attest::verify_file(&args, out, talk),
        ContractCommand::CanFailover(args) => failover::run(&args, out, talk),
        ContractCommand::Drift(args) => drift::run(&args, out, talk).await,
        ContractCommand::Dialects(args) => dialects::run(&args, out),
        ContractCommand::Key(args) => attest::key(&args, talk),
    };
    match done {
        Ok(outcome) => outcome,
        // A reader that went away, as `head` does, is no failure.
        Err(CliError::Output(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => ExitOutcome::Ok,
        Err(error) => {
            let outcome = error.outcome();
            let _ = writeln!(talk, "error: {error}");
            outcome
        }
    }
}
