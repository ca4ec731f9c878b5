//! `contract check`

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use super::Found;
use super::arguments::{CheckArgs, Format, TapeArgs};
use super::exit::{CliError, ExitOutcome};
use super::inputs::{self, Read};
use super::render;
use super::talk::Lines;
use crate::contract::lint;
use crate::provider::static_check;
use crate::run::{CheckOptions, CheckReport, check, plan};
use crate::transport::{RunId, Secrets, Transport};

pub(super) async fn run(
    args: &CheckArgs,
    out: &mut (dyn Write + Send),
    talk: &mut (dyn Write + Send),
    tell: &mut (dyn FnMut(Found<'_>) + Send),
) -> Result<ExitOutcome, CliError> {
    let read = inputs::read(&args.inputs)?;
    if args.dry_run {
        return dry_run(&read, args, out);
    }
    let (provider, dialect) = read.provider(&args.provider)?;
    let transport = inputs::transport(&args.tape, provider, &dialect, read.run, talk)?;
    let report = one(&read, &args.provider, transport, &args.tape, talk).await?;
    tell(Found::Check(&report));
    match args.format {
        Format::Json => render::json(out, &report)?,
        Format::Text => render::report(out, &report)?,
    }
    if let Some(path) = &args.out {
        save(path, &report)?;
    }
    Ok(ExitOutcome::of(&report.verdict))
}

/// Checks one provider and passes its progress on.
pub(super) async fn one(
    read: &Read,
    name: &str,
    transport: Arc<dyn Transport>,
    tape: &TapeArgs,
    talk: &mut (dyn Write + Send),
) -> Result<CheckReport, CliError> {
    let (provider, dialect) = read.provider(name)?;
    let lines = Lines::default();
    let replayed = tape.replay.is_some();
    let run = if replayed { RunId::RECORDED } else { read.run };
    let options = CheckOptions { per_case: tape.per_case, replayed, run };
    let running = check(&read.contract, provider, &dialect, transport, options, &lines);
    let mut running = std::pin::pin!(running);
    let mut tick = tokio::time::interval(std::time::Duration::from_millis(200));
    writeln!(talk, "{} · {name}", read.contract.name())?;
    loop {
        tokio::select! {
            report = &mut running => {
                say(&lines, talk)?;
                return Ok(report?);
            }
            _ = tick.tick() => say(&lines, talk)?,
        }
    }
}

fn say(lines: &Lines, talk: &mut (dyn Write + Send)) -> std::io::Result<()> {
    lines.take().iter().try_for_each(|line| writeln!(talk, "{line}"))
}

/// Writes a result, whole or not at all.
pub(super) fn save(path: &Path, value: &impl serde::Serialize) -> Result<(), CliError> {
    let text = serde_json::to_string_pretty(value).map_err(std::io::Error::other)? + "\n";
    crate::file::write_whole(path, text.as_bytes())?;
    Ok(())
}

fn dry_run(read: &Read, args: &CheckArgs, out: &mut (dyn Write + Send)) -> Result<ExitOutcome, CliError> {
    let (provider, dialect) = read.provider(&args.provider)?;
    let report = static_check(&read.contract, provider, &dialect)?;
    let (mut findings, _) = lint(&read.contract);
    findings.extend(report.findings.iter().cloned());
    let plan = plan(&read.contract, provider, &report);
    // A body of one's own may carry a secret, and this is printed.
    let body = report.request.as_ref().map(|request| Secrets::default().redact_document(&request.body));
    let first = read.contract.cases.first().and_then(|case| report.facts.get(&case.name));
    match args.format {
        Format::Json => render::json(
            out,
            &serde_json::json!({ "plan": plan, "findings": findings, "request": body,
                "prompt": first.map(|facts| serde_json::json!({ "rendered": facts.rendered, "tokens": facts.tokens, "exact": facts.exact }))  }),
        )?,
        Format::Text => {
            for finding in &findings {
                render::finding(out, finding)?;
            }
            render::plan(out, &plan)?;
            if let Some(facts) = first {
                let exact = if facts.exact { "" } else { "an estimated " };
                writeln!(out, "the first prompt has {exact}{} tokens", facts.tokens)?;
                if let Some(rendered) = &facts.rendered {
                    writeln!(out, "rendered by its template:\n{rendered}")?;
                }
            }
            if let Some(body) = body {
                writeln!(out, "the first request:")?;
                render::json(out, &body)?;
            }
        }
    }
    Ok(if findings.is_empty() { ExitOutcome::Ok } else { ExitOutcome::NotMet })
}
