//! `onejob contract`

use onejob_contracts::cli::{ExitOutcome, run};
use onejob_reports::exit::ExitCode;

use super::{args::ContractArgs, common};
use crate::fail::Fault;

pub(super) fn contract(args: ContractArgs) -> Result<ExitCode, Fault> {
    let runtime = common::runtime()?;
    let outcome = runtime.block_on(run(args.command, &mut std::io::stdout(), &mut std::io::stderr()));
    Ok(match outcome {
        ExitOutcome::Ok => ExitCode::Success,
        ExitOutcome::NotMet => ExitCode::BrokenPromise,
        ExitOutcome::Usage => ExitCode::Usage,
        ExitOutcome::Inconclusive => ExitCode::Inconclusive,
        ExitOutcome::Infrastructure => ExitCode::Infrastructure,
        ExitOutcome::NoFailover => ExitCode::NoFailover,
    })
}
