//! Which cells run: selected, numbered, and with a reason for each that can't.

use std::collections::{BTreeMap, BTreeSet};

use sha2::{Digest as _, Sha256};

use crate::{
    fail::{Code, Fault},
    middlebox::Program,
    postgres::local_programs,
    scenario::{Capability, Loaded},
};

/// What the user asked for.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// Parts of ids, whole ids, or `dimension=value`; all of a filter's words must match, any filter suffices.
    pub filters: Vec<String>,
    /// Any of these tags.
    pub tags: Vec<String>,
    /// None of these tags or ids.
    pub excluded: Vec<String>,
    /// The `i`-th of `n` parts, from 1.
    pub shard: Option<(u32, u32)>,
    /// Only these cells, by their names.
    pub only: Option<BTreeSet<String>>,
    /// What runs on request only is wanted too, though nothing names it.
    pub on_request: bool,
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
        self.loaded.name()
    }
}

/// `double-click clicks=8 gate=lock`.
#[must_use]
pub fn name_of(id: &str, at: &BTreeMap<String, String>) -> String {
    at.iter().fold(id.to_owned(), |name, (dimension, value)| format!("{name} {dimension}={value}"))
}

/// Selects cells in the order in which they were given.
#[must_use]
pub fn plan(
    cells: Vec<Loaded>,
    selection: &Selection,
    capabilities: &BTreeSet<Capability>,
    knobs: &BTreeMap<String, String>,
) -> Vec<PlannedCell> {
    let ids: BTreeSet<String> = cells.iter().map(|loaded| loaded.scenario.id.clone()).collect();
    let selected = cells.into_iter().filter(|loaded| selection.takes(loaded, &ids));
    let planned = selected.map(|loaded| {
        let missing: Vec<String> = loaded
            .needs()
            .into_iter()
            .filter(|need| !capabilities.contains(need))
            .map(|need| need.word().to_owned())
            .collect();
        let knob = loaded.scenario.settings.keys().find(|name| !knobs.contains_key(*name));
        let here = lacking_here(&loaded);
        let lacks = match knob {
            _ if !missing.is_empty() => Some(format!("the target lacks: {}", missing.join(", "))),
            Some(name) => Some(format!("the target's [settings] have no knob `{name}`")),
            None if !here.is_empty() => Some(format!("this machine lacks: {}", here.join(", "))),
            None => None,
        };
        PlannedCell { loaded, lacks }
    });
    match selection.shard {
        // Dealt like cards, so that a slow folder is spread over all shards.
        Some((index, of)) => planned
            .enumerate()
            .filter(|(at, _)| *at as u64 % u64::from(of) == u64::from(index) - 1)
            .map(|(_, c)| c)
            .collect(),
        None => planned.collect(),
    }
}

/// For a service that runs already, whose knobs nobody can turn: `[settings]` say how it was started, and a scenario that
/// wants one otherwise can't run.
#[must_use]
pub fn as_it_runs(mut cells: Vec<PlannedCell>, settings: &BTreeMap<String, String>) -> Vec<PlannedCell> {
    for cell in cells.iter_mut().filter(|cell| cell.lacks.is_none()) {
        let wanted = cell.loaded.scenario.settings.iter();
        let other = wanted
            .filter_map(|(name, value)| Some((name, value, settings.get(name)?)))
            .find(|(_, v, is)| v != is);
        cell.lacks = other
            .map(|(name, value, is)| format!("the service runs with {name} = {is}, and this wants {value}"));
    }
    cells
}

/// The same cells in an order drawn from the seed. A cell's place among the others depends on its name and the seed alone,
/// so that two plans with one seed agree on the order of what they share.
#[must_use]
pub fn shuffled(mut cells: Vec<PlannedCell>, seed: u64) -> Vec<PlannedCell> {
    cells.sort_by_cached_key(|cell| {
        Sha256::new().chain_update(seed.to_be_bytes()).chain_update(cell.name()).finalize()
    });
    cells
}

/// What a cell wants of this machine and the machine doesn't have, by the names of Debian's packages.
fn lacking_here(loaded: &Loaded) -> Vec<&'static str> {
    let programs = loaded.programs().into_iter().filter(|program| program.find().is_none());
    let mut lacking: Vec<_> = programs.map(Program::name).collect();
    if loaded.scenario.setup.server.is_some() && !local_programs() {
        lacking.push("postgresql");
    }
    let wrong_clock = loaded.scenario.step.iter().any(|step| step.with.fault.contains_key("clock"));
    if wrong_clock && super::world::faketime().is_none() {
        lacking.push("libfaketime");
    }
    lacking
}

/// Where everything must run, as in our own CI, nothing may be skipped for want of a package.
pub fn nothing_lacks_here(planned: &[PlannedCell]) -> Result<(), Fault> {
    let lacking: BTreeSet<_> = planned
        .iter()
        .filter(|cell| cell.lacks.is_some())
        .flat_map(|cell| lacking_here(&cell.loaded))
        .collect();
    if lacking.is_empty() {
        return Ok(());
    }
    let packages: Vec<_> = lacking.into_iter().collect();
    Err(Fault::new(
        Code::Middlebox,
        format!(
            "scenarios need programs that this machine lacks, and ONEJOB_CI is set: {}",
            packages.join(", ")
        ),
        format!("install them, on Debian with `apt-get install {}`", packages.join(" ")),
    ))
}

impl Selection {
    fn takes(&self, loaded: &Loaded, ids: &BTreeSet<String>) -> bool {
        let scenario = &loaded.scenario;
        let asked =
            self.on_request || !self.filters.is_empty() || !self.tags.is_empty() || self.only.is_some();
        if scenario.on_request && !asked {
            return false;
        }
        let point: Vec<String> =
            loaded.at.iter().map(|(dimension, value)| format!("{dimension}={value}")).collect();
        let tagged = |tag: &String| scenario.tags.contains(tag);
        // A whole name means that scenario alone, though it may be a part of others' names.
        let named =
            |word: &str| if ids.contains(word) { scenario.id == word } else { scenario.id.contains(word) };
        let fits =
            |word: &str| if word.contains('=') { point.iter().any(|pair| pair == word) } else { named(word) };
        let filtered = |filter: &String| filter.split_whitespace().all(fits);
        (self.filters.is_empty() || self.filters.iter().any(filtered))
            && (self.tags.is_empty() || self.tags.iter().any(tagged))
            && !self.excluded.iter().any(|excluded| tagged(excluded) || scenario.id == *excluded)
            && self.only.as_ref().is_none_or(|only| only.contains(&loaded.name()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::load_str;

    fn cells() -> Vec<Loaded> {
        let text = |id: &str| {
            format!(
                "id = \"{id}\"\ntitle = \"t\"\nwhy = \"w\"\ntags = [\"{id}-tag\"]\n[matrix]\nclicks = [2, 32]\n[[step]]\n\
                 id = \"s\"\ndo = \"submit\"\nwith = {{ key = \"K\", payload = \"P\" }}\ntimes = \"{{clicks}}\"\n\
                 expect = {{ status = [201] }}\n[witness]\nanswered = [\"s\"]\n"
            )
        };
        ["click", "click-late", "other"]
            .iter()
            .flat_map(|id| load_str(id, &text(id)).and_then(|file| file.cells()).expect("a scenario"))
            .collect()
    }

    fn names(selection: &Selection) -> Vec<String> {
        let all = BTreeSet::from([Capability::Read]);
        plan(cells(), selection, &all, &BTreeMap::new()).iter().map(PlannedCell::name).collect()
    }

    fn filter(text: &str) -> Selection {
        Selection { filters: vec![text.to_owned()], ..Selection::default() }
    }

    #[test]
    fn a_part_of_a_name_selects_all_that_have_it_and_a_whole_name_only_itself() {
        assert_eq!(names(&filter("late")), ["click-late clicks=2", "click-late clicks=32"]);
        assert_eq!(names(&filter("click")), ["click clicks=2", "click clicks=32"]);
        assert_eq!(names(&filter("cli")).len(), 4);
    }

    #[test]
    fn a_seed_gives_one_order_also_of_a_part_and_another_seed_another() {
        let all = BTreeSet::from([Capability::Read]);
        let order = |selection: &Selection, seed| -> Vec<String> {
            let cells = plan(cells(), selection, &all, &BTreeMap::new());
            shuffled(cells, seed).iter().map(PlannedCell::name).collect()
        };
        let whole = order(&Selection::default(), 7);
        assert_eq!(whole, order(&Selection::default(), 7));
        let part: Vec<_> = whole.iter().filter(|name| name.starts_with("click ")).cloned().collect();
        assert_eq!(order(&filter("click"), 7), part);
        assert!((0..64).any(|seed| order(&Selection::default(), seed) != whole));
    }

    #[test]
    fn what_runs_on_request_runs_only_then() {
        let on_request = || {
            let mut cells = cells();
            for loaded in &mut cells {
                loaded.scenario.on_request = true;
            }
            cells
        };
        let count =
            |selection: &Selection| plan(on_request(), selection, &BTreeSet::new(), &BTreeMap::new()).len();
        assert_eq!(count(&Selection::default()), 0);
        assert_eq!(count(&filter("other")), 2);
        assert_eq!(count(&Selection { tags: vec!["other-tag".to_owned()], ..Selection::default() }), 2);
        assert_eq!(count(&Selection { on_request: true, ..Selection::default() }), 6);
    }

    #[test]
    fn a_cell_is_selected_by_its_exact_point() {
        assert_eq!(names(&filter("click clicks=2")), ["click clicks=2"]);
        assert_eq!(names(&filter("click clicks=3")), Vec::<String>::new());
    }

    #[test]
    fn shards_share_out_every_cell_once() {
        let shard = |index| names(&Selection { shard: Some((index, 2)), ..Selection::default() });
        let mut together = [shard(1), shard(2)].concat();
        together.sort();
        let mut all = names(&Selection::default());
        all.sort();
        assert_eq!(together, all);
    }

    #[test]
    fn a_knob_that_nobody_can_turn_has_to_be_where_a_scenario_wants_it() {
        let settings = |value: &str| BTreeMap::from([("patience".to_owned(), value.to_owned())]);
        let planned = |value: &str| {
            let mut cells = cells();
            cells[0].scenario.settings = settings("2s");
            let planned = plan(cells, &Selection::default(), &BTreeSet::new(), &settings(value));
            as_it_runs(planned, &settings(value))
        };
        assert_eq!(planned("2s")[0].lacks, None);
        let other = planned("5s");
        assert!(
            other[0].lacks.as_ref().is_some_and(|why| why.contains("patience = 5s")),
            "{:?}",
            other[0].lacks
        );
        assert!(other[1..].iter().all(|cell| cell.lacks.is_none()));
    }

    #[test]
    fn what_the_target_lacks_is_told_by_name() {
        let planned = plan(cells(), &Selection::default(), &BTreeSet::new(), &BTreeMap::new());
        assert!(planned.iter().all(|cell| cell.lacks.is_none()), "a submit needs nothing");
    }
}
