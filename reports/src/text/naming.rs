use std::collections::BTreeMap;

use crate::model::Cell;

/// The name of a cell, unique within a run: `double-click clicks=8 gate=lock`, or the scenario alone where it has no
/// matrix.
#[must_use]
pub fn cell_name(scenario: &str, at: &BTreeMap<String, String>) -> String {
    let mut name = scenario.to_owned();
    for (axis, value) in at {
        name.push(' ');
        name.push_str(axis);
        name.push('=');
        name.push_str(value);
    }
    name
}

impl Cell {
    /// The name of the cell, unique within a run: `double-click clicks=8 gate=lock`.
    #[must_use]
    pub fn name(&self) -> String {
        cell_name(&self.scenario, &self.at)
    }

    /// The point of the matrix, as in the name; empty where the scenario has no matrix.
    #[must_use]
    pub fn point(&self) -> String {
        cell_name("", &self.at).trim_start().to_owned()
    }
}
