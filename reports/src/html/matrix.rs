//! The overview: which promise was judged in which scenario, and how it came out.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::{
    model::{Cell, Outcome, RunReport, Verdict},
    text::{outcome_word, plain, verdict_word},
};

/// Expectations have a name for each step; as columns they would be one for each scenario.
const EXPECTATIONS: &str = "expected answers";

#[derive(Debug, Serialize)]
pub(super) struct Matrix {
    pub(super) promises: Vec<String>,
    pub(super) rows: Vec<Row>,
}

#[derive(Debug, Serialize)]
pub(super) struct Row {
    pub(super) scenario: String,
    pub(super) title: String,
    pub(super) cells: Vec<Dot>,
    pub(super) outcomes: Vec<Square>,
}

/// A cell of the run in the row of its scenario.
#[derive(Debug, Serialize)]
pub(super) struct Dot {
    pub(super) id: String,
    pub(super) class: &'static str,
    pub(super) symbol: char,
    pub(super) label: String,
}

/// A promise in a scenario, over all its cells.
#[derive(Debug, Serialize)]
pub(super) struct Square {
    pub(super) class: &'static str,
    pub(super) symbol: &'static str,
    pub(super) word: &'static str,
    /// The first cell in which it broke.
    pub(super) id: Option<String>,
}

pub(super) fn matrix(report: &RunReport, ids: &[String]) -> Matrix {
    let mut promises: Vec<String> = Vec::new();
    let mut has_expectations = false;
    for promise in report.cells.iter().flat_map(|cell| &cell.promises) {
        if is_expectation(&promise.name) {
            has_expectations = true;
        } else if !promises.contains(&promise.name) {
            promises.push(promise.name.clone());
        }
    }
    promises.sort();
    if has_expectations {
        promises.push(EXPECTATIONS.to_owned());
    }
    let mut rows: Vec<Row> = Vec::new();
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    let mut members: Vec<Vec<(&Cell, &str)>> = Vec::new();
    for (cell, id) in report.cells.iter().zip(ids) {
        let place = *places.entry(&cell.scenario).or_insert_with(|| {
            rows.push(Row {
                scenario: plain::one_line(&cell.scenario).into_owned(),
                title: plain::one_line(&cell.title).into_owned(),
                cells: Vec::new(),
                outcomes: Vec::new(),
            });
            members.push(Vec::new());
            rows.len() - 1
        });
        rows[place].cells.push(dot(cell, id));
        members[place].push((cell, id));
    }
    for (row, members) in rows.iter_mut().zip(&members) {
        row.outcomes = promises.iter().map(|promise| square(promise, members)).collect();
    }
    Matrix { promises, rows }
}

fn is_expectation(name: &str) -> bool {
    name.starts_with("expect:")
}

fn dot(cell: &Cell, id: &str) -> Dot {
    let point = cell.point();
    let word = verdict_word(cell.verdict).to_lowercase();
    let flaky = if cell.flaky { ", flaky" } else { "" };
    let at = if point.is_empty() { String::new() } else { format!("{}: ", plain::one_line(&point)) };
    Dot {
        id: id.to_owned(),
        class: verdict_class(cell.verdict),
        symbol: verdict_symbol(cell.verdict),
        label: format!("{at}{word}{flaky}"),
    }
}

fn square(promise: &str, members: &[(&Cell, &str)]) -> Square {
    let mut worst: Option<(Outcome, &str)> = None;
    for (cell, id) in members {
        for judged in &cell.promises {
            let fits =
                if promise == EXPECTATIONS { is_expectation(&judged.name) } else { judged.name == promise };
            if fits && worst.is_none_or(|(outcome, _)| weight(judged.outcome) > weight(outcome)) {
                worst = Some((judged.outcome, id));
            }
        }
    }
    match worst {
        None => Square { class: "none", symbol: "·", word: "not judged", id: None },
        Some((outcome, id)) => Square {
            class: outcome_class(outcome),
            symbol: outcome_symbol(outcome),
            word: outcome_word(outcome),
            id: (outcome != Outcome::Held).then(|| id.to_owned()),
        },
    }
}

fn weight(outcome: Outcome) -> u8 {
    match outcome {
        Outcome::Held => 0,
        Outcome::Undecided => 1,
        Outcome::Broke => 2,
    }
}

pub(super) fn outcome_class(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Held => "pass",
        Outcome::Undecided => "inconclusive",
        Outcome::Broke => "fail",
    }
}

pub(super) fn outcome_symbol(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Held => "✓",
        Outcome::Undecided => "?",
        Outcome::Broke => "✗",
    }
}

pub(super) fn verdict_class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "pass",
        Verdict::Skipped => "skipped",
        Verdict::Inconclusive => "inconclusive",
        Verdict::Error => "error",
        Verdict::Fail => "fail",
    }
}

pub(super) fn verdict_symbol(verdict: Verdict) -> char {
    match verdict {
        Verdict::Pass => '✓',
        Verdict::Skipped => '–',
        Verdict::Inconclusive => '?',
        Verdict::Error => '!',
        Verdict::Fail => '✗',
    }
}
