use std::io::{self, Write};

use serde::Deserialize;

use crate::model::{RunReport, SCHEMA_VERSION};

/// Why a stored report can't be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// Not JSON, or not a report.
    #[error("this is no onejob report: {0}; write one with `onejob run --report json=PATH`")]
    Malformed(#[from] serde_json::Error),
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

/// Reads a report of this schema version or an older one.
pub fn read(text: &str) -> Result<RunReport, ReadError> {
    // The version first: a newer report may have fields that are unknown here, and that is not the thing to complain of.
    let version: Version = serde_json::from_str(text)?;
    check_version(version.schema_version)?;
    Ok(serde_json::from_str(text)?)
}

pub(super) fn check_version(found: u32) -> Result<(), ReadError> {
    if found > SCHEMA_VERSION { Err(ReadError::Newer { found }) } else { Ok(()) }
}
