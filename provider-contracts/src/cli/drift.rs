//! `contract drift`

use std::io::Write;

use jiff::Timestamp;

use super::arguments::DriftArgs;
use super::exit::{CliError, ExitOutcome};
use super::{check, inputs, render};
use crate::attest::TrustedKeys;
use crate::drift::{Drift, drift};
use crate::gate::Attestations;

pub(super) async fn run(
    args: &DriftArgs,
    out: &mut (dyn Write + Send),
    talk: &mut (dyn Write + Send),
) -> Result<ExitOutcome, CliError> {
    let read = inputs::read(&args.inputs)?;
    let (provider, dialect) = read.provider(&args.provider)?;
    let keys = TrustedKeys::load(&args.trust)?;
    let known = Attestations::load(&args.attestations, &keys)?;
    let mut fitting: Vec<_> = known
        .good
        .iter()
        .filter(|one| {
            one.attested.contract == read.contract.name() && one.attested.provider.name == args.provider
        })
        .collect();
    fitting.sort_by_key(|one| std::cmp::Reverse(one.attested.issued));
    let Some(attestation) = fitting.first() else {
        return Err(CliError::Usage(format!(
            "OJ7046: {} holds no attestation of `{}` under contract `{}`: there is nothing to drift from",
            args.attestations.display(),
            args.provider,
            read.contract.name()
        )));
    };
    let transport = inputs::transport(&args.tape, provider, &dialect, read.run, talk)?;
    let report = check::one(&read, &args.provider, transport, &args.tape, talk).await?;
    render::report(out, &report)?;
    Ok(match drift(&attestation.attested, &report, Timestamp::now()) {
        Drift::None => {
            writeln!(out, "no drift: nothing speaks against {}", attestation.file)?;
            ExitOutcome::Ok
        }
        Drift::Inconclusive(why) => {
            writeln!(out, "nothing can be said: {why}; the attestation stands as it stood")?;
            ExitOutcome::Inconclusive
        }
        Drift::Drifted(suspension) => {
            suspension.save(&args.attestations)?;
            let file = args.attestations.join(suspension.file_name());
            writeln!(out, "suspended: {}", suspension.reason)?;
            writeln!(talk, "wrote {}; attest again, or remove it, to lift the suspension", file.display())?;
            ExitOutcome::NotMet
        }
    })
}
