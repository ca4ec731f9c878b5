//! `contract lint`

use std::io::Write;

use serde_json::json;

use super::arguments::{Format, LintArgs};
use super::exit::{CliError, ExitOutcome};
use super::{inputs, render};
use crate::contract;
use crate::provider::static_check;

pub(super) fn run(
    args: &LintArgs,
    out: &mut (dyn Write + Send),
    talk: &mut (dyn Write + Send),
) -> Result<ExitOutcome, CliError> {
    let read = inputs::read(&args.inputs)?;
    let (mut findings, mut notes) = contract::lint(&read.contract);
    let all = args.provider.iter().any(|name| name == "all");
    let names: Vec<String> =
        if all { read.providers.keys().cloned().collect() } else { args.provider.clone() };
    for name in &names {
        let (provider, dialect) = read.provider(name)?;
        let report = static_check(&read.contract, provider, &dialect)?;
        findings.extend(report.findings.into_iter().map(|mut finding| {
            finding.message = format!("{name}: {}", finding.message);
            finding
        }));
        notes.extend(report.notes.into_iter().map(|mut note| {
            note.message = format!("{name}: {}", note.message);
            note
        }));
    }
    match args.format {
        Format::Json => render::json(out, &json!({ "findings": findings, "notes": notes }))?,
        Format::Text => {
            for finding in &findings {
                render::finding(out, finding)?;
            }
            render::notes(out, &notes)?;
        }
    }
    if findings.is_empty() {
        let with = if names.is_empty() { String::new() } else { format!(", with {}", names.join(", ")) };
        writeln!(talk, "{}: nothing speaks against it{with}", read.contract.name())?;
        return Ok(ExitOutcome::Ok);
    }
    Ok(ExitOutcome::NotMet)
}
