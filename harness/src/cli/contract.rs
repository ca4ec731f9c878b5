//! `onejob contract`

use onejob_contracts::cli::{ContractCommand, ExitOutcome, Found, run_telling};
use onejob_reports::exit::ExitCode;

use super::{
    args::ContractArgs,
    common,
    sheets::{self, SheetOutputs},
};
use crate::fail::{Code, Fault};

pub(super) fn contract(args: ContractArgs) -> Result<ExitCode, Fault> {
    let outputs = SheetOutputs::parse(&args.report)?;
    let reported = matches!(args.command, ContractCommand::Check(_) | ContractCommand::Compare(_));
    if !args.report.is_empty() && !reported {
        return Err(Fault::new(
            Code::UnknownFormat,
            "this command has no report",
            "`--report` is for `onejob contract check` and `onejob contract compare`",
        ));
    }
    let runtime = common::runtime()?;
    let mut sheet = None;
    let mut tell = |found: Found<'_>| {
        sheet = Some(match found {
            Found::Check(report) => sheets::check(report),
            Found::Comparison(both) => sheets::comparison(both),
        });
    };
    let (mut out, mut talk) = (std::io::stdout(), std::io::stderr());
    let outcome = runtime.block_on(run_telling(args.command, &mut out, &mut talk, &mut tell));
    if let Some(sheet) = sheet {
        outputs.write(sheet)?;
    }
    Ok(match outcome {
        ExitOutcome::Ok => ExitCode::Success,
        ExitOutcome::NotMet => ExitCode::BrokenPromise,
        ExitOutcome::Usage => ExitCode::Usage,
        ExitOutcome::Inconclusive => ExitCode::Inconclusive,
        ExitOutcome::Infrastructure => ExitCode::Infrastructure,
        ExitOutcome::NoFailover => ExitCode::NoFailover,
    })
}
