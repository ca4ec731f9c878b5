//! One defect against one scenario.

use onejob_reports::model::Verdict;

use super::{
    Trial,
    honest::{Book, Standing, broken, unclear},
};
use crate::engine::{PlannedCell, Played};

/// How a pair is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Zeal {
    /// The scenario says that it kills the defect: every cell, every round.
    Expected,
    /// The cells that the defect could make a difference to, in a few rounds.
    Reached,
    /// Every cell, in a few rounds.
    Unreached,
}

/// Plays a scenario's cells until one breaks a promise that the honest service keeps in the same cell. What is judged
/// over all cells together is judged at the end.
pub(super) async fn trial(book: &Book, defect: &str, scenario: &str, zeal: Zeal) -> Trial {
    let cells = book.suite.get(scenario).map(Vec::as_slice).unwrap_or_default();
    let cells = cells_of(book, defect, cells, zeal).await;
    if cells.is_empty() {
        return Trial::NotReached;
    }
    let mut played = Vec::new();
    let mut why = None;
    for cell in &cells {
        let done = book.try_on(cell, defect, zeal == Zeal::Expected).await;
        let report = done.alone(String::new());
        match broken(&report) {
            None => played.push(done),
            Some((promise, sentence)) => match book.of(cell).await {
                Standing::Passes { .. } => return Trial::Killed { cell: cell.name(), promise, sentence },
                // It would break with any defect; that the honest service breaks it is told where it belongs.
                Standing::Fails(sentence) | Standing::Unclear(sentence) => why = why.or(Some(sentence)),
            },
        }
    }
    for cell in Played::judge_together(&played, |_| String::new()) {
        match broken(&cell) {
            Some((promise, sentence)) if Box::pin(book.together(scenario)).await => {
                let cell = crate::engine::name_of(&cell.scenario, &cell.at);
                return Trial::Killed { cell, promise, sentence };
            }
            Some((_, sentence)) => why = why.or(Some(sentence)),
            None if cell.verdict != Verdict::Pass => why = why.or(Some(unclear(&cell))),
            None => {}
        }
    }
    why.map_or(Trial::Survived, |why| Trial::Unclear { why })
}

async fn cells_of<'b>(
    book: &Book,
    defect: &str,
    cells: &'b [PlannedCell],
    zeal: Zeal,
) -> Vec<&'b PlannedCell> {
    if zeal != Zeal::Reached {
        return cells.iter().collect();
    }
    let mut reached = Vec::new();
    for cell in cells {
        if book.reaches(cell, defect).await {
            reached.push(cell);
        }
    }
    // What is compared with others needs the others.
    let compared = reached.first().is_some_and(|cell| cell.loaded.scenario.invariants.alike.is_some());
    if compared { cells.iter().collect() } else { reached }
}
