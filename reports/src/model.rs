//! What a run found, in the words that every report uses.
//!
//! Versioned: [`SCHEMA_VERSION`] goes up whenever a reader of the JSON form would have to change.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::exit::ExitCode;

/// Version of the serialised form.
pub const SCHEMA_VERSION: u32 = 1;

/// One run of the suite against one target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunReport {
    /// [`SCHEMA_VERSION`] at the time of writing.
    pub schema_version: u32,
    /// Version of onejob that judged the run.
    pub tool_version: String,
    /// Identifies the run; a `UUIDv7`.
    pub run_id: String,
    /// Start of the run, RFC 3339 in UTC.
    pub started_at: String,
    /// Wall time of the run in microseconds.
    pub duration_us: u64,
    /// Name of the target, from its file.
    pub target: String,
    /// Profile of the target (`job`, `ietf`, ...) and what it widens.
    pub profile: Profile,
    /// The defect that was switched on in the reference service, where one was.
    pub defects: Vec<String>,
    /// Where the database came from, in one line, with its version.
    pub database: Option<String>,
    /// Seed of everything random in the run.
    pub seed: u64,
    /// Whether somebody stopped the run before its end.
    pub interrupted: bool,
    /// Which shard this is, where the run is one of several.
    pub shard: Option<Shard>,
    /// How many cells were planned; more than `cells` where the run was interrupted.
    pub planned: usize,
    /// Names of the planned cells that have no verdict, where they are known: `double-click clicks=8`.
    #[serde(default)]
    pub not_run: Vec<String>,
    /// What is missing of the report itself, as a sentence, where it was read from a file that breaks off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub incomplete: Option<String>,
    /// What all sweeps of the run came to together; none where there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sweeps: Option<Sweeps>,
    /// What each cell found, in the order of the plan.
    pub cells: Vec<Cell>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// The declared choices of a target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Name of the profile.
    pub name: String,
    /// Each promise that the profile widens, as a sentence.
    pub widens: Vec<String>,
}

/// Position of a shard among its peers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Shard {
    /// From 1 to `of`.
    pub index: u32,
    /// How many shards there are.
    pub of: u32,
}

/// The verdict on a cell. Ordered from best to worst, so that the worst is the maximum.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Every promise held and every witness was seen.
    Pass,
    /// The target says that it lacks a capability: not verified.
    Skipped,
    /// The situation that the scenario is about was not produced.
    Inconclusive,
    /// The harness, the double or the target broke.
    Error,
    /// A promise was broken.
    Fail,
}

/// One scenario at one point of its matrix.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    /// Id of the scenario, for example `double-click`.
    pub scenario: String,
    /// Title of the scenario: one English sentence that is the promise in short.
    pub title: String,
    /// What goes wrong in the world when this breaks.
    pub why: String,
    /// Tags of the scenario.
    pub tags: Vec<String>,
    /// Rows of the scenario catalogue that the scenario covers.
    pub covers: Vec<String>,
    /// The point of the matrix, for example `clicks = 8`; empty where the scenario has none.
    pub at: BTreeMap<String, String>,
    /// The scenario's file, relative to the project or `embedded:NAME`, and the line of its `id`.
    pub source: Source,
    /// The verdict, over all rounds.
    pub verdict: Verdict,
    /// Whether the verdict differed between repeats.
    pub flaky: bool,
    /// Rounds that ran.
    pub rounds: u32,
    /// Each repeat's verdict, where the cell was repeated.
    pub repeats: Vec<Verdict>,
    /// Wall time in microseconds, set-up included.
    pub duration_us: u64,
    /// Set-up and tear-down within `duration_us`.
    pub setup_us: u64,
    /// Which gate made requests arrive together, where one was used: `lock`, `provider`, `arrival-h1`, `arrival-h2`.
    pub gate: Option<String>,
    /// The promises that were judged.
    pub promises: Vec<Promise>,
    /// What was to be seen for the verdict to mean anything.
    pub witnesses: Vec<Witness>,
    /// Why the cell was skipped, where it was.
    pub skipped: Option<String>,
    /// What broke in harness, double or target, where the verdict is `error`.
    pub error: Option<CellError>,
    /// In a sweep: at how many points the service was killed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kills: Option<Kills>,
    /// What happened in the round that decided the verdict: the first that failed, or the last.
    pub timeline: Vec<Moment>,
    /// How many more moments that round had; they are in the stored history.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub moments_left_out: u64,
    /// The one command that runs this cell again.
    pub replay: String,
    /// The requests of the deciding round as `curl` commands, secrets redacted.
    pub curl: Vec<String>,
}

/// Where something stands in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// Path relative to the working folder, or `embedded:NAME`.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
}

/// One promise (invariant or expectation) and whether it held.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Promise {
    /// Name in the catalogue of invariants, or `expect:STEP` for an expectation.
    pub name: String,
    /// The outcome.
    pub outcome: Outcome,
    /// What broke, in one sentence; or why it can't be decided. Empty where it held.
    pub sentence: String,
    /// Rounds in which it broke, counted from 1.
    pub broken_rounds: Vec<u32>,
    /// Ids of the moments in the timeline that show it.
    pub evidence: Vec<u64>,
    /// Line in the scenario file that asked for it; none where it is judged everywhere.
    pub line: Option<u32>,
}

/// Outcome of one promise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// It held in every round.
    Held,
    /// It broke in at least one round.
    Broke,
    /// The history doesn't say.
    Undecided,
}

/// Something that must have been seen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Witness {
    /// Name, as in the scenario file.
    pub name: String,
    /// Whether it was seen.
    pub seen: bool,
    /// Rounds in which it was seen.
    pub rounds_seen: u32,
    /// What was seen, with figures, or what was missing: `8 requests waited on the lock`.
    pub detail: String,
}

/// What a sweep came to: the service is killed at every point at which it changes its database, one point a round.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Kills {
    /// Points that the rehearsal found.
    pub found: u32,
    /// Those of them that are this cell's.
    pub share: u32,
    /// Points at which the kill hit.
    pub hit: u32,
    /// Points to which the play never came a second time: what a service does by the clock may be over sooner.
    pub beyond: u32,
    /// Points that were not tried any more, because a promise broke before.
    pub untried: u32,
}

/// The sum of what sweeps came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sweeps {
    /// Cells that swept.
    pub cells: u64,
    /// Points that were theirs.
    pub points: u64,
    /// Points at which the kill hit.
    pub hit: u64,
    /// Points to which the play never came a second time.
    pub beyond: u64,
    /// Points that were not tried any more, because a promise broke before.
    pub untried: u64,
}

/// An error that isn't the target breaking a promise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CellError {
    /// Code, for example `OJ3004`; `onejob explain CODE` prints its page.
    pub code: String,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: String,
    /// The exit code that it asks for.
    pub exit: ExitCode,
}

/// Who a moment belongs to: the lanes of a timeline, from top to bottom.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Lane {
    /// What the client sent and was told.
    Client,
    /// What the harness did: gates, releases.
    Harness,
    /// Faults that were applied and hit.
    Fault,
    /// What the service logged about the job.
    Service,
    /// Attempts under the job.
    Attempt,
    /// Calls that the provider saw.
    Provider,
    /// Decisions of the database: claims, the compare-and-swap, discarded results.
    Database,
}

/// How a moment is to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mark {
    /// Nothing special.
    Plain,
    /// The result that won the compare-and-swap.
    Won,
    /// A result that came too late and was discarded.
    Discarded,
    /// A request or attempt that was refused.
    Refused,
    /// The outcome is not known.
    Unknown,
    /// An effect in the outside world.
    Effect,
    /// What broke the promise.
    Broke,
}

/// One line of a timeline.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Moment {
    /// Id within the timeline; evidence points here.
    pub id: u64,
    /// Microseconds since the round began.
    pub at_us: u64,
    /// End, where the moment is a span: a request until its answer, a provider call until its reply.
    pub until_us: Option<u64>,
    /// The lane.
    pub lane: Lane,
    /// Who: `click.3`, `attempt 2`, `call A`.
    pub who: String,
    /// What happened, short: `POST /v1/jobs → 201 queued`.
    pub what: String,
    /// How to read it.
    pub mark: Mark,
}

/// What a listener is told while a run goes on. Reports that show progress consume these and nothing else.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Progress {
    /// The run begins; `cells` were planned.
    RunStarted {
        /// Name of the target.
        target: String,
        /// Where the database came from.
        database: Option<String>,
        /// Cells planned.
        cells: usize,
    },
    /// A cell begins.
    CellStarted {
        /// Id of the scenario.
        scenario: String,
        /// Point of the matrix.
        at: BTreeMap<String, String>,
    },
    /// A cell has its verdict.
    CellFinished {
        /// All about it.
        cell: Box<Cell>,
    },
    /// The run is over.
    RunFinished {
        /// The whole report.
        report: Box<RunReport>,
    },
}
