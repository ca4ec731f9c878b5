//! From the file to one cell of its matrix: placeholders replaced, steps and witnesses of other cells left out.

use std::collections::BTreeSet;

use super::{
    MatrixValue,
    document::{Entry, Node, Value},
    kind::KIND,
    matrix::{Matrix, Point, matches},
    placeholder::{Piece, names, only, pieces},
};
use crate::fail::{Code, Fault, Text};

/// Sections that say what the cells are: nothing is replaced in them.
const ABOUT_CELLS: [&str; 4] = ["matrix", "derive", "without", "when"];
/// Texts in which braces may mean something else than a dimension.
const FREE: [&str; 9] =
    ["title", "why", "key_raw", "key_lines", "payload_text", "body_raw", "equals", "headers", "says"];
/// Lists of `[witness]` that name steps.
const WITNESSED_STEPS: [&str; 4] = ["raced", "overlap", "answered", "lost"];

/// Checks what concerns the file as a whole: every `when` can be true, every placeholder means something, every
/// dimension changes something.
pub(super) fn check(text: &Text, root: &Node, matrix: &Matrix) -> Result<(), Fault> {
    let mut used = BTreeSet::new();
    for step in root.get("step").map(Node::elements).unwrap_or_default() {
        if let Some(when) = step.get("when") {
            matrix.check_pairs(text, when, "when")?;
            used.extend(when.entries().iter().map(|entry| entry.key.clone()));
        }
    }
    let mut copy = root.clone();
    copy.each_text(&|key| ABOUT_CELLS.contains(&key), &mut |node, key| {
        for name in node.text().map(names).into_iter().flatten() {
            if matrix.names().any(|known| known == name) {
                used.insert(name.to_owned());
                used.extend(matrix.sources_of(name).into_iter().map(str::to_owned));
            } else if !key.is_some_and(|key| FREE.contains(&key)) {
                let message = format!("`{{{name}}}` is no dimension of [matrix]");
                let fault = Fault::new(Code::ScenarioPlaceholder, message, matrix.dimensions_there(name));
                return Err(fault.at(text.place(node.span.clone())));
            }
        }
        Ok(())
    })?;
    let across =
        root.get("invariants").and_then(|all| all.get("alike")).and_then(|alike| alike.get("across"));
    used.extend(across.and_then(Node::text).map(str::to_owned));
    let sections = ["matrix", "derive"].iter().filter_map(|key| root.get(key));
    let unused = matrix.names().find(|name| !used.contains(*name));
    if let Some(name) = unused {
        let place = sections.flat_map(|section| {
            let keys =
                section.entries().iter().filter(|entry| entry.key == name).map(|entry| &entry.key_span);
            let named =
                section.elements().iter().filter(|node| node.get("name").and_then(Node::text) == Some(name));
            keys.chain(named.map(|node| &node.span)).cloned().collect::<Vec<_>>()
        });
        let message =
            format!("`{name}` changes nothing: no text says `{{{name}}}` and no `when` asks for it");
        let fault = Fault::new(
            Code::ScenarioMatrix,
            message,
            "use it, or take it out: cells that don't differ prove no more",
        );
        return Err(fault.at(text.place(place.into_iter().next().unwrap_or_default())));
    }
    Ok(())
}

/// The tree of one cell. Everything keeps its place in the file.
pub(super) fn cell(text: &Text, root: &Node, matrix: &Matrix, point: &Point) -> Result<Node, Fault> {
    let mut cell = root.clone();
    let (all_steps, all_payloads) = (step_names(root), payloads(root));
    if let Some(Node { value: Value::List(steps), .. }) = cell.get_mut("step") {
        let mut kept = Vec::with_capacity(steps.len());
        for step in steps.drain(..) {
            let belongs = match step.get("when") {
                Some(when) => matches(point, &KIND.read(text, when)?),
                None => true,
            };
            if belongs {
                kept.push(step);
            }
        }
        *steps = kept;
    }
    let elsewhere: BTreeSet<_> = all_steps.difference(&step_names(&cell)).cloned().collect();
    drop_witnesses(&mut cell, &elsewhere);
    let elsewhere: BTreeSet<_> = all_payloads.difference(&payloads(&cell)).cloned().collect();
    if let Some(Node { value: Value::List(rules), .. }) = cell.get_mut("provider") {
        // A rule for a payload is there in the cells that submit it.
        rules.retain(|rule| {
            !rule.get("payload").and_then(Node::text).is_some_and(|name| elsewhere.contains(name))
        });
    }
    cell.each_text(&|key| ABOUT_CELLS.contains(&key), &mut |node, key| {
        fill(node, matrix, point);
        let left = node.text().and_then(|text| names(text).next());
        match left {
            // A derived word may bring in braces of its own, where the text may hold anything.
            Some(name) if !key.is_some_and(|key| FREE.contains(&key)) => {
                let message = format!(
                    "`{{{name}}}` is no dimension of [matrix], and no word derived before it is used"
                );
                let fault = Fault::new(Code::ScenarioPlaceholder, message, matrix.dimensions_there(name));
                Err(fault.at(text.place(node.span.clone())))
            }
            _ => Ok(()),
        }
    })?;
    Ok(cell)
}

fn step_names(root: &Node) -> BTreeSet<String> {
    let steps = root.get("step").map(Node::elements).unwrap_or_default();
    steps.iter().filter_map(|step| step.get("id")?.text()).map(str::to_owned).collect()
}

fn payloads(root: &Node) -> BTreeSet<String> {
    let steps = root.get("step").map(Node::elements).unwrap_or_default();
    steps.iter().filter_map(|step| step.get("with")?.get("payload")?.text()).map(str::to_owned).collect()
}

/// A witness on a step is asked for in the cells that have the step.
fn drop_witnesses(cell: &mut Node, elsewhere: &BTreeSet<String>) {
    let Some(Node { value: Value::Table(entries), .. }) = cell.get_mut("witness") else { return };
    for Entry { key, node, .. } in entries {
        if let (true, Value::List(names)) = (WITNESSED_STEPS.contains(&key.as_str()), &mut node.value) {
            names.retain(|name| {
                let name = name.text().unwrap_or_default();
                !elsewhere.contains(name.split('.').next().unwrap_or_default())
            });
        }
    }
}

/// Replaces the placeholders of a text. One that is the whole text takes the value's own type.
fn fill(node: &mut Node, matrix: &Matrix, point: &Point) {
    let Some(text) = node.text() else { return };
    if let Some(value) = only(text).and_then(|name| matrix.value(point, name)) {
        node.value = match value {
            MatrixValue::Number(number) => Value::Integer(number),
            MatrixValue::Switch(switch) => Value::Switch(switch),
            MatrixValue::Word(word) => Value::Text(word),
        };
        return;
    }
    let filled = pieces(text)
        .into_iter()
        .map(|piece| match piece {
            Piece::Plain(plain) => plain.to_owned(),
            Piece::Name(name) => {
                matrix.value(point, name).map_or_else(|| format!("{{{name}}}"), |value| value.to_string())
            }
        })
        .collect();
    node.value = Value::Text(filled);
}
