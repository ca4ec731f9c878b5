//! The dimensions of a scenario and the points that they span.

use std::collections::BTreeMap;

use super::{
    Derived, MatrixValue,
    document::{Node, nearest},
    kind::KIND,
    placeholder::only,
};
use crate::fail::{Code, Fault, Text};

/// One combination of values, by dimension.
pub(super) type Point = BTreeMap<String, MatrixValue>;

/// More cells than anybody waits for: a dimension too many multiplies them.
const MOST_CELLS: usize = 10_000;

/// `[matrix]`, `[[derive]]` and `without` of a file, in its order.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Matrix {
    dimensions: Vec<(String, Vec<MatrixValue>)>,
    derived: Vec<Derived>,
    without: Vec<Point>,
}

impl Matrix {
    /// Reads and checks the three sections.
    pub(super) fn read(text: &Text, root: &Node) -> Result<Self, Fault> {
        let mut dimensions = Vec::new();
        if let Some(matrix) = root.get("matrix") {
            // As a whole first, so that something else than a table is told so.
            let _: BTreeMap<String, Vec<MatrixValue>> = KIND.read(text, matrix)?;
            for entry in matrix.entries() {
                let place = text.place(entry.key_span.clone());
                if !is_name(&entry.key) {
                    let message = format!("`{}` can't be the name of a dimension", entry.key);
                    return Err(Fault::new(
                        Code::ScenarioName,
                        message,
                        "use lower-case letters, digits and _",
                    )
                    .at(place));
                }
                let values: Vec<MatrixValue> = KIND.read(text, &entry.node)?;
                if values.is_empty() {
                    let message =
                        format!("the dimension `{}` has no value, so there is no cell at all", entry.key);
                    return Err(
                        Fault::new(Code::ScenarioMatrix, message, "give it a value or take it out").at(place)
                    );
                }
                if let Some(twice) = values.iter().enumerate().find(|(n, value)| values[..*n].contains(value))
                {
                    let message = format!("the dimension `{}` has the value `{}` twice", entry.key, twice.1);
                    return Err(Fault::new(Code::ScenarioMatrix, message, "take one of them out").at(place));
                }
                dimensions.push((entry.key.clone(), values));
            }
        }
        let cells = dimensions.iter().try_fold(1_usize, |all, (_, values)| all.checked_mul(values.len()));
        if cells.is_none_or(|cells| cells > MOST_CELLS) {
            let place = text.place(root.get("matrix").map(|matrix| matrix.span.clone()).unwrap_or_default());
            let message = format!("the dimensions span more than {MOST_CELLS} cells");
            let help = "take values out, or make two scenarios of it: each cell is played on its own";
            return Err(Fault::new(Code::ScenarioMatrix, message, help).at(place));
        }
        let mut matrix = Self { dimensions, derived: Vec::new(), without: Vec::new() };
        for node in root.get("derive").map(Node::elements).unwrap_or_default() {
            let derived: Derived = KIND.read(text, node)?;
            matrix.check_derived(&derived).map_err(|fault| fault.at(text.place(node.span.clone())))?;
            matrix.derived.push(derived);
        }
        for node in root.get("without").map(Node::elements).unwrap_or_default() {
            matrix.check_pairs(text, node, "without")?;
            matrix.without.push(KIND.read(text, node)?);
        }
        if matrix.points().is_empty() {
            let place =
                text.place(root.get("without").map(|without| without.span.clone()).unwrap_or_default());
            let message = "`without` leaves out every cell";
            return Err(Fault::new(Code::ScenarioMatrix, message, "leave at least one in").at(place));
        }
        Ok(matrix)
    }

    fn check_derived(&self, derived: &Derived) -> Result<(), Fault> {
        if !is_name(&derived.name) || self.names().any(|name| name == derived.name) {
            let message = format!("`{}` can't be derived: the name is malformed or taken", derived.name);
            return Err(Fault::new(
                Code::ScenarioName,
                message,
                "use lower-case letters, digits and _, and a fresh name",
            ));
        }
        let Some((_, values)) = self.dimensions.iter().find(|(name, _)| *name == derived.from) else {
            let message =
                format!("`{}` follows `{}`, which is no dimension of [matrix]", derived.name, derived.from);
            return Err(Fault::new(Code::ScenarioReference, message, self.dimensions_there(&derived.from)));
        };
        if let Some(missing) = values.iter().find(|value| !derived.values.contains_key(&value.to_string())) {
            let message = format!("`{}` says nothing for {}=`{missing}`", derived.name, derived.from);
            return Err(Fault::new(Code::ScenarioMatrix, message, format!("add `{missing} = ...` to `as`")));
        }
        if let Some(extra) =
            derived.values.keys().find(|key| !values.iter().any(|value| value.to_string() == **key))
        {
            let message =
                format!("`{}` has an entry for `{extra}`, which `{}` never is", derived.name, derived.from);
            return Err(Fault::new(
                Code::ScenarioMatrix,
                message,
                format!("values of `{}`: {}", derived.from, words(values)),
            ));
        }
        Ok(())
    }

    /// Checks the pairs of a `when` or of an entry of `without`: each must be a value of a dimension.
    pub(super) fn check_pairs(&self, text: &Text, pairs: &Node, what: &str) -> Result<(), Fault> {
        let _: Point = KIND.read(text, pairs)?;
        for entry in pairs.entries() {
            let Some((_, values)) = self.dimensions.iter().find(|(name, _)| *name == entry.key) else {
                let message =
                    format!("`{what}` speaks of `{}`, which is no dimension of [matrix]", entry.key);
                let fault = Fault::new(Code::ScenarioReference, message, self.dimensions_there(&entry.key));
                return Err(fault.at(text.place(entry.key_span.clone())));
            };
            let value: MatrixValue = KIND.read(text, &entry.node)?;
            if !values.contains(&value) {
                let message = format!("`{}` is never `{value}`, so this `{what}` means nothing", entry.key);
                let help = format!("values of `{}`: {}", entry.key, words(values));
                return Err(
                    Fault::new(Code::ScenarioMatrix, message, help).at(text.place(entry.node.span.clone()))
                );
            }
        }
        Ok(())
    }

    /// Names of dimensions and of derived words.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        let dimensions = self.dimensions.iter().map(|(name, _)| name.as_str());
        dimensions.chain(self.derived.iter().map(|derived| derived.name.as_str()))
    }

    /// All points that `without` leaves, the last dimension changing fastest.
    pub(super) fn points(&self) -> Vec<Point> {
        let mut points = vec![Point::new()];
        for (name, values) in &self.dimensions {
            points = points
                .into_iter()
                .flat_map(|point| {
                    values.iter().map(move |value| {
                        let mut point = point.clone();
                        point.insert(name.clone(), value.clone());
                        point
                    })
                })
                .collect();
        }
        points.retain(|point| !self.without.iter().any(|pairs| matches(point, pairs)));
        points
    }

    /// The value of a placeholder at a point. A derived word that is itself one placeholder stands for that one's value.
    pub(super) fn value(&self, point: &Point, name: &str) -> Option<MatrixValue> {
        if let Some(value) = point.get(name) {
            return Some(value.clone());
        }
        let derived = self.derived.iter().find(|derived| derived.name == name)?;
        let value = derived.values.get(&point.get(&derived.from)?.to_string())?;
        match value {
            MatrixValue::Word(word) => {
                // Only what stands before is looked up, so this ends. Other braces are for others to replace.
                let before = only(word).filter(|other| self.stands_before(other, name));
                before.map_or_else(|| Some(value.clone()), |before| self.value(point, before))
            }
            other => Some(other.clone()),
        }
    }

    /// Whether `other` is a dimension, or a word derived before the derived word `name`.
    fn stands_before(&self, other: &str, name: &str) -> bool {
        self.names().take_while(|known| *known != name).any(|known| known == other)
    }

    /// Names that a derived word needs: the dimension that it follows, and words that it stands for.
    pub(super) fn sources_of<'a>(&'a self, name: &str) -> Vec<&'a str> {
        let Some(derived) = self.derived.iter().find(|derived| derived.name == name) else {
            return Vec::new();
        };
        let placeholders =
            derived.values.values().filter_map(placeholder).filter(|other| self.stands_before(other, name));
        let below = placeholders.flat_map(|name| [vec![name], self.sources_of(name)].concat());
        std::iter::once(derived.from.as_str()).chain(below).collect()
    }

    /// What to say to somebody who wrote `name` where a dimension belongs.
    pub(super) fn dimensions_there(&self, name: &str) -> String {
        let names: Vec<_> = self.names().collect();
        match (nearest(name, names.iter().copied()), names.is_empty()) {
            (Some(meant), _) => format!("did you mean `{meant}`?"),
            (None, true) => "this scenario has no [matrix]".to_owned(),
            (None, false) => format!("there are: {}", names.join(", ")),
        }
    }
}

/// The name that a derived word stands for, where it is exactly one placeholder.
fn placeholder(value: &MatrixValue) -> Option<&str> {
    match value {
        MatrixValue::Word(word) => only(word),
        MatrixValue::Number(_) | MatrixValue::Switch(_) => None,
    }
}

/// Whether a point has all the pairs.
pub(super) fn matches(point: &Point, pairs: &Point) -> bool {
    pairs.iter().all(|(name, value)| point.get(name) == Some(value))
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

fn words(values: &[MatrixValue]) -> String {
    values.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
