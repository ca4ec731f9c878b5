//! Which cells run: selected, numbered, and with a reason for each that can't.

use std::collections::{BTreeMap, BTreeSet};

use crate::scenario::{Capability, Loaded};

/// What the user asked for.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// Parts of ids or of `id dimension=value`; all of a filter's words must match, any filter suffices.
    pub filters: Vec<String>,
    /// Any of these tags.
    pub tags: Vec<String>,
    /// None of these tags or ids.
    pub excluded: Vec<String>,
    /// The `i`-th of `n` parts, from 1.
    pub shard: Option<(u32, u32)>,
    /// Only these cells, by their names.
    pub only: Option<BTreeSet<String>>,
}

/// A cell that was selected.
#[derive(Debug, Clone)]
pub struct PlannedCell {
    /// The scenario at this point of its matrix.
    pub loaded: Loaded,
    /// Why it can't run against this target.
    pub lacks: Option<String>,
}

impl PlannedCell {
    /// The name that filters and `--last-failed` know it by.
    #[must_use]
    pub fn name(&self) -> String {
        name_of(&self.loaded.scenario.id, &self.loaded.at)
    }
}

/// `double-click clicks=8 gate=lock`.
#[must_use]
pub fn name_of(id: &str, at: &BTreeMap<String, String>) -> String {
    at.iter().fold(id.to_owned(), |name, (dimension, value)| format!("{name} {dimension}={value}"))
}

/// Selects cells in the order in which they were given.
#[must_use]
pub fn plan(cells: Vec<Loaded>, selection: &Selection, capabilities: &BTreeSet<Capability>) -> Vec<PlannedCell> {
    let selected = cells.into_iter().filter(|loaded| selection.takes(loaded));
    let planned = selected.map(|loaded| {
        let missing: Vec<String> = loaded
            .needs()
            .into_iter()
            .filter(|need| !capabilities.contains(need))
            .map(|need| need.word().to_owned())
            .collect();
        let lacks = (!missing.is_empty()).then(|| format!("the target lacks: {}", missing.join(", ")));
        PlannedCell { loaded, lacks }
    });
    match selection.shard {
        // Dealt like cards, so that a slow folder is spread over all shards.
        Some((index, of)) => {
            planned.enumerate().filter(|(at, _)| *at as u64 % u64::from(of) == u64::from(index) - 1).map(|(_, c)| c).collect()
        }
        None => planned.collect(),
    }
}

impl Selection {
    fn takes(&self, loaded: &Loaded) -> bool {
        let scenario = &loaded.scenario;
        let name = name_of(&scenario.id, &loaded.at);
        let tagged = |tag: &String| scenario.tags.contains(tag);
        let filtered = |filter: &String| filter.split_whitespace().all(|word| name.contains(word));
        (self.filters.is_empty() || self.filters.iter().any(filtered))
            && (self.tags.is_empty() || self.tags.iter().any(tagged))
            && !self.excluded.iter().any(|excluded| tagged(excluded) || scenario.id == *excluded)
            && self.only.as_ref().is_none_or(|only| only.contains(&name))
    }
}
