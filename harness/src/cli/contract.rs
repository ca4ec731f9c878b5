//! `onejob contract`

use std::path::Path;

use onejob_contracts::{
    cli::{ContractCommand, ExitOutcome, Found, run_telling},
    provider::load_providers,
};
use onejob_reports::{exit::ExitCode, redact::Secrets};
use serde_json::json;

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
    let secrets = secrets(&args.command);
    let runtime = common::runtime()?;
    let mut pages = None;
    let mut tell = |found: Found<'_>| {
        pages = Some(match found {
            Found::Check(report) => (sheets::check(report), json!(report)),
            Found::Comparison(both) => (sheets::comparison(both), json!(both)),
        });
    };
    let (mut out, mut talk) = (std::io::stdout(), std::io::stderr());
    let outcome = runtime.block_on(run_telling(args.command, &mut out, &mut talk, &mut tell));
    if let Some((sheet, json)) = pages {
        outputs.write(sheet, json, &secrets)?;
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

/// What a provider is sent to know us by, and might send back: no page shows it.
fn secrets(command: &ContractCommand) -> Secrets {
    let inputs = match command {
        ContractCommand::Check(check) => &check.inputs,
        ContractCommand::Compare(compare) => &compare.inputs,
        _ => return Secrets::new(),
    };
    let beside = || inputs.contract.parent().unwrap_or(Path::new("")).join("providers.toml");
    let file = inputs.providers.clone().unwrap_or_else(beside);
    // A file that can't be read is told by the command itself.
    let providers = load_providers(&file).unwrap_or_default();
    let keys = providers.into_values().filter_map(|provider| provider.key_env);
    let of_aws = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"].map(str::to_owned);
    let values = keys.chain(of_aws).filter_map(|name| std::env::var(name).ok());
    values.fold(Secrets::new(), |all, value| all.value(&value))
}
