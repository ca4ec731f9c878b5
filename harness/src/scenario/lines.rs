//! Where the parts of a scenario stand in its file.

use std::collections::BTreeMap;

use super::document::Node;
use crate::fail::Text;

/// Lines of the parts of one cell, from 1. A part that isn't in the file has the line of the scenario's `id`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LineMap {
    id: u32,
    steps: Vec<u32>,
    rules: Vec<u32>,
    invariants: BTreeMap<String, u32>,
    witnesses: BTreeMap<String, u32>,
}

impl LineMap {
    pub(super) fn of(text: &Text, cell: &Node) -> Self {
        let headers = |key: &str| {
            let parts = cell.get(key).map(Node::elements).unwrap_or_default();
            parts.iter().map(|part| text.line(part.span.start)).collect()
        };
        let keys = |key: &str| {
            let entries = cell.get(key).map(Node::entries).unwrap_or_default();
            entries.iter().map(|entry| (entry.key.clone(), text.line(entry.key_span.start))).collect()
        };
        Self {
            id: cell.get("id").map_or(1, |id| text.line(id.span.start)),
            steps: headers("step"),
            rules: headers("provider"),
            invariants: keys("invariants"),
            witnesses: keys("witness"),
        }
    }

    /// Line of the scenario's `id`.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.id
    }

    /// Line of a step, by its position among the steps of the cell, from 0.
    #[must_use]
    pub fn step(&self, index: usize) -> u32 {
        self.steps.get(index).copied().unwrap_or(self.id)
    }

    /// Line of a rule of the provider script, by its position, from 0.
    #[must_use]
    pub fn rule(&self, index: usize) -> u32 {
        self.rules.get(index).copied().unwrap_or(self.id)
    }

    /// Line of an entry of `[invariants]`; none for what is judged without being named.
    #[must_use]
    pub fn invariant(&self, name: &str) -> Option<u32> {
        self.invariants.get(name).copied()
    }

    /// Line of an entry of `[witness]`.
    #[must_use]
    pub fn witness(&self, name: &str) -> Option<u32> {
        self.witnesses.get(name).copied()
    }
}
