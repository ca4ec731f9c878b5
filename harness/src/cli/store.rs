//! What a run leaves in its folder: the last report, and the history of every cell.

use std::{
    collections::BTreeSet,
    fs,
    io::{self, BufWriter, Write as _},
    path::{Path, PathBuf},
};

use onejob_reports::model::RunReport;
use serde::Deserialize;
use serde_json::json;

use super::run::not_passed;
use crate::{
    engine::Stored,
    fail::{Code, Fault},
    history::{Event, HISTORY_VERSION},
    target::Hidden,
};

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

    /// Makes room for a run's histories. The last report stays until the new one is there.
    pub(super) fn begin(&self) -> Result<(), Fault> {
        let folder = self.histories();
        let made = match fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => fs::create_dir_all(&folder),
        };
        made.map_err(|error| unwritable(&folder, error))
    }

    /// Keeps a cell's history: a line that says what it is, then an event a line.
    pub(super) fn keep(&self, name: &str, repeat: u32, events: &[Event], secrets: &Hidden) -> io::Result<()> {
        let file = self.histories().join(format!("{}.{repeat}.ndjson", name.replace([' ', '/'], "_")));
        let mut out = BufWriter::new(fs::File::create(file)?);
        writeln!(out, "{}", json!({ "onejob_history": HISTORY_VERSION, "cell": name, "repeat": repeat }))?;
        for event in events {
            let line = serde_json::to_string(event)?;
            writeln!(out, "{}", secrets.redact(&line))?;
        }
        out.flush()
    }

    /// Replaces the last report, in one step: a reader sees the old one or the new one.
    pub(super) fn save(&self, report: &RunReport) -> Result<(), Fault> {
        let (file, draft) = (self.report_file(), self.0.join("report.json.new"));
        let saved = fs::create_dir_all(&self.0)
            .and_then(|()| fs::write(&draft, serde_json::to_vec_pretty(report)?))
            .and_then(|()| fs::rename(&draft, &file));
        saved.map_err(|error| unwritable(&file, error))
    }

    /// Keeps the page of the last report, and gives its whole path.
    pub(super) fn keep_page(&self, page: &[u8]) -> Result<PathBuf, Fault> {
        let file = self.0.join("report.html");
        let kept = fs::write(&file, page).and_then(|()| std::path::absolute(&file));
        kept.map_err(|error| unwritable(&file, error))
    }

    /// Every history of the last run, by the names of their files.
    pub(super) fn read_histories(&self) -> Result<Vec<History>, Fault> {
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
        let report = read_report(&self.report_file())?;
        Ok(not_passed(&report))
    }
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
pub(super) struct History {
    /// The history itself.
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
fn read_history(file: &Path) -> Result<History, Fault> {
    let unreadable = |what: String| {
        Fault::new(
            Code::HistoryUnreadable,
            format!("{} {what}", file.display()),
            "run again; a history is kept as it was written, and says nothing once it was changed",
        )
    };
    let text =
        fs::read_to_string(file).map_err(|error| unreadable("can't be read".to_owned()).because(error))?;
    let mut lines = text.split_inclusive('\n').enumerate().map(|(at, line)| (at + 1, line));
    let header: Option<Header> = lines.next().and_then(|(_, line)| serde_json::from_str(line).ok());
    let header =
        header.ok_or_else(|| unreadable("is no history: its first line does not say so".to_owned()))?;
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
    let (mut events, mut torn) = (Vec::new(), None);
    for (number, line) in lines {
        match serde_json::from_str::<Event>(line) {
            Ok(event) if event.seq == events.len() as u64 => events.push(event),
            Ok(event) => {
                let place = events.len();
                return Err(unreadable(format!(
                    "is not whole: line {number} holds event {}, and event {place} belongs there",
                    event.seq
                )));
            }
            // Only the last line has no end, and only a run that died leaves it so.
            Err(_) if !line.ends_with('\n') => torn = Some(number),
            Err(error) => {
                return Err(unreadable(format!("is no history from line {number} on")).because(error));
            }
        }
    }
    let stored = Stored { cell: header.cell, repeat: header.repeat, events };
    Ok(History { stored, torn, file: file.to_owned() })
}

/// Reads a stored report.
pub(super) fn read_report(path: &Path) -> Result<RunReport, Fault> {
    let unreadable = |error: Box<dyn std::error::Error + Send + Sync>| {
        Fault::new(
            Code::ReportUnreadable,
            format!("{} is no report that can be read", path.display()),
            "`onejob run` keeps its last report in .onejob/report.json; `--report json=FILE` writes others",
        )
        .because(error)
    };
    let text = fs::read_to_string(path).map_err(|error| unreadable(error.into()))?;
    onejob_reports::json::read(&text).map_err(|error| unreadable(error.into()))
}
