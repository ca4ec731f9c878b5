//! Which cells get their timeline in full, so that a page stays below a megabyte.

use super::moments;
use crate::model::{Cell, Verdict};

/// What a page may take, in bytes, a little below a megabyte.
const LIMIT: usize = 960_000;

/// The timelines of the cells, in the order of the cells, and whether some were shortened.
pub(super) struct Timelines {
    pub(super) html: Vec<String>,
    pub(super) shortened: usize,
}

/// Deals out what is left of the page: first to whatever isn't green, in full; then a short list to each cell that
/// passed; then what is left to those in full.
pub(super) fn deal<'a>(cells: impl Iterator<Item = (&'a Cell, &'a str)>, used: usize) -> Timelines {
    let cells: Vec<(&Cell, &str)> = cells.collect();
    let mut html = vec![String::new(); cells.len()];
    let mut room = LIMIT.saturating_sub(used);
    let (mut green, mut red): (Vec<usize>, Vec<usize>) = (0..cells.len())
        .partition(|&index| matches!(cells[index].0.verdict, Verdict::Pass | Verdict::Skipped));
    red.sort_by_key(|&index| std::cmp::Reverse(cells[index].0.verdict));
    green.sort_by_key(|&index| !cells[index].0.flaky);
    let mut shortened = 0;
    for index in red {
        let (cell, id) = cells[index];
        let full = moments::full(cell, id);
        html[index] = if full.len() <= room { full } else { moments::short(cell) };
        shortened += usize::from(!cell.timeline.is_empty() && !html[index].starts_with("<figure"));
        room = room.saturating_sub(html[index].len());
    }
    for &index in &green {
        let short = moments::short(cells[index].0);
        if short.len() <= room {
            room -= short.len();
            html[index] = short;
        }
    }
    for &index in &green {
        let (cell, id) = cells[index];
        if cell.timeline.is_empty() {
            continue;
        }
        // Drawing a timeline only to throw it away is what would take time in a long run.
        let least = cell.timeline.len().min(40) * 250;
        let full = if room + html[index].len() > least { moments::full(cell, id) } else { String::new() };
        if !full.is_empty() && full.len() <= room + html[index].len() {
            room = room + html[index].len() - full.len();
            html[index] = full;
        } else {
            shortened += 1;
        }
    }
    Timelines { html, shortened }
}
