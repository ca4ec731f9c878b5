//! What an exploration found, in its serialised form.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Version of the serialised form.
pub const EXPLORE_SCHEMA_VERSION: u32 = 1;

/// One exploration of one target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExploreReport {
    /// [`EXPLORE_SCHEMA_VERSION`] at the time of writing.
    pub schema_version: u32,
    /// Version of onejob that explored.
    pub tool_version: String,
    /// The one command that plays the same plans again.
    pub command: String,
    /// Begin, RFC 3339 in UTC.
    pub started_at: String,
    /// Wall time in microseconds.
    pub duration_us: u64,
    /// Name of the target, from its file.
    pub target: String,
    /// The defects that were switched on.
    pub defects: Vec<String>,
    /// Where the database came from, in one line.
    pub database: Option<String>,
    /// Seed of all plans.
    pub seed: u64,
    /// Digest of the seed's first plans: two programs that agree in it play the same.
    pub digest: String,
    /// How many plans the digest is of.
    pub digested: u64,
    /// Plans that were played to their end.
    pub played: u64,
    /// Of those, plans in which something that was waited for never came: they say nothing.
    pub unclear: u64,
    /// Plans that could not be played.
    pub faults: Vec<Unplayed>,
    /// Whether somebody stopped it.
    pub interrupted: bool,
    /// The failure that shows most surely, where a promise broke.
    pub failure: Option<Failure>,
    /// Further failures, each of which shows less surely.
    #[serde(default)]
    pub others: Vec<Failure>,
    /// What the plans reached.
    pub coverage: Coverage,
}

/// A plan that could not be played.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Unplayed {
    /// Its number.
    pub plan: u64,
    /// The code of the error.
    pub code: String,
    /// What is wrong.
    pub message: String,
}

/// A plan that broke a promise, made as small as it would go.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Failure {
    /// Number of the plan.
    pub plan: u64,
    /// The promise that broke.
    pub promise: String,
    /// What happened, as a sentence.
    pub sentence: String,
    /// Steps that are left.
    pub steps: usize,
    /// Steps before it was made smaller.
    pub steps_before: usize,
    /// Smaller plans that were tried on the way.
    pub tried: u32,
    /// How many trials of it failed at the end.
    pub failed: u32,
    /// Of how many.
    pub trials: u32,
    /// Rounds that the scenario plays, so that it all but surely shows.
    pub rounds: u32,
    /// Where the scenario was written.
    pub file: Option<String>,
    /// The scenario, as the file has it.
    pub scenario: String,
    /// The one command that plays it again.
    pub replay: String,
}

/// What was reached.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Coverage {
    /// What happened to jobs in which state.
    pub jobs: Map,
    /// What happened to attempts in which state, as far as the target's log tells.
    pub attempts: Map,
}

/// Pairs of a state and an event.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Map {
    /// The states that there are.
    pub states: Vec<String>,
    /// The events that there are.
    pub events: Vec<String>,
    /// The pairs that were reached.
    pub reached: Vec<Pair>,
}

/// A pair that was reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pair {
    /// The state before.
    pub state: String,
    /// What happened.
    pub event: String,
    /// How often.
    pub count: u64,
}

impl ExploreReport {
    /// The failures, the surest first.
    pub fn failures(&self) -> impl Iterator<Item = &Failure> {
        self.failure.iter().chain(&self.others)
    }
}

impl Map {
    /// How often a pair was reached.
    #[must_use]
    pub fn count(&self, state: &str, event: &str) -> u64 {
        let pair = self.reached.iter().find(|pair| pair.state == state && pair.event == event);
        pair.map_or(0, |pair| pair.count)
    }

    /// How many of the pairs of the named states and events were reached, and how many there are.
    #[must_use]
    pub fn share(&self) -> (usize, usize) {
        let reached = self
            .events
            .iter()
            .map(|event| self.states.iter().filter(|state| self.count(state, event) > 0).count())
            .sum();
        (reached, self.states.len() * self.events.len())
    }
}

/// The JSON Schema (2020-12) of an exploration.
#[must_use]
pub fn explore_schema() -> Value {
    let mut schema = schemars::schema_for!(ExploreReport);
    schema.insert("title".into(), "Report of a onejob exploration".into());
    schema.to_value()
}
