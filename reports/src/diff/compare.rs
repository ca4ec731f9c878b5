use std::collections::BTreeMap;

use serde::Serialize;

use crate::{
    headline::headline,
    model::{Cell, RunReport, Verdict},
    tally::shortfall,
    text::plain,
};

/// What changed from the first run to the second.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Diff {
    /// Cells that were green or new and now break a promise.
    pub newly_broken: Vec<Change>,
    /// Cells that were not green and now pass.
    pub newly_passing: Vec<Change>,
    /// Cells whose verdict changed in another way: an error now, verified no more, another kind of not green.
    pub otherwise_changed: Vec<Change>,
    /// Cells that pass in both and take longer.
    pub slower: Vec<Slower>,
    /// Cells that are only in the second run, by name.
    pub added: Vec<String>,
    /// Cells that are only in the first run, by name: what they proved is proven no more.
    pub removed: Vec<String>,
    /// Cells that are in both.
    pub compared: usize,
}

/// A cell whose verdict changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Change {
    /// Name of the cell.
    pub cell: String,
    /// The verdict in the first run; none where the cell is new.
    pub before: Option<Verdict>,
    /// The verdict in the second run.
    pub after: Verdict,
    /// What became of it in the second run, in one sentence.
    pub sentence: String,
    /// The command that runs it again.
    pub replay: String,
}

/// A cell that takes longer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Slower {
    /// Name of the cell.
    pub cell: String,
    /// Microseconds in the first run, set-up left out.
    pub before_us: u64,
    /// Microseconds in the second run, set-up left out.
    pub after_us: u64,
}

/// What counts as slower. One run is a noisy measurement, so both have to be passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Thresholds {
    /// Longer by so many percent.
    pub percent: u64,
    /// And by so many microseconds.
    pub us: u64,
}

impl Default for Thresholds {
    /// Half as long again, and by 50 ms.
    fn default() -> Self {
        Self { percent: 50, us: 50_000 }
    }
}

impl Diff {
    /// Whether something is worse: broken, verified no more, or gone. Slower cells are told and not judged.
    #[must_use]
    pub fn is_worse(&self) -> bool {
        let got_worse = |change: &Change| {
            change.before.is_none_or(|before| change.after > before && change.after != Verdict::Pass)
        };
        !self.newly_broken.is_empty()
            || !self.removed.is_empty()
            || self.otherwise_changed.iter().any(got_worse)
    }

    /// Whether both runs came to the same, with no cell slower.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self { compared: self.compared, ..Self::default() }
    }
}

/// Compares two runs cell by cell; cells are the same when scenario and point of the matrix are.
#[must_use]
pub fn diff(before: &RunReport, after: &RunReport, thresholds: Thresholds) -> Diff {
    let old: BTreeMap<String, &Cell> = before.cells.iter().map(|cell| (cell.name(), cell)).collect();
    let new: BTreeMap<String, &Cell> = after.cells.iter().map(|cell| (cell.name(), cell)).collect();
    let mut diff = Diff::default();
    // In the order of the plan, as every report.
    for cell in &after.cells {
        let name = cell.name();
        let was = old.get(&name).copied();
        if was.is_some() {
            diff.compared += 1;
        } else {
            diff.added.push(name.clone());
        }
        diff.judge(name, was, cell, thresholds);
    }
    diff.removed = before.cells.iter().map(Cell::name).filter(|name| !new.contains_key(name)).collect();
    diff.slower.sort_by_key(|slower| std::cmp::Reverse(slower.after_us - slower.before_us));
    diff
}

/// What a reader of a diff has to know before he trusts it, a sentence each: runs that were not of the same thing, or that
/// didn't reach their end.
#[must_use]
pub fn doubts(before: &RunReport, after: &RunReport, diff: &Diff) -> Vec<String> {
    let mut doubts = Vec::new();
    if before.target != after.target {
        doubts.push(format!("The runs are of different targets: {} and {}.", before.target, after.target));
    }
    if before.defects != after.defects {
        let list = |names: &[String]| if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        doubts.push(format!(
            "The runs had different defects switched on: {} and {}.",
            list(&before.defects),
            list(&after.defects)
        ));
    }
    if diff.compared == 0 && !(before.cells.is_empty() && after.cells.is_empty()) {
        doubts.push(
            "The runs have no cell in common: they are of different suites, and nothing was compared."
                .to_owned(),
        );
    }
    for (which, report) in [("first", before), ("second", after)] {
        doubts.extend(shortfall(report).map(|missing| format!("Of the {which} run: {missing}")));
    }
    doubts.into_iter().map(|doubt| plain::one_line(&doubt).into_owned()).collect()
}

impl Diff {
    fn judge(&mut self, name: String, was: Option<&Cell>, cell: &Cell, thresholds: Thresholds) {
        let before = was.map(|was| was.verdict);
        let change = |name| Change {
            cell: name,
            before,
            after: cell.verdict,
            sentence: headline(cell),
            replay: cell.replay.clone(),
        };
        match (before, cell.verdict) {
            (Some(same), verdict) if same == verdict => {}
            (_, Verdict::Fail) => return self.newly_broken.push(change(name)),
            // A new cell that passes is listed as added, and that is all there is to say.
            (None, Verdict::Pass | Verdict::Skipped) => return,
            (Some(_), Verdict::Pass) => return self.newly_passing.push(change(name)),
            _ => return self.otherwise_changed.push(change(name)),
        }
        let Some(was) = was.filter(|was| was.verdict == Verdict::Pass) else { return };
        let own = |cell: &Cell| cell.duration_us.saturating_sub(cell.setup_us);
        let (before_us, after_us) = (own(was), own(cell));
        let longer = after_us.saturating_sub(before_us);
        if longer > thresholds.us && longer.saturating_mul(100) > before_us.saturating_mul(thresholds.percent)
        {
            self.slower.push(Slower { cell: name, before_us, after_us });
        }
    }
}
