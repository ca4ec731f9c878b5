//! The formats of benchmarks by name, and reading a stored one.

use std::{
    io::{self, Write},
    str::FromStr,
};

use serde::Deserialize;
use serde_json::Value;

use super::{BENCH_SCHEMA_VERSION, BenchReport, csv, sheet};
use crate::{
    html::HtmlError,
    sheet::{html, markdown},
};

/// A format that benchmarks can be written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BenchFormat {
    /// One self-contained HTML file.
    Html,
    /// GitHub's Markdown.
    Markdown,
    /// A line for each measurement.
    Csv,
    /// The report itself, to compare later runs with.
    Json,
}

/// A name that is none of a benchmark's formats.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no format of benchmarks; there are html, markdown, csv and json")]
pub struct UnknownBenchFormat(String);

/// Why a stored benchmark can't be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadBenchError {
    /// Not JSON, or not a benchmark.
    #[error("this is no onejob benchmark: {0}; write one with `onejob bench --report json=PATH`")]
    Malformed(#[from] serde_json::Error),
    /// A report of something else.
    #[error(
        "this is a onejob report, but not of a benchmark; write one with `onejob bench --report json=PATH`"
    )]
    OfSomethingElse,
    /// Written by a newer onejob.
    #[error(
        "the benchmark has schema version {found}, and this onejob reads up to {BENCH_SCHEMA_VERSION}; use the version \
         of onejob that wrote it, or a newer one"
    )]
    Newer {
        /// The version in the file.
        found: u32,
    },
}

impl BenchFormat {
    /// Every format.
    pub const ALL: [Self; 4] = [Self::Html, Self::Markdown, Self::Csv, Self::Json];

    /// The name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Html => "html",
            Self::Markdown => "markdown",
            Self::Csv => "csv",
            Self::Json => "json",
        }
    }
}

impl FromStr for BenchFormat {
    type Err = UnknownBenchFormat;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let known = Self::ALL.into_iter().find(|format| format.name() == text);
        known.ok_or_else(|| UnknownBenchFormat(text.to_owned()))
    }
}

/// Writes the benchmark in a format.
pub fn render(report: &BenchReport, format: BenchFormat, out: &mut dyn Write) -> Result<(), HtmlError> {
    match format {
        BenchFormat::Html => html(&sheet(report), out),
        BenchFormat::Markdown => Ok(markdown(&sheet(report), out)?),
        BenchFormat::Csv => Ok(csv::csv(report, out)?),
        BenchFormat::Json => {
            serde_json::to_writer_pretty(&mut *out, report).map_err(io::Error::from)?;
            Ok(out.write_all(b"\n")?)
        }
    }
}

#[derive(Deserialize)]
struct Version {
    schema_version: u32,
    /// What every benchmark has, in every version, and no other report.
    subject: Option<Value>,
}

/// Reads a benchmark of this schema version or an older one.
pub fn read(text: &str) -> Result<BenchReport, ReadBenchError> {
    // The version first: a newer one may have fields that are unknown here, and that is not the thing to complain of.
    let Version { schema_version: found, subject } = serde_json::from_str(text)?;
    if subject.is_none() {
        return Err(ReadBenchError::OfSomethingElse);
    }
    if found > BENCH_SCHEMA_VERSION {
        return Err(ReadBenchError::Newer { found });
    }
    Ok(serde_json::from_str(text)?)
}

/// The JSON Schema (2020-12) of a benchmark.
#[must_use]
pub fn schema() -> Value {
    let mut schema = schemars::schema_for!(BenchReport);
    schema.insert("title".into(), "Report of a onejob benchmark".into());
    schema.to_value()
}
