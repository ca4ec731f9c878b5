//! What a run leaves in its folder: the last report, and the history of every cell.

use std::{
    collections::BTreeSet,
    fs,
    io::{self, BufWriter, Write as _},
    path::{Path, PathBuf},
};

use onejob_reports::model::RunReport;
use serde_json::json;

use super::run::not_passed;
use crate::{
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
