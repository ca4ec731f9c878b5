//! Making one report out of the shards of a run.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{Cell, RunReport, Sweeps};

/// Why shards don't make a run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MergeError {
    /// No report was given.
    #[error("there is nothing to merge; give the report of every shard")]
    Nothing,
    /// A report that isn't of a shard.
    #[error(
        "report {position} (run {run_id}) is not of a shard; merge only reports of `onejob run --shard i/n`"
    )]
    NotAShard {
        /// Position among the reports given, from 1.
        position: usize,
        /// Its run.
        run_id: String,
    },
    /// The shards are of differently divided runs.
    #[error(
        "report {position} is shard {index} of {of}, but the first is one of {expected}; merge the shards of one division"
    )]
    OtherDivision {
        /// Position among the reports given, from 1.
        position: usize,
        /// Index of its shard.
        index: u32,
        /// Into how many its run was divided.
        of: u32,
        /// Into how many the first one's was.
        expected: u32,
    },
    /// An index outside the division.
    #[error(
        "report {position} says that it is shard {index} of {of}, which can't be; write it anew with `onejob run --shard`"
    )]
    OutOfRange {
        /// Position among the reports given, from 1.
        position: usize,
        /// The index.
        index: u32,
        /// The division.
        of: u32,
    },
    /// The same shard twice.
    #[error("shard {index} of {of} was given twice (runs {first} and {second}); give each shard once")]
    Duplicate {
        /// The index.
        index: u32,
        /// The division.
        of: u32,
        /// Run of the first.
        first: String,
        /// Run of the second.
        second: String,
    },
    /// Shards that were not given.
    #[error("{} of {of} missing: {}; what they would have found is unknown, so run them and merge again",
        if missing.len() == 1 { "shard" } else { "shards" }, list(missing))]
    Missing {
        /// Indexes that are missing, in order.
        missing: Vec<u32>,
        /// The division.
        of: u32,
    },
    /// The shards differ in what has to be one.
    #[error(
        "shard {index} ran with {what} {found}, shard {first_index} with {expected}; run every shard alike"
    )]
    Differs {
        /// What differs: `target`, `seed`, ...
        what: &'static str,
        /// The shard that differs.
        index: u32,
        /// What it has.
        found: String,
        /// The shard that it differs from.
        first_index: u32,
        /// What that one has.
        expected: String,
    },
    /// A cell in two shards.
    #[error(
        "cell `{cell}` is in shard {first} and in shard {second}; the shards don't come from the same plan"
    )]
    CellTwice {
        /// Name of the cell.
        cell: String,
        /// The shard with the lower index.
        first: u32,
        /// The other one.
        second: u32,
    },
}

fn list(indexes: &[u32]) -> String {
    let texts: Vec<String> = indexes.iter().map(ToString::to_string).collect();
    texts.join(", ")
}

/// Merges the reports of all shards of one run, given in any order.
///
/// Shards run side by side, so the merged wall time is the longest one's. Scenarios keep the order in which the shards,
/// by index, first name them; the cells of a scenario stand together. A shard that was interrupted makes the whole
/// interrupted.
pub fn merge(reports: &[RunReport]) -> Result<RunReport, MergeError> {
    let shards = by_index(reports)?;
    let (&first_index, &first) = shards.first_key_value().ok_or(MergeError::Nothing)?;
    for (&index, &report) in shards.iter().skip(1) {
        alike(first_index, first, index, report)?;
    }
    cells_once(&shards)?;
    let mut merged = RunReport {
        shard: None,
        planned: 0,
        not_run: Vec::new(),
        incomplete: None,
        cells: Vec::new(),
        ..first.clone()
    };
    let mut databases = BTreeSet::new();
    for report in shards.values() {
        merged.planned += report.planned;
        merged.interrupted |= report.interrupted;
        let torn = report
            .incomplete
            .iter()
            .map(|why| format!("Shard {}: {why}", report.shard.map_or(0, |s| s.index)));
        merged.incomplete =
            merged.incomplete.into_iter().chain(torn).reduce(|all, why| format!("{all} {why}"));
        merged.duration_us = merged.duration_us.max(report.duration_us);
        merged.not_run.extend(report.not_run.iter().cloned());
        // RFC 3339 in UTC sorts as text.
        if report.started_at < merged.started_at {
            merged.started_at.clone_from(&report.started_at);
        }
        databases.extend(report.database.clone());
    }
    merged.database = (!databases.is_empty()).then(|| databases.into_iter().collect::<Vec<_>>().join("; "));
    merged.cells = grouped(shards.values().flat_map(|report| report.cells.iter()));
    merged.sweeps = Sweeps::of(&merged.cells);
    Ok(merged)
}

fn by_index(reports: &[RunReport]) -> Result<BTreeMap<u32, &RunReport>, MergeError> {
    let mut shards: BTreeMap<u32, &RunReport> = BTreeMap::new();
    let mut division = None;
    for (position, report) in (1..).zip(reports) {
        let Some(shard) = report.shard else {
            return Err(MergeError::NotAShard { position, run_id: report.run_id.clone() });
        };
        let expected = *division.get_or_insert(shard.of);
        if shard.of != expected {
            return Err(MergeError::OtherDivision { position, index: shard.index, of: shard.of, expected });
        }
        if shard.index == 0 || shard.index > shard.of {
            return Err(MergeError::OutOfRange { position, index: shard.index, of: shard.of });
        }
        if let Some(first) = shards.insert(shard.index, report) {
            return Err(MergeError::Duplicate {
                index: shard.index,
                of: shard.of,
                first: first.run_id.clone(),
                second: report.run_id.clone(),
            });
        }
    }
    let of = division.ok_or(MergeError::Nothing)?;
    let missing: Vec<u32> = (1..=of).filter(|index| !shards.contains_key(index)).collect();
    if missing.is_empty() { Ok(shards) } else { Err(MergeError::Missing { missing, of }) }
}

/// What has to be the same for verdicts to stand in one report.
fn alike(first_index: u32, first: &RunReport, index: u32, report: &RunReport) -> Result<(), MergeError> {
    let facts = |report: &RunReport| {
        [
            ("onejob", report.tool_version.clone()),
            ("target", format!("`{}`", report.target)),
            ("profile", format!("`{}` ({})", report.profile.name, report.profile.widens.join("; "))),
            ("defects", format!("[{}]", report.defects.join(", "))),
            ("seed", report.seed.to_string()),
        ]
    };
    for ((what, expected), (_, found)) in facts(first).into_iter().zip(facts(report)) {
        if expected != found {
            return Err(MergeError::Differs { what, index, found, first_index, expected });
        }
    }
    Ok(())
}

fn cells_once(shards: &BTreeMap<u32, &RunReport>) -> Result<(), MergeError> {
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    for (&second, report) in shards {
        for cell in &report.cells {
            let name = cell.name();
            if let Some(&first) = seen.get(&name) {
                return Err(MergeError::CellTwice { cell: name, first, second });
            }
            seen.insert(name, second);
        }
    }
    Ok(())
}

fn grouped<'a>(cells: impl Iterator<Item = &'a Cell>) -> Vec<Cell> {
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    let mut groups: Vec<Vec<Cell>> = Vec::new();
    for cell in cells {
        let place = *places.entry(&cell.scenario).or_insert_with(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        groups[place].push(cell.clone());
    }
    groups.into_iter().flatten().collect()
}
