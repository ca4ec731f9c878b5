use std::io::{self, Write};

use serde::Deserialize;
use serde_json::Value;

use super::torn;
use crate::model::{RunReport, SCHEMA_VERSION};

/// Why a stored report can't be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// Not JSON, or not a report.
    #[error("this is no onejob report: {0}; write one with `onejob run --report json=PATH`")]
    Malformed(#[from] serde_json::Error),
    /// A document of onejob's that is of something else.
    #[error("this is {0}, and no report of a run")]
    OfSomethingElse(&'static str),
    /// Nothing at all.
    #[error(
        "it is empty: the run that was to write it never came to that; write one with `onejob run --report json=PATH`"
    )]
    Empty,
    /// Not text.
    #[error("it is no text: byte {at} is not UTF-8; a onejob report is JSON or NDJSON")]
    NotText {
        /// The first byte that is none.
        at: usize,
    },
    /// It breaks off before anything is known.
    #[error("it breaks off before it says what it is; write it anew with `onejob run --report json=PATH`")]
    TornAtOnce,
    /// Written by a newer onejob.
    #[error(
        "the report has schema version {found}, and this onejob reads up to {SCHEMA_VERSION}; use the version of onejob \
         that wrote it, or a newer one"
    )]
    Newer {
        /// The version in the report.
        found: u32,
    },
    /// A line of an NDJSON report is not what it should be.
    #[error(
        "line {line} of the report can't be used: {why}; write the report anew with `onejob run --report ndjson=PATH`"
    )]
    Line {
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        why: String,
    },
}

/// Writes the report as one indented JSON document.
pub fn render(report: &RunReport, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, report)?;
    out.write_all(b"\n")
}

#[derive(Deserialize)]
struct Version {
    schema_version: u32,
}

/// Reads a report of this schema version or an older one. Of a report that breaks off, what is whole is read, and
/// [`RunReport::incomplete`] says what isn't.
pub fn read(text: &str) -> Result<RunReport, ReadError> {
    // The version first: a newer report may have fields that are unknown here, and that is not the thing to complain of.
    match serde_json::from_str::<Version>(text) {
        Ok(version) => check_version(version.schema_version)?,
        Err(error) if error.is_eof() => {
            let whole = torn::members(text).unwrap_or_default();
            if let Some(found) = whole.get("schema_version").and_then(Value::as_u64) {
                check_version(u32::try_from(found).unwrap_or(u32::MAX))?;
            }
            return torn::report(text)?.ok_or(ReadError::TornAtOnce);
        }
        Err(error) => return Err(other(text).map_or(error.into(), ReadError::OfSomethingElse)),
    }
    serde_json::from_str(text).map_err(|error| other(text).map_or(error.into(), ReadError::OfSomethingElse))
}

/// Reads a report in either of its forms, by what stands in it.
pub fn read_any(bytes: &[u8]) -> Result<RunReport, ReadError> {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        // A character whose rest was not written any more.
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default()
        }
        Err(error) => return Err(ReadError::NotText { at: error.valid_up_to() }),
    };
    if text.trim().is_empty() {
        return Err(ReadError::Empty);
    }
    let first = text.trim_start().lines().next().unwrap_or_default();
    let kind = match serde_json::from_str(first) {
        Ok(Value::Object(members)) => members.get("kind").cloned(),
        _ => torn::members(first).and_then(|members| members.get("kind").cloned()),
    };
    match kind {
        Some(Value::String(_)) => super::read_lines(text),
        _ => read(text),
    }
}

/// What a document of onejob's is that isn't a report of a run.
fn other(text: &str) -> Option<&'static str> {
    // A history's first line says what it is; the others are one document.
    let first = || serde_json::from_str(text.lines().next()?).ok();
    let Some(Value::Object(members)) = serde_json::from_str(text).ok().or_else(first) else { return None };
    let has = |name: &str| members.contains_key(name);
    if has("onejob_history") {
        Some("the history of a cell; `onejob report --rejudge` judges those of a whole run")
    } else if has("schema_version") && has("subject") && has("rows") {
        Some("a benchmark, which `onejob bench --compare` takes")
    } else if has("schema_version") && has("digest") && has("coverage") {
        Some("the report of an exploration")
    } else if has("defects") && has("scenarios") && has("trials") {
        Some("a kill matrix of `onejob prove`")
    } else if has("$schema") && has("runs") {
        Some("SARIF, which onejob writes and doesn't read")
    } else {
        None
    }
}

pub(super) fn check_version(found: u32) -> Result<(), ReadError> {
    if found > SCHEMA_VERSION { Err(ReadError::Newer { found }) } else { Ok(()) }
}
