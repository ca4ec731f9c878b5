use std::{
    collections::BTreeSet,
    io::{self, Write},
};

use serde::{Deserialize, Serialize};

use super::{ReadError, document::check_version, torn};
use crate::model::{Cell, Profile, RunReport, Shard, Sweeps};

/// One line of the NDJSON form: a head, then the cells as they finish, then an end.
///
/// What was written before a crash stays readable; that the end is missing tells that the run didn't reach it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Line {
    /// The first line.
    Run(Box<Head>),
    /// A cell.
    Cell(Box<Cell>),
    /// The last line.
    End {
        /// Wall time of the run in microseconds.
        duration_us: u64,
        /// Whether somebody stopped the run before its end.
        interrupted: bool,
        /// Names of the planned cells that have no verdict, where they are known.
        #[serde(default)]
        not_run: Vec<String>,
        /// What is missing of the report itself, where it was made of one that breaks off.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        incomplete: Option<String>,
    },
}

/// What is known of a run when it begins. The fields are those of [`RunReport`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Head {
    /// Version of the serialised form.
    pub schema_version: u32,
    /// Version of onejob that judged the run.
    pub tool_version: String,
    /// Identifies the run.
    pub run_id: String,
    /// Start of the run, RFC 3339 in UTC.
    pub started_at: String,
    /// Name of the target.
    pub target: String,
    /// Profile of the target and what it widens.
    pub profile: Profile,
    /// The defects that were switched on in the reference service.
    pub defects: Vec<String>,
    /// Where the database came from.
    pub database: Option<String>,
    /// Seed of everything random in the run.
    pub seed: u64,
    /// Which shard this is, where the run is one of several.
    pub shard: Option<Shard>,
    /// How many cells were planned.
    pub planned: usize,
    /// Their names, where they are known: what has no verdict when the lines end did not run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cells: Vec<String>,
}

impl Head {
    /// The head of a report.
    #[must_use]
    pub fn of(report: &RunReport) -> Self {
        let report = report.clone();
        Self {
            schema_version: report.schema_version,
            tool_version: report.tool_version,
            run_id: report.run_id,
            started_at: report.started_at,
            target: report.target,
            profile: report.profile,
            defects: report.defects,
            database: report.database,
            seed: report.seed,
            shard: report.shard,
            planned: report.planned,
            cells: Vec::new(),
        }
    }

    /// The report of a run that ended as it began. Until an end is known it counts as interrupted.
    fn into_report(self) -> RunReport {
        RunReport {
            schema_version: self.schema_version,
            tool_version: self.tool_version,
            run_id: self.run_id,
            started_at: self.started_at,
            duration_us: 0,
            target: self.target,
            profile: self.profile,
            defects: self.defects,
            database: self.database,
            seed: self.seed,
            interrupted: true,
            shard: self.shard,
            planned: self.planned,
            not_run: Vec::new(),
            incomplete: None,
            sweeps: None,
            cells: Vec::new(),
        }
    }
}

/// Writes a run line by line while it goes on, each line flushed, so that nothing is lost with the process and nothing is
/// kept in memory.
#[derive(Debug)]
pub struct NdjsonWriter<W: Write> {
    out: W,
}

impl<W: Write> NdjsonWriter<W> {
    /// Begins with the head.
    pub fn begin(out: W, head: Head) -> io::Result<Self> {
        let mut writer = Self { out };
        writer.line(&Line::Run(Box::new(head)))?;
        Ok(writer)
    }

    /// Adds a cell.
    pub fn cell(&mut self, cell: &Cell) -> io::Result<()> {
        #[derive(Serialize)]
        #[serde(tag = "kind", rename_all = "kebab-case")]
        enum Borrowed<'a> {
            Cell(&'a Cell),
        }
        self.line(&Borrowed::Cell(cell))
    }

    /// Ends the report.
    pub fn end(mut self, duration_us: u64, interrupted: bool, not_run: Vec<String>) -> io::Result<()> {
        self.line(&Line::End { duration_us, interrupted, not_run, incomplete: None })
    }

    fn line(&mut self, line: &impl Serialize) -> io::Result<()> {
        serde_json::to_writer(&mut self.out, line)?;
        self.out.write_all(b"\n")?;
        self.out.flush()
    }
}

/// Writes a finished report as NDJSON.
pub fn render_lines(report: &RunReport, out: &mut dyn Write) -> io::Result<()> {
    let mut writer = NdjsonWriter::begin(out, Head::of(report))?;
    report.cells.iter().try_for_each(|cell| writer.cell(cell))?;
    writer.line(&Line::End {
        duration_us: report.duration_us,
        interrupted: report.interrupted,
        not_run: report.not_run.clone(),
        incomplete: report.incomplete.clone(),
    })
}

/// Reads an NDJSON report, also one whose writer died: without an end line the run counts as interrupted, and a last line
/// that was cut off is left out. Lines of a kind that isn't known here are errors.
pub fn read_lines(text: &str) -> Result<RunReport, ReadError> {
    let at = |index: usize, why: &dyn ToString| ReadError::Line { line: index + 1, why: why.to_string() };
    let mut report: Option<RunReport> = None;
    let mut planned: Vec<String> = Vec::new();
    let (mut ended, mut torn) = (false, None);
    let complete = text.ends_with('\n');
    let lines: Vec<&str> = text.lines().collect();
    for (index, line) in lines.iter().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let line: Line = match serde_json::from_str(line) {
            Ok(line) => line,
            Err(_) if index + 1 == lines.len() && !complete => {
                check_newer(line)?;
                torn = Some(index + 1);
                // The head itself: what is whole of it is known.
                report = match report {
                    None => Some(torn::head(line)?.ok_or(ReadError::TornAtOnce)?),
                    known => known,
                };
                break;
            }
            Err(error) => {
                check_newer(line)?;
                return Err(at(index, &error));
            }
        };
        if ended {
            return Err(at(index, &"it stands after the end line"));
        }
        match (line, &mut report) {
            (Line::Run(mut head), None) => {
                check_version(head.schema_version)?;
                planned = std::mem::take(&mut head.cells);
                report = Some(head.into_report());
            }
            (Line::Run(_), Some(_)) => {
                return Err(at(index, &"a second head; is this two reports in one file?"));
            }
            (_, None) => return Err(at(index, &"the head, a line of kind `run`, has to come first")),
            (Line::Cell(cell), Some(report)) => report.cells.push(*cell),
            (Line::End { duration_us, interrupted, not_run, incomplete }, Some(report)) => {
                report.incomplete = incomplete;
                report.duration_us = duration_us;
                report.interrupted = interrupted;
                report.not_run = not_run;
                ended = true;
            }
        }
    }
    let mut report = report.ok_or_else(|| at(0, &"the file is empty"))?;
    report.sweeps = Sweeps::of(&report.cells);
    if !ended && report.incomplete.is_none() {
        report.incomplete = Some(match torn {
            Some(line) => {
                format!("The report breaks off in line {line}: the run ended while it was written.")
            }
            None => "The report has no end: the run ended before it could write it.".to_owned(),
        });
        let judged: BTreeSet<String> = report.cells.iter().map(Cell::name).collect();
        report.not_run = planned.into_iter().filter(|name| !judged.contains(name)).collect();
    }
    Ok(report)
}

/// A head of a newer version may not fit the types here; then the version is what is wrong.
fn check_newer(line: &str) -> Result<(), ReadError> {
    let members = match serde_json::from_str(line) {
        Ok(serde_json::Value::Object(members)) => Some(members),
        _ => torn::members(line),
    };
    let version = members
        .and_then(|members| members.get("schema_version")?.as_u64())
        .and_then(|version| u32::try_from(version).ok());
    version.map_or(Ok(()), check_version)
}
