//! The one sentence that says what became of a cell.

use crate::model::{Cell, CellError, Outcome, Promise, Verdict};

/// What became of the cell, in one sentence: the broken promise, the missing witness, the error, why it was skipped; for
/// a cell that passed, what was seen.
#[must_use]
pub fn headline(cell: &Cell) -> String {
    match cell.verdict {
        Verdict::Fail => first_broken(cell)
            .map_or_else(|| format!("a promise of `{}` was broken", cell.scenario), sentence_of),
        Verdict::Error => cell.error.as_ref().map_or_else(
            || "the harness, the double or the target broke; the cause was not recorded".to_owned(),
            |error| format!("{}: {}", error.code, error.message.lines().next().unwrap_or_default()),
        ),
        Verdict::Inconclusive => why_inconclusive(cell),
        Verdict::Skipped => {
            cell.skipped.clone().unwrap_or_else(|| "skipped; the reason was not recorded".to_owned())
        }
        Verdict::Pass => most_telling_witness(cell),
    }
}

/// What an error's message tells after its first line, line by line: what a program printed before it ended.
pub fn details(error: &CellError) -> impl Iterator<Item = &str> {
    error.message.lines().skip(1).map(str::trim_end)
}

/// A witness below this length says too little without its name: `3 answers`.
const TELLING: usize = 24;

/// The witness that says most, which is the longest, and how many more there are.
fn most_telling_witness(cell: &Cell) -> String {
    let seen = || cell.witnesses.iter().filter(|witness| witness.seen);
    let Some(longest) = seen().rev().max_by_key(|witness| witness.detail.chars().count()) else {
        return String::new();
    };
    let said = if longest.detail.chars().count() < TELLING {
        format!("{}: {}", longest.name, longest.detail)
    } else {
        longest.detail.clone()
    };
    match seen().count() - 1 {
        0 => said,
        more => format!("{said}, and {more} more"),
    }
}

/// The broken promises of the cell, in the order in which they were judged.
pub fn broken(cell: &Cell) -> impl Iterator<Item = &Promise> {
    cell.promises.iter().filter(|promise| promise.outcome == Outcome::Broke)
}

/// The promise that the headline speaks of.
#[must_use]
pub fn first_broken(cell: &Cell) -> Option<&Promise> {
    broken(cell).next()
}

/// The promise's sentence, or a plain one where none was given.
#[must_use]
pub fn sentence_of(promise: &Promise) -> String {
    if promise.sentence.is_empty() {
        format!("the promise `{}` was broken", promise.name)
    } else {
        promise.sentence.clone()
    }
}

fn why_inconclusive(cell: &Cell) -> String {
    let unseen: Vec<String> = cell
        .witnesses
        .iter()
        .filter(|witness| !witness.seen)
        .map(|witness| {
            if witness.detail.is_empty() {
                format!("witness `{}` was not seen", witness.name)
            } else {
                format!("witness `{}` was not seen: {}", witness.name, witness.detail)
            }
        })
        .collect();
    if !unseen.is_empty() {
        return unseen.join("; ");
    }
    let undecided = cell.promises.iter().find(|promise| promise.outcome == Outcome::Undecided);
    undecided.map_or_else(
        || "the situation that the scenario is about was not produced".to_owned(),
        |promise| format!("`{}` can't be decided: {}", promise.name, promise.sentence),
    )
}
