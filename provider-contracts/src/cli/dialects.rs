//! `contract dialects`

use std::io::Write;

use serde_json::json;

use super::arguments::{DialectsArgs, Format};
use super::exit::{CliError, ExitOutcome};
use super::{inputs, render};
use crate::dialect::{Dialect, FinishClass};

pub(super) fn run(args: &DialectsArgs, out: &mut (dyn Write + Send)) -> Result<ExitOutcome, CliError> {
    let catalogue = inputs::catalogue(args.dialects.as_deref())?;
    match args.format {
        Format::Json => {
            let all: Vec<_> = catalogue.iter().map(as_json).collect();
            render::json(out, &all)?;
        }
        Format::Text => {
            writeln!(
                out,
                "{:<18} {:<12} {:<17} {:<16} finish values that are an answer",
                "dialect", "structure", "streaming", "probe"
            )?;
            for dialect in catalogue.iter() {
                writeln!(
                    out,
                    "{:<18} {:<12} {:<17} {:<16} {}",
                    dialect.name,
                    structure(dialect),
                    dialect.stream.as_ref().map_or("none", |stream| stream.framing.as_str()),
                    dialect.probe.kind.as_str(),
                    answers(dialect).join(", ")
                )?;
            }
        }
    }
    Ok(ExitOutcome::Ok)
}

fn structure(dialect: &Dialect) -> &'static str {
    match (&dialect.structured.json_schema, &dialect.structured.json_object) {
        (Some(_), _) => "json_schema",
        (None, Some(_)) => "json_object",
        (None, None) => "none",
    }
}

fn answers(dialect: &Dialect) -> Vec<&str> {
    if dialect.answer.finish_is_implied {
        return vec!["(implied)"];
    }
    let ok = |class: &FinishClass| matches!(class, FinishClass::Ok | FinishClass::Tool);
    dialect.finish.iter().filter(|(_, class)| ok(class)).map(|(value, _)| value.as_str()).collect()
}

fn as_json(dialect: &Dialect) -> serde_json::Value {
    let finish: serde_json::Map<String, serde_json::Value> =
        dialect.finish.iter().map(|(value, class)| (value.clone(), json!(class))).collect();
    json!({
        "name": dialect.name,
        "title": dialect.title,
        "path": dialect.request.path,
        "structure": structure(dialect),
        "streaming": dialect.stream.as_ref().map(|stream| stream.framing.as_str()),
        "probe": dialect.probe.kind.as_str(),
        "probe_how": dialect.probe.how,
        "parameters": dialect.parameters,
        "finish": finish,
    })
}
