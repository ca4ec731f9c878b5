//! Reading scenario files.

use std::{collections::BTreeMap, path::Path};

use super::{
    Capability, Scenario, check,
    document::{Node, read_text},
    expand,
    kind::KIND,
    lines::LineMap,
    matrix::{Matrix, Point},
    needs,
};
use crate::fail::{Fault, Text};

/// A scenario file whose TOML and matrix are in order. [`ScenarioFile::cells`] reads the rest.
#[derive(Debug, Clone)]
pub struct ScenarioFile {
    text: Text,
    root: Node,
    matrix: Matrix,
}

/// One cell of a scenario, ready to be run.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// What the file says at this point of its matrix.
    pub scenario: Scenario,
    /// The point: values by dimension.
    pub at: BTreeMap<String, String>,
    /// Where the parts stand in the file.
    pub lines: LineMap,
    /// Name of the file: a path, or `embedded:NAME`.
    pub source: String,
}

/// Reads a scenario from a text. `name` is how messages and reports call it.
pub fn load_str(name: &str, content: &str) -> Result<ScenarioFile, Fault> {
    let text = Text::new(name, content);
    let root = KIND.parse(&text)?;
    let matrix = Matrix::read(&text, &root)?;
    expand::check(&text, &root, &matrix)?;
    Ok(ScenarioFile { text, root, matrix })
}

/// Reads a scenario file.
pub fn load_file(path: &Path) -> Result<ScenarioFile, Fault> {
    load_str(&path.display().to_string(), &read_text(&KIND, path)?)
}

impl ScenarioFile {
    /// Every cell, in the order of the matrix. All of them are read and checked, so a file whose third cell is broken is
    /// broken, and the message names the cell.
    pub fn cells(&self) -> Result<Vec<Loaded>, Fault> {
        let points = self.matrix.points();
        let mut cells = Vec::with_capacity(points.len());
        let mut broken = Vec::new();
        for point in &points {
            match self.cell(point) {
                Ok(cell) => cells.push(cell),
                Err(faults) => broken.extend(faults.into_iter().map(|fault| (name_of(point), fault))),
            }
        }
        match Fault::together(merge(broken, points.len())) {
            Some(fault) => Err(fault),
            None => Ok(cells),
        }
    }

    fn cell(&self, point: &Point) -> Result<Loaded, Vec<Fault>> {
        let node = expand::cell(&self.text, &self.root, &self.matrix, point).map_err(|fault| vec![fault])?;
        let scenario: Scenario = KIND.read(&self.text, &node).map_err(|fault| vec![fault])?;
        let faults: Vec<_> =
            check::check(&scenario).into_iter().map(|finding| finding.in_file(&self.text, &node)).collect();
        if !faults.is_empty() {
            return Err(faults);
        }
        Ok(Loaded {
            scenario,
            at: point.iter().map(|(name, value)| (name.clone(), value.to_string())).collect(),
            lines: LineMap::of(&self.text, &node),
            source: self.text.name().to_owned(),
        })
    }

    /// The scenario's id, where the file has one.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        self.root.get("id").and_then(Node::text)
    }

    /// Name of the file: a path, or `embedded:NAME`.
    #[must_use]
    pub fn source(&self) -> &str {
        self.text.name()
    }

    /// The file as it was written.
    #[must_use]
    pub fn content(&self) -> &str {
        self.text.content()
    }

    /// The document as JSON, as its schema sees it: nothing replaced.
    #[must_use]
    pub fn to_json(&self) -> serde_json::Value {
        self.root.to_json()
    }

    pub(super) fn place_of_id(&self) -> crate::fail::Place {
        self.text.place(self.root.span_at(&["id".into()]))
    }
}

impl Loaded {
    /// What the target must be able to do: what the scenario says, and what its steps imply.
    #[must_use]
    pub fn needs(&self) -> std::collections::BTreeSet<Capability> {
        needs::needs(&self.scenario)
    }

    /// Programs that must be on this machine.
    #[must_use]
    pub fn programs(&self) -> Vec<crate::middlebox::Program> {
        needs::programs(&self.scenario)
    }

    /// The cell's name: `double-click clicks=8 gate=lock`.
    #[must_use]
    pub fn name(&self) -> String {
        let pairs = self.at.iter().map(|(name, value)| format!(" {name}={value}"));
        std::iter::once(self.scenario.id.clone()).chain(pairs).collect()
    }
}

fn name_of(point: &Point) -> String {
    point.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
}

/// One fault for what is wrong in several cells alike. Unless it is wrong in all of them, the cells are named.
fn merge(broken: Vec<(String, Fault)>, cells: usize) -> Vec<Fault> {
    let mut merged: Vec<(Fault, Vec<String>)> = Vec::new();
    for (cell, fault) in broken {
        let same = merged.iter_mut().find(|(other, _)| {
            let place = |fault: &Fault| fault.place().map(crate::fail::Place::span);
            other.message() == fault.message() && place(other) == place(&fault)
        });
        match same {
            Some((_, names)) => names.push(cell),
            None => merged.push((fault, vec![cell])),
        }
    }
    merged
        .into_iter()
        .map(|(fault, names)| match &names[..] {
            all if all.len() == cells => fault,
            [one] => fault.adding(&format!(" (in the cell {one})")),
            [first, rest @ ..] => {
                fault.adding(&format!(" (in {} cells, the first is {first})", rest.len() + 1))
            }
            [] => fault,
        })
        .collect()
}
