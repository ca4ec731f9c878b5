//! `contract can-failover`

use std::io::Write;

use jiff::Timestamp;
use serde_json::json;

use super::arguments::{CanFailoverArgs, Format};
use super::exit::{CliError, ExitOutcome};
use super::{inputs, render};
use crate::attest::TrustedKeys;
use crate::gate::{Attestations, JobFacts, Question, Trigger, may_fail_over};
use crate::provider::Provider;

/// Everything that goes wrong on the way is a no as well: a script that only looks for 0 must never read a damaged file
/// as a yes, and one that looks for 21 must not miss it. Only a mistyped name or file is a usage error.
pub(super) fn run(
    args: &CanFailoverArgs,
    out: &mut (dyn Write + Send),
    talk: &mut (dyn Write + Send),
) -> Result<ExitOutcome, CliError> {
    let now = match &args.at {
        Some(text) => text.parse().map_err(|error| {
            CliError::Usage(format!("OJ7045: --at {text}: {error}; write 2026-03-01T12:00:00Z"))
        })?,
        None => Timestamp::now(),
    };
    let read = inputs::read(&args.inputs)?;
    let (primary, _) = read.provider(&args.from)?;
    let (fallback, dialect) = read.provider(&args.to)?;
    let answer = answer(args, &read, (primary, fallback), &dialect, now);
    match (&answer, args.format) {
        (Ok(permit), Format::Json) => render::json(
            out,
            &json!({ "may_fail_over": true, "from": args.from, "to": args.to, "file": permit.file, "key_id": permit.key_id,
                "expires": permit.expires.to_string(), "lower_bound": permit.lower_bound }),
        )?,
        (Err((code, reason)), Format::Json) => {
            render::json(
                out,
                &json!({ "may_fail_over": false, "from": args.from, "to": args.to, "code": code, "reason": reason }),
            )?;
        }
        (Ok(permit), Format::Text) => {
            writeln!(out, "yes: {} may stand in for {} until {}", args.to, args.from, permit.expires)?;
            writeln!(talk, "by {}, signed by {}", permit.file, permit.key_id)?;
        }
        (Err((code, reason)), Format::Text) => writeln!(out, "no ({code}): {reason}")?,
    }
    Ok(if answer.is_ok() { ExitOutcome::Ok } else { ExitOutcome::NoFailover })
}

type Answer = Result<crate::gate::Permit, (&'static str, String)>;

fn answer(
    args: &CanFailoverArgs,
    read: &inputs::Read,
    (primary, fallback): (&Provider, &Provider),
    dialect: &crate::dialect::Dialect,
    now: Timestamp,
) -> Answer {
    let keys = TrustedKeys::load(&args.trust).map_err(|error| ("untrusted", error.to_string()))?;
    let attestations =
        Attestations::load(&args.attestations, &keys).map_err(|error| ("untrusted", error.to_string()))?;
    let job = JobFacts::of(&read.contract, fallback, dialect)
        .map_err(|error| ("changed", error.to_string()))?
        .with_primary(primary);
    let question = Question {
        from: &args.from,
        to: &args.to,
        job: &job,
        attestations: &attestations,
        now,
        model_reported: args.model.as_deref(),
        trigger: Trigger::InAdvance,
    };
    may_fail_over(&question).map_err(|refusal| (refusal.code(), refusal.to_string()))
}
