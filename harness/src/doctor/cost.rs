//! What a missing capability costs: the scenarios that can't run without it, by the planner itself.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::{
    engine::{PlannedCell, Selection, as_it_runs, plan, promised, undoubled},
    scenario::{Capability, Loaded},
    target::TargetFile,
};

/// What can run against a target, and what can't for want of what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Coverage {
    /// Scenarios of which something can run.
    pub run: usize,
    /// All scenarios.
    pub of: usize,
    /// By capability that is missing, the dearest first.
    pub costs: Vec<Cost>,
    /// Reasons that are no capability, and their scenarios: what the profile doesn't promise, knobs, programs.
    pub otherwise: BTreeMap<String, Vec<String>>,
}

/// What one missing capability costs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Cost {
    /// The capability.
    pub capability: String,
    /// Scenarios that need it, and perhaps others.
    pub scenarios: Vec<String>,
    /// Those of them that lack nothing else.
    pub alone: Vec<String>,
}

impl Coverage {
    /// Asks the planner.
    #[must_use]
    pub fn of(cells: Vec<Loaded>, target: &TargetFile) -> Self {
        let capabilities = target.capabilities();
        let cells = undoubled(cells, &capabilities, target.counts_effects());
        let planned = plan(
            cells,
            &Selection { on_request: true, ..Selection::default() },
            &capabilities,
            &target.settings,
        );
        let planned = match target.target.command {
            Some(_) => planned,
            None => as_it_runs(planned, &target.settings),
        };
        let planned = promised(planned, &target.promises());
        let id = |cell: &PlannedCell| cell.loaded.scenario.id.clone();
        let all: BTreeSet<String> = planned.iter().map(id).collect();
        let run: BTreeSet<String> = planned.iter().filter(|cell| cell.lacks.is_none()).map(id).collect();
        let mut costs: BTreeMap<Capability, (BTreeSet<String>, BTreeSet<String>)> = BTreeMap::new();
        let mut otherwise: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for cell in planned.iter().filter(|cell| cell.lacks.is_some()) {
            let needs = cell.loaded.needs();
            let missing: Vec<_> = needs.iter().filter(|need| !capabilities.contains(need)).collect();
            for capability in &missing {
                let (scenarios, alone) = costs.entry(**capability).or_default();
                scenarios.insert(id(cell));
                if missing.len() == 1 {
                    alone.insert(id(cell));
                }
            }
            if let (true, Some(why)) = (missing.is_empty(), &cell.lacks) {
                otherwise.entry(why.clone()).or_default().insert(id(cell));
            }
        }
        let list = |set: BTreeSet<String>| set.into_iter().collect::<Vec<_>>();
        let mut costs: Vec<Cost> = costs
            .into_iter()
            .map(|(capability, (scenarios, alone))| Cost {
                capability: capability.word().to_owned(),
                scenarios: list(scenarios),
                alone: list(alone),
            })
            .collect();
        costs.sort_by_key(|cost| std::cmp::Reverse((cost.alone.len(), cost.scenarios.len())));
        Self {
            run: run.len(),
            of: all.len(),
            costs,
            otherwise: otherwise.into_iter().map(|(why, scenarios)| (why, list(scenarios))).collect(),
        }
    }
}
