//! What is wrong with a scenario, and where.

use super::{
    super::{
        Scenario,
        document::{Node, Step},
    },
    expectations, invariants, names, proof, references, rules, sweep, verbs,
};
use crate::fail::{Code, Fault, Text};

/// One thing that makes no sense.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct Finding {
    /// Where in the document.
    pub(super) path: Vec<Step<'static>>,
    pub(super) code: Code,
    /// One sentence without a full stop.
    pub(super) message: String,
    /// What to do.
    pub(super) help: String,
}

/// Collects findings.
#[derive(Debug, Default)]
pub(super) struct Findings(Vec<Finding>);

impl Findings {
    pub(super) fn add(
        &mut self,
        code: Code,
        path: &[Step<'static>],
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.0.push(Finding { path: path.to_vec(), code, message: message.into(), help: help.into() });
    }
}

/// Everything that makes no sense in a scenario, in the order of the rules: names first, for what depends on them.
pub(in super::super) fn check(scenario: &Scenario) -> Vec<Finding> {
    let mut findings = Findings::default();
    names::check(scenario, &mut findings);
    verbs::check(scenario, &mut findings);
    rules::check(scenario, &mut findings);
    references::check(scenario, &mut findings);
    expectations::check(scenario, &mut findings);
    invariants::check(scenario, &mut findings);
    sweep::check(scenario, &mut findings);
    proof::check(scenario, &mut findings);
    findings.0
}

impl Finding {
    /// The finding as a fault at its place in the file; `cell` is the tree that the scenario was read from.
    pub(in super::super) fn in_file(self, text: &Text, cell: &Node) -> Fault {
        let span = match self.path[..] {
            [] => cell.get("id").map_or(0..0, |id| id.span.clone()),
            ref path => cell.span_at(path),
        };
        Fault::new(self.code, self.message, self.help).at(text.place(span))
    }
}
