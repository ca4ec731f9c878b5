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

/// Whoever looks into a run in which everything failed looks into so many cells.
const OPENED: usize = 20;

/// Deals out what is left of the page: first to what isn't green, the worst before all, then to what passed. In each group
/// everybody gets a short list before somebody gets a whole timeline.
pub(super) fn deal<'a>(cells: impl Iterator<Item = (&'a Cell, &'a str)>, used: usize) -> Timelines {
    let cells: Vec<(&Cell, &str)> = cells.collect();
    let (mut green, mut red): (Vec<usize>, Vec<usize>) = (0..cells.len())
        .filter(|&index| !cells[index].0.timeline.is_empty())
        .partition(|&index| matches!(cells[index].0.verdict, Verdict::Pass | Verdict::Skipped));
    red.sort_by_key(|&index| std::cmp::Reverse(cells[index].0.verdict));
    green.sort_by_key(|&index| !cells[index].0.flaky);
    let mut page = Page { html: vec![String::new(); cells.len()], room: LIMIT.saturating_sub(used) };
    let mut shortened = 0;
    let rest = red.split_off(red.len().min(OPENED));
    for group in [red, rest, green] {
        for &index in &group {
            page.offer(index, moments::short(cells[index].0));
        }
        for index in group {
            let (cell, id) = cells[index];
            let taken = page.may_hold(index, cell) && page.offer(index, moments::full(cell, id));
            shortened += usize::from(!taken);
        }
    }
    Timelines { html: page.html, shortened }
}

struct Page {
    html: Vec<String>,
    room: usize,
}

impl Page {
    /// Whether it is worth drawing the timeline: drawing it only to throw it away is what would take time in a long run.
    fn may_hold(&self, index: usize, cell: &Cell) -> bool {
        self.room + self.html[index].len() > cell.timeline.len().min(40) * 250
    }

    /// Puts the markup in the place of what the cell has so far, where it fits.
    fn offer(&mut self, index: usize, markup: String) -> bool {
        let room = self.room + self.html[index].len();
        let fits = markup.len() <= room;
        if fits {
            self.room = room - markup.len();
            self.html[index] = markup;
        }
        fits
    }
}
