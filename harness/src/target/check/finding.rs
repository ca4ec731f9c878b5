//! What is wrong with a target file, and where.

use super::{super::TargetFile, owners, placeholders, process, provider, requests, states};
use crate::{
    fail::{Code, Fault, Text},
    scenario::document::{Node, Step},
};

/// One thing that makes no sense.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct Finding {
    path: Vec<Part>,
    code: Code,
    message: String,
    help: String,
}

/// A step of a path; names of headers, knobs and placeholders come from the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    Key(String),
    Index(usize),
}

impl From<&str> for Part {
    fn from(key: &str) -> Self {
        Self::Key(key.to_owned())
    }
}

impl From<usize> for Part {
    fn from(index: usize) -> Self {
        Self::Index(index)
    }
}

/// Collects findings.
#[derive(Debug, Default)]
pub(super) struct Findings(Vec<Finding>);

impl Findings {
    pub(super) fn add(
        &mut self,
        code: Code,
        path: impl IntoIterator<Item = Part>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        let path = path.into_iter().collect();
        self.0.push(Finding { path, code, message: message.into(), help: help.into() });
    }
}

/// Everything that makes no sense in a target file.
pub(in super::super) fn check(file: &TargetFile) -> Vec<Finding> {
    let mut findings = Findings::default();
    process::check(file, &mut findings);
    requests::check(file, &mut findings);
    placeholders::check(file, &mut findings);
    states::check(file, &mut findings);
    owners::check(file, &mut findings);
    provider::check(file, &mut findings);
    findings.0
}

impl Finding {
    /// The finding as a fault at its place in the file.
    pub(in super::super) fn in_file(self, text: &Text, root: &Node) -> Fault {
        let path: Vec<_> = self
            .path
            .iter()
            .map(|part| match part {
                Part::Key(key) => Step::Key(key),
                Part::Index(index) => Step::Index(*index),
            })
            .collect();
        let span = root.span_at(&path);
        Fault::new(self.code, self.message, self.help).at(text.place(span))
    }
}
