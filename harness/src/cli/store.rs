//! What a run leaves in its folder: the last report, and the history of every cell.

use std::{
    collections::BTreeSet,
    fs,
    io::{self, BufRead as _, BufReader, BufWriter, Read as _, Write as _},
    path::{Path, PathBuf},
};

use onejob_reports::{
    json::{Head, NdjsonWriter, ReadError, read_any},
    model::{Cell, RunReport},
};
use serde::Deserialize;
use serde_json::json;

use super::run::not_passed;
use crate::{
    engine::Stored,
    fail::{Code, Fault},
    history::{Event, HISTORY_VERSION, History},
    target::Hidden,
};

/// More than the first line of a history has.
const LONGEST_HEADER: u64 = 64 * 1024;

/// The folder.
pub(super) struct Store(PathBuf);

impl Store {
    pub(super) fn new(folder: &Path) -> Self {
        Self(folder.to_owned())
    }

    /// Where the last report is.
    pub(super) fn report_file(&self) -> PathBuf {
        self.0.join("report.json")
    }

    /// Where a run that goes on writes down what it has found. Gone once the report is there.
    fn journal_file(&self) -> PathBuf {
        self.0.join("running.ndjson")
    }

    fn histories(&self) -> PathBuf {
        self.0.join("history")
    }

    /// Whether it can be written, before a run is spent on it.
    pub(super) fn check(&self) -> Result<(), Fault> {
        let folder = self.histories();
        fs::create_dir_all(&folder).and_then(|()| super::common::writable(&folder.join(".probe"))).map_err(
            |error| {
                Fault::new(
                    Code::ReportPath,
                    format!("nothing can be kept in {}", self.0.display()),
                    "give another folder with --store, one that you may write to",
                )
                .because(error)
            },
        )
    }

    /// Makes room for a run's histories, and begins its journal: from here on a run that dies is the last run, with what it had
    /// found by then. The last report stays until the new one is there.
    pub(super) fn begin(&self, head: Head) -> Result<Journal, Fault> {
        let (file, folder) = (self.journal_file(), self.histories());
        let journal = fs::create_dir_all(&self.0)
            .and_then(|()| fs::File::create(&file))
            .and_then(|file| NdjsonWriter::begin(BufWriter::new(file), head))
            .map_err(|error| unwritable(&file, error))?;
        fs::create_dir_all(&folder)
            .and_then(|()| clear_histories(&folder))
            .map_err(|error| unwritable(&folder, error))?;
        Ok(Journal(journal))
    }

    /// Keeps a cell's history: a line that says what it is, then an event a line.
    pub(super) fn keep(
        &self,
        name: &str,
        repeat: u32,
        history: &History,
        secrets: &Hidden,
    ) -> io::Result<()> {
        let file = self.histories().join(format!("{}.{repeat}.ndjson", name.replace([' ', '/'], "_")));
        let mut out = BufWriter::new(fs::File::create(file)?);
        writeln!(out, "{}", json!({ "onejob_history": HISTORY_VERSION, "cell": name, "repeat": repeat }))?;
        let mut written = Ok(());
        history.each(|event| {
            if written.is_ok() {
                written = serde_json::to_string(event)
                    .map_err(io::Error::from)
                    .and_then(|line| writeln!(out, "{}", secrets.redact(&line)));
            }
        })?;
        written.and_then(|()| out.flush())
    }

    /// Replaces the last report, in one step: a reader sees the old one or the new one.
    pub(super) fn save(&self, report: &RunReport) -> Result<(), Fault> {
        let (file, draft) = (self.report_file(), self.0.join("report.json.new"));
        let saved = fs::create_dir_all(&self.0)
            .and_then(|()| fs::write(&draft, serde_json::to_vec_pretty(report)?))
            .and_then(|()| fs::rename(&draft, &file));
        saved.map_err(|error| unwritable(&file, error))?;
        // Only now: until the report is there the journal is all that is known of the run.
        match fs::remove_file(self.journal_file()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(unwritable(&self.journal_file(), error))
            }
            _ => Ok(()),
        }
    }

    /// The report of the last run; of one that died, or that goes on, what its journal has.
    pub(super) fn last(&self) -> Result<RunReport, Fault> {
        let journal = self.journal_file();
        if !journal.exists() {
            return read_report(&self.report_file());
        }
        talk!(
            "the last run has no report: it was killed, or it goes on; this is what it had found until then ({})",
            journal.display()
        );
        read_report(&journal)
    }

    /// Keeps the page of the last report, and gives its whole path.
    pub(super) fn keep_page(&self, page: &[u8]) -> Result<PathBuf, Fault> {
        let file = self.0.join("report.html");
        let kept = fs::write(&file, page).and_then(|()| std::path::absolute(&file));
        kept.map_err(|error| unwritable(&file, error))
    }

    /// Every history of the last run, by the names of their files.
    pub(super) fn read_histories(&self) -> Result<Vec<Kept>, Fault> {
        let folder = self.histories();
        let listed = fs::read_dir(&folder).and_then(|entries| {
            entries.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<_>>()
        });
        let mut files: Vec<PathBuf> = listed.map_err(|error| {
            Fault::new(
                Code::HistoryUnreadable,
                format!("there are no histories in {}", folder.display()),
                "`onejob run` keeps them; --store names its folder",
            )
            .because(error)
        })?;
        files.retain(|file| file.extension().is_some_and(|extension| extension == "ndjson"));
        files.sort();
        files.iter().map(|file| read_history(file)).collect()
    }

    /// The cells that did not pass in the last run.
    pub(super) fn last_failed(&self) -> Result<BTreeSet<String>, Fault> {
        Ok(not_passed(&self.last()?))
    }
}

/// What a run has found so far, cell by cell.
pub(super) struct Journal(NdjsonWriter<BufWriter<fs::File>>);

impl Journal {
    /// Adds a cell; it is in the file when this returns.
    pub(super) fn add(&mut self, cell: &Cell) -> io::Result<()> {
        self.0.cell(cell)
    }
}

/// Removes the histories of an earlier run, and nothing else: the folder was named by somebody who may keep other things in
/// it.
fn clear_histories(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let file = entry?.path();
        if file.extension().is_some_and(|extension| extension == "ndjson") && is_history(&file)? {
            fs::remove_file(&file)?;
        }
    }
    Ok(())
}

/// Whether a file begins as histories do. One that broke off before its first line was whole is none.
fn is_history(file: &Path) -> io::Result<bool> {
    if !file.is_file() {
        return Ok(false);
    }
    let mut first = Vec::new();
    BufReader::new(fs::File::open(file)?).take(LONGEST_HEADER).read_until(b'\n', &mut first)?;
    Ok(serde_json::from_slice::<Header>(&first).is_ok())
}

fn unwritable(path: &Path, error: io::Error) -> Fault {
    Fault::new(
        Code::OutputUnwritable,
        format!("{} can't be written", path.display()),
        "give another folder with --store",
    )
    .because(error)
}

/// A stored history.
pub(super) struct Kept {
    /// The history itself; it stays in its file.
    pub(super) stored: Stored,
    /// The line in whose middle the file ends, from 1: the run died while it wrote.
    pub(super) torn: Option<usize>,
    /// The file.
    pub(super) file: PathBuf,
}

#[derive(Deserialize)]
struct Header {
    onejob_history: u32,
    #[serde(default)]
    cell: String,
    #[serde(default)]
    repeat: u32,
}

/// Reads a history: a line that says what it is, then an event a line.
fn read_history(file: &Path) -> Result<Kept, Fault> {
    let unreadable = |what: String| {
        Fault::new(
            Code::HistoryUnreadable,
            format!("{} {what}", file.display()),
            "run again; a history is kept as it was written, and says nothing once it was changed",
        )
    };
    let broken = |error: io::Error| unreadable("can't be read".to_owned()).because(error);
    let mut reader = BufReader::new(fs::File::open(file).map_err(broken)?);
    let mut line = Vec::new();
    let begin = reader.read_until(b'\n', &mut line).map_err(broken)? as u64;
    let header: Header = serde_json::from_slice(&line)
        .map_err(|_| unreadable("is no history: its first line does not say so".to_owned()))?;
    if header.onejob_history != HISTORY_VERSION {
        return Err(Fault::new(
            Code::HistoryUnreadable,
            format!(
                "{} was written in version {} of the history's form, and this onejob reads version {HISTORY_VERSION}",
                file.display(),
                header.onejob_history
            ),
            "judge it with the onejob that wrote it, or run again",
        ));
    }
    let (mut lines, mut torn) = (Vec::new(), None);
    for number in 2.. {
        line.clear();
        let bytes = reader.read_until(b'\n', &mut line).map_err(broken)? as u64;
        if bytes == 0 {
            break;
        }
        let place = lines.len() as u64;
        match serde_json::from_slice::<Event>(&line) {
            Ok(event) if event.seq == place => lines.push((event.round, bytes)),
            Ok(event) => {
                return Err(unreadable(format!(
                    "is not whole: line {number} holds event {}, and event {place} belongs there",
                    event.seq
                )));
            }
            // Only the last line has no end, and only a run that died leaves it so.
            Err(_) if !line.ends_with(b"\n") => torn = Some(number),
            Err(error) => {
                return Err(unreadable(format!("is no history from line {number} on")).because(error));
            }
        }
    }
    let history = History::in_file(file.to_owned(), begin, lines);
    let stored = Stored { cell: header.cell, repeat: header.repeat, history };
    Ok(Kept { stored, torn, file: file.to_owned() })
}

/// Reads a stored report, JSON or NDJSON; of one that breaks off, what is whole.
pub(super) fn read_report(path: &Path) -> Result<RunReport, Fault> {
    let bytes = fs::read(path).map_err(|error| {
        let advice = match error.kind() {
            io::ErrorKind::IsADirectory => "give the report in it, not the folder",
            _ => "`onejob run` keeps its last report in .onejob/report.json; `--report json=FILE` writes others",
        };
        unreadable(path, advice, error)
    })?;
    let report = read_any(&bytes).map_err(|error| {
        let advice = match error {
            ReadError::Newer { .. } => {
                "read it with the version of onejob that wrote it, or with a newer one"
            }
            _ => "`onejob run --report json=FILE` and `ndjson=FILE` write what can be read here",
        };
        unreadable(path, advice, error)
    })?;
    if let Some(incomplete) = &report.incomplete {
        talk!("{}: {incomplete}", path.display());
    }
    Ok(report)
}

fn unreadable(
    path: &Path,
    advice: &str,
    error: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> Fault {
    Fault::new(Code::ReportUnreadable, format!("{} is no report that can be read", path.display()), advice)
        .because(error)
}
