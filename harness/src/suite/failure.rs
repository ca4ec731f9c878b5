//! What a suite's run came to.

use std::fmt;

use onejob_reports::{
    model::RunReport,
    term::{self, TermOptions, Volume},
};

use crate::fail::{Fault, Look, render};

/// A run in which everything that was selected passed. Prints itself as a terminal would show it.
#[derive(Clone)]
pub struct Report {
    /// What every report format is made from.
    pub run: RunReport,
}

/// A run that did not pass, or could not be made. Prints itself as a terminal would show it, also where a test's `unwrap`
/// or `?` prints it with `Debug`.
pub enum Failure {
    /// Something that was selected did not pass.
    Run(Box<Report>),
    /// The run could not be made.
    Fault(Box<Fault>),
}

impl Report {
    fn text(&self) -> String {
        let mut text = Vec::new();
        let options = TermOptions {
            color: false,
            volume: Volume::Normal,
            is_terminal: false,
            ..TermOptions::default()
        };
        // Writing to memory can't fail.
        let _ = term::render(&self.run, options, &mut text);
        String::from_utf8_lossy(&text).into_owned()
    }
}

impl Failure {
    /// The report, where there was a run.
    #[must_use]
    pub fn report(&self) -> Option<&Report> {
        match self {
            Self::Run(report) => Some(report),
            Self::Fault(_) => None,
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.text())
    }
}

impl fmt::Debug for Report {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Run(report) => fmt::Display::fmt(report, out),
            Self::Fault(fault) => out.write_str(&render(fault, Look::default())),
        }
    }
}

impl fmt::Debug for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A test prints errors this way; on a line of its own the report keeps its columns.
        write!(out, "\n{self}")
    }
}

impl std::error::Error for Failure {}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        Self::Fault(Box::new(fault))
    }
}
