//! The scenario file as serde sees it: flat lists, at most two levels deep. The same types are the builder for tests
//! written in Rust.
//!
//! Strings may hold `{name}` where `name` is a dimension of `[matrix]`; [`super::expand`] replaces them before this
//! model is read, so every field here has its final type.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{duration::Span, value::MatrixValue};
use crate::{
    middlebox::{BalancerKind, PoolerKind},
    postgres::OwnServer,
};

/// One scenario: a situation, what is done in it, and what must hold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Unique name in kebab-case, for example `double-click`.
    pub id: String,
    /// The promise in one English sentence.
    pub title: String,
    /// What goes wrong in the world when this breaks, in two or three sentences.
    pub why: String,
    /// Free words to select by (`--tag`).
    #[serde(default)]
    pub tags: Vec<String>,
    /// Rows of the scenario catalogue that this covers: `S01` to `S40`, or a seam's name.
    #[serde(default)]
    pub covers: Vec<String>,
    /// Capabilities that the target must have; without one the scenario is skipped, and shown as not verified.
    #[serde(default)]
    pub requires: Vec<Capability>,
    /// Defects of the reference service that this scenario is the first to kill.
    #[serde(default)]
    pub kills: Vec<String>,
    /// How often the situation is produced anew, with fresh keys, in each cell. Every round is judged.
    #[serde(default = "one")]
    pub rounds: u32,
    /// The most that one round may take.
    #[serde(default = "Span::default_round")]
    pub within: Span,
    /// Names a real resource that scenarios share; those with the same name never run at the same time.
    #[serde(default)]
    pub exclusive: Option<String>,
    /// Runs only when a filter or a tag asks for it: it takes long, and others cover the essence.
    #[serde(default)]
    pub on_request: bool,
    /// Dimensions and their values; the scenario runs once for each combination.
    #[serde(default)]
    pub matrix: BTreeMap<String, Vec<MatrixValue>>,
    /// Combinations that make no sense: each entry leaves out the cells that match all its pairs.
    #[serde(default)]
    pub without: Vec<BTreeMap<String, MatrixValue>>,
    /// Words that follow from a dimension's value.
    #[serde(default)]
    pub derive: Vec<Derived>,
    /// Plays the steps again and again, and kills the service each time at another point of its conversation with the
    /// database.
    #[serde(default)]
    pub sweep: Option<Sweep>,
    /// Real programs that stand between the parts while the scenario runs.
    #[serde(default)]
    pub setup: Setup,
    /// Values for the target's `[settings]`, for example `attempt_timeout = "300ms"`.
    #[serde(default)]
    pub settings: BTreeMap<String, String>,
    /// What the provider double does, call by call.
    #[serde(default)]
    pub provider: Vec<Script>,
    /// What is done, in order.
    pub step: Vec<Step>,
    /// What must hold in the end and over the whole history.
    #[serde(default)]
    pub invariants: Invariants,
    /// What must have been seen for the verdict to mean anything.
    #[serde(default)]
    pub witness: Witnesses,
}

const fn one() -> u32 {
    1
}

/// A kill at every point at which the service changes its database. Nobody lists the points: the first round is an
/// undisturbed rehearsal that finds them, each further round kills the service (SIGKILL) at one of them and starts it
/// anew. A request that gets no answer because of that is sent once more, byte by byte, as a client would.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sweep {
    /// On which side of each point.
    pub kill: KillMoment,
    /// The cell's share of the points, `2/3` for the second of three: shares can run at the same time.
    #[serde(default)]
    pub share: Option<String>,
}

/// On which side of a point the service is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum KillMoment {
    /// The statement left the service and never reaches the database.
    Before,
    /// The database has carried the statement out, and the service never learns.
    After,
}

impl Sweep {
    /// The share as numbers: which, from 1, and of how many. None where it makes no sense.
    #[must_use]
    pub fn share(&self) -> Option<(usize, usize)> {
        let Some(share) = &self.share else { return Some((1, 1)) };
        let (which, of) = share.split_once('/')?;
        let (which, of) = (which.parse().ok()?, of.parse().ok()?);
        (1..=of).contains(&which).then_some((which, of))
    }
}

/// A word that follows from a dimension: `{name}` is replaced by it as if it were a dimension, but it makes no further
/// cells and no longer names. For what must go along with a value: more rounds for fewer clicks, the deadline that
/// produces a state, the answer that must win.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Derived {
    /// Name of the placeholder.
    pub name: String,
    /// The dimension of `[matrix]` that it follows.
    pub from: String,
    /// What it is for each value of that dimension; none may be missing. `{name}` stands for a word derived before, so
    /// that it can follow two dimensions.
    #[serde(rename = "as")]
    pub values: BTreeMap<String, MatrixValue>,
}

/// What the world of a scenario has besides service, database and double. Where a program is not on the machine, the
/// scenario is skipped and says so.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Setup {
    /// A real load balancer before the replicas, of which there are at least two. Requests that name no replica go
    /// through it, and it tries replica 1 first.
    #[serde(default)]
    pub balancer: Option<BalancerKind>,
    /// A real pooler between the service and its database. The service has to know: `[settings] pooled = "true"`.
    #[serde(default)]
    pub pooler: Option<PoolerKind>,
    /// A Postgres server that this scenario has to itself, so that it can be crashed or lost to its standby: from local
    /// programs, wherever the other databases are.
    #[serde(default)]
    pub server: Option<OwnServer>,
}

/// What a target can be asked for. Derived from the sections of its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Capability {
    /// A job can be read (`[target.read]`).
    Read,
    /// Further attempts can be asked for (`[target.retry]`).
    Attempts,
    /// A job can be cancelled (`[target.cancel]`).
    Cancel,
    /// A single attempt can be cancelled from outside (`[target.cancel-attempt]`).
    CancelAttempt,
    /// An attempt of unknown outcome can be resolved by evidence (`[target.resolve]`).
    Resolve,
    /// The service calls our provider double (`[provider]`).
    Provider,
    /// A second provider can be named (`[provider]` with more than one name).
    Fallback,
    /// The service takes provider callbacks (`[target.callback]`).
    Callbacks,
    /// Several attempts may race on request (`[target.race]`).
    Race,
    /// The service can be started, stopped and killed (`[target.command]`).
    Process,
    /// Several replicas can be started over one database.
    Replicas,
    /// The harness has the service's database (`[target.database]`).
    Database,
    /// The harness may hold the row of a job in it (`lock_job`).
    RowLock,
    /// More than one owner can be authenticated (`[[owner]]` twice).
    Owners,
    /// The history of a job can be read (`[target.audit]`).
    Audit,
    /// The service fails over on its own, through the gate (`[failover]`).
    Failover,
    /// Requests carry a trace (`{trace}` in a header of `[target.submit]`).
    Trace,
    /// A job is found by its key (`[target.lookup]`).
    Lookup,
    /// Many jobs in one request (`[target.batch]`).
    Batch,
    /// A job that starts later (`[target.schedule]`).
    Schedule,
    /// The service asks the provider about unknown outcomes on its own.
    Reconciler,
    /// The payload is sent as JSON (`"{payload}"` in the body of `[target.submit]`), and not as a text within it.
    JsonPayload,
}

/// What the double does with the calls that a rule matches. Rules take calls in the order of their arrival.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// Name of the call, for `await`, `release`, witnesses and reports. `rest` matches whatever no other rule takes.
    pub call: String,
    /// What happens.
    pub reply: Reply,
    /// How many calls the rule takes, one after the other; named `call`, then `call.2`, and so on.
    #[serde(default)]
    pub times: Option<u32>,
    /// Only calls to the provider of this name.
    #[serde(default)]
    pub provider: Option<String>,
    /// Only calls that carry this payload.
    #[serde(default)]
    pub payload: Option<String>,
    /// The text of the answer where the reply succeeds; `answer-CALL` by default.
    #[serde(default)]
    pub answer: Option<String>,
    /// HTTP status, for `status` and `fail`.
    #[serde(default)]
    pub status: Option<u16>,
    /// A header of the answer, for `status` and `fail`: `retry-after = "1"`.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// How long `slow` takes, or how late a callback comes.
    #[serde(default)]
    pub delay: Option<Span>,
    /// What the double answers when it is asked about this call's outcome: `truth` by default.
    #[serde(default)]
    pub probe: Option<ProbeReply>,
}

/// What the double does with a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reply {
    /// The effect happens and the answer says so.
    Succeed,
    /// No effect, and a definite answer that says so (status 422 unless given).
    Fail,
    /// Nothing yet: the scenario releases the call, and then it succeeds.
    Hold,
    /// Nothing yet: the scenario releases the call, and then it fails for good.
    HoldFail,
    /// The effect happens; the answer never comes.
    Swallow,
    /// No effect; the answer never comes.
    Stall,
    /// The effect happens; the connection is reset instead of an answer.
    Reset,
    /// The effect happens; the answer breaks off in the middle.
    Truncate,
    /// The effect happens; the answer is not what was asked for (HTML with status 200).
    Garbage,
    /// No effect; an HTTP status without a meaningful body.
    Status,
    /// The effect happens; status 500 all the same.
    EffectThenError,
    /// The effect happens after a delay, byte by byte.
    Slow,
    /// 202 at once; the effect happens, and a callback tells of it when the scenario delivers it.
    Accept,
    /// A further call is refused as a duplicate of an earlier one: the effect exists already.
    Duplicate,
    /// Any such call is a violation in itself; it is answered with 200 and its effect is counted.
    Forbid,
}

/// What the double says when the service asks about an outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ProbeReply {
    /// What is the case: succeeded where the effect happened, else not found.
    Truth,
    /// Succeeded.
    Succeeded,
    /// Failed, definitely.
    Failed,
    /// Still going on.
    Pending,
    /// Not found.
    NotFound,
    /// An error, which says nothing.
    Error,
}

/// What a step does. The target file says how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verb {
    /// Ask for a job.
    Submit,
    /// Look at a job.
    Read,
    /// Look a job up by its key.
    Lookup,
    /// Ask for a further attempt.
    Retry,
    /// Cancel a job.
    Cancel,
    /// Cancel one attempt from outside.
    CancelAttempt,
    /// Tell the outcome of an attempt, with evidence.
    Resolve,
    /// Deliver a provider's callback.
    Deliver,
    /// Wait until a call, an answer or a fault was seen.
    Await,
    /// Let held calls go.
    Release,
    /// Apply a fault.
    Fault,
    /// Lift a fault.
    Heal,
}

/// One step. Which fields mean something depends on [`Step::act`]; a field that the verb has no use for is an error.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Name, for other steps, witnesses and reports; `STEP.n` names one of several requests.
    #[serde(default)]
    pub id: Option<String>,
    /// The verb.
    #[serde(rename = "do")]
    pub act: Verb,
    /// What the request says.
    #[serde(default)]
    pub with: With,
    /// The step whose job is meant.
    #[serde(default)]
    pub job: Option<String>,
    /// Only in cells that match all pairs.
    #[serde(default)]
    pub when: BTreeMap<String, MatrixValue>,
    /// Starts only after each of these was seen: `CALL.arrived`, `CALL.answered`, `CALL.gone`, `STEP.answered`.
    #[serde(default)]
    pub after: Vec<String>,
    /// How many requests.
    #[serde(default)]
    pub times: Option<u32>,
    /// All of them at the same moment, through a gate.
    #[serde(default)]
    pub together: bool,
    /// Which gate; the strongest that the target allows by default.
    #[serde(default)]
    pub gate: Option<GateChoice>,
    /// Don't wait for the answers: the next step begins when the requests have left.
    #[serde(default)]
    pub open: bool,
    /// `read`: again and again until the job is in this state, or in any terminal one.
    #[serde(default)]
    pub until: Option<Until>,
    /// The most that the step may take.
    #[serde(default)]
    pub within: Option<Span>,
    /// `await`, `release`, `deliver`: one call of the double.
    #[serde(default)]
    pub call: Option<String>,
    /// `release`: several calls.
    #[serde(default)]
    pub calls: Vec<String>,
    /// `release`: `A B` one after the other's answer was taken, `A+B` together.
    #[serde(default)]
    pub order: Option<String>,
    /// `release`: behind the lock gate, so that the decisions meet in the database: how many must wait there.
    #[serde(default)]
    pub meet: Option<u32>,
    /// `fault`, `heal`: which.
    #[serde(default)]
    pub fault: Option<String>,
    /// Each answer must satisfy this.
    #[serde(default)]
    pub expect: Option<Check>,
    /// At least one answer must satisfy this.
    #[serde(default)]
    pub expect_some: Option<Check>,
    /// Exactly one answer must satisfy this.
    #[serde(default)]
    pub expect_one: Option<Check>,
}

/// What a request says. Names like `K` and `P` become values that are fresh in every round.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct With {
    /// Name of the idempotency key.
    #[serde(default)]
    pub key: Option<String>,
    /// The key's header sent as these very characters: empty, too long, in quotes. `{key}` in it is the value of
    /// [`With::key`].
    #[serde(default)]
    pub key_raw: Option<String>,
    /// Several key header lines, as they are.
    #[serde(default)]
    pub key_lines: Vec<String>,
    /// Name of the payload.
    #[serde(default)]
    pub payload: Option<String>,
    /// The payload's JSON as these very characters, put where the target file wants the payload; `{marker}` in it is
    /// the text by which the double recognises the payload.
    #[serde(default)]
    pub payload_text: Option<String>,
    /// The whole body as these very characters; `{payload}` in it is replaced by the payload's JSON.
    #[serde(default)]
    pub body_raw: Option<String>,
    /// `submit`: a query that is added to the path, as it is: `warehouse=1`.
    #[serde(default)]
    pub query: Option<String>,
    /// Who asks; the first `[[owner]]` of the target by default, `nobody` sends no credentials.
    #[serde(default)]
    pub owner: Option<String>,
    /// `race = true`: several attempts may be out.
    #[serde(default)]
    pub race: bool,
    /// `submit`: another way in, `batch` or `schedule`.
    #[serde(default)]
    pub through: Option<Way>,
    /// `submit` through `schedule`: how far in the future the job is to start.
    #[serde(default)]
    pub run_in: Option<Span>,
    /// `deliver`: how the callback is signed; properly by default.
    #[serde(default)]
    pub signature: Option<Signature>,
    /// Provider to use.
    #[serde(default)]
    pub provider: Option<String>,
    /// Attempt number, for `resolve` and `cancel-attempt`; 1 by default.
    #[serde(default)]
    pub attempt: Option<u32>,
    /// `resolve`: `succeeded`, `failed` or `not_executed`.
    #[serde(default)]
    pub outcome: Option<String>,
    /// `resolve`: where the knowledge comes from.
    #[serde(default)]
    pub evidence: Option<String>,
    /// `cancel`: the effect may have happened, and that is accepted.
    #[serde(default)]
    pub accept_unknown: bool,
    /// Version sent as a precondition: `current` (read just before; the default where the target wants one), `none`,
    /// or a step whose answer held it.
    #[serde(default)]
    pub version: Option<String>,
    /// Replica that gets the request, from 1; in turn by default.
    #[serde(default)]
    pub replica: Option<u32>,
    /// Parameters of a fault, for example `after = "30ms"`.
    #[serde(default)]
    pub fault: BTreeMap<String, String>,
}

/// A way in besides the plain submit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// As one of several jobs in one request.
    Batch,
    /// To be started later.
    Schedule,
}

/// How a callback is signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Signature {
    /// With the secret, now.
    Valid,
    /// Not at all.
    None,
    /// With another secret.
    Forged,
    /// With the secret, a day ago.
    Old,
}

/// Which gate makes requests arrive together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GateChoice {
    /// A lock in the target's database that all of them run into.
    Lock,
    /// HTTP alone: all but the last bytes sent, then the last bytes at once.
    Arrival,
}

/// When a `read` ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Until {
    /// Accepted, nothing running.
    Accepted,
    /// An attempt is out.
    Running,
    /// The outcome is unknown.
    Unknown,
    /// Succeeded.
    Succeeded,
    /// Failed for good.
    Failed,
    /// Cancelled.
    Cancelled,
    /// Succeeded, failed or cancelled.
    Terminal,
    /// Whatever its state: somebody's attention is asked for.
    Attention,
    /// It can't be read any more: 404 or 410.
    Gone,
}

/// What an answer must be. Everything given must hold.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// One of these HTTP statuses.
    #[serde(default)]
    pub status: Vec<u16>,
    /// The request was refused, in the target's words (`refused = [409]` in its file; any 4xx otherwise).
    #[serde(default)]
    pub refused: Option<bool>,
    /// The job's state, in the harness's words.
    #[serde(default)]
    pub state: Vec<String>,
    /// These fields equal those of the step named in [`Check::than`].
    #[serde(default)]
    pub same: Vec<String>,
    /// These fields differ from those of the step named in [`Check::than`].
    #[serde(default)]
    pub differ: Vec<String>,
    /// The step to compare with.
    #[serde(default, rename = "as")]
    pub than: Option<String>,
    /// Fields that the answer must not have.
    #[serde(default)]
    pub never: Vec<String>,
    /// Fields that the answer must have.
    #[serde(default)]
    pub has: Vec<String>,
    /// Fields (`result`, `winner`, `problem`, ...) and the text they must have. `result = "answer-B"` is the double's text.
    #[serde(default)]
    pub equals: BTreeMap<String, String>,
    /// Headers that must be there, by name; an empty text means any value.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// Words that the body must hold.
    #[serde(default)]
    pub says: Vec<String>,
    /// Whether the answer is marked as a replay.
    #[serde(default)]
    pub replayed: Option<bool>,
}

/// Bounds on a count.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bounds {
    /// Exactly this many.
    #[serde(default)]
    pub exactly: Option<u64>,
    /// At least this many.
    #[serde(default)]
    pub min: Option<u64>,
    /// At most this many.
    #[serde(default)]
    pub max: Option<u64>,
    /// What is counted by.
    #[serde(default)]
    pub per: Per,
}

/// What a count is taken over.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Per {
    /// Each (owner, key) that was submitted.
    #[default]
    Key,
    /// Each job.
    Job,
    /// The whole round.
    Round,
}

/// The closed catalogue of invariants. Those that hold whatever the target are judged without being named.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "a catalogue of independent promises, each asked for or not"
)]
pub struct Invariants {
    /// Distinct jobs.
    #[serde(default)]
    pub jobs: Option<Bounds>,
    /// Calls that the provider saw.
    #[serde(default)]
    pub calls: Option<Bounds>,
    /// Effects in the outside world. Replaces the bound of at most one per key that is judged otherwise.
    #[serde(default)]
    pub effects: Option<Bounds>,
    /// Distinct attempts that won a job.
    #[serde(default)]
    pub winners: Option<Bounds>,
    /// The payloads that may reach the provider.
    #[serde(default)]
    pub payloads: Option<Vec<String>>,
    /// The result is the answer that the winning attempt's call gave.
    #[serde(default)]
    pub result_of_winner: bool,
    /// The states that a job is seen in, in order: each a word of [`Until`], `?` after it where it may be missing.
    #[serde(default)]
    pub path: Vec<String>,
    /// The client sees the same in all cells that differ in this dimension only.
    #[serde(default)]
    pub alike: Option<Alike>,
    /// Decisions are linearizable: nobody sees "undecided" after somebody saw "decided", nor two decisions.
    #[serde(default)]
    pub decided_once: bool,
    /// A job that ends cancelled had no effect, unless somebody accepted that it may have had one.
    #[serde(default)]
    pub cancelled_had_no_effect: bool,
    /// Calls for one job carry one identity, and it is the job's.
    #[serde(default)]
    pub identity: bool,
    /// Calls for one job carry the trace of the request that made it, each with a span and an attempt of its own.
    #[serde(default)]
    pub trace: bool,
    /// The audit log tells of these, by the target's words: `result-discarded`.
    #[serde(default)]
    pub logged: Vec<String>,
    /// Steps whose acknowledged jobs may be gone later, because the scenario loses the database that held them. What was
    /// lost is a matter of `[witness] lost`.
    #[serde(default)]
    pub may_lose: Vec<String>,
    /// Late results that were kept for audit, by the double's text.
    #[serde(default)]
    pub kept: Vec<String>,
}

/// Cells that must look the same from outside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Alike {
    /// The matrix dimension that holds the hidden truth.
    pub across: String,
    /// Compare up to and with this step.
    pub until: String,
}

/// What must have been seen in at least one round. None missing, or the verdict is inconclusive.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Witnesses {
    /// Steps sent `together` whose requests really raced: all of them waited on the lock, or all were in flight at once.
    #[serde(default)]
    pub raced: Vec<String>,
    /// Requests that all were in flight at one moment.
    #[serde(default)]
    pub overlap: Vec<String>,
    /// Steps that got all their answers.
    #[serde(default)]
    pub answered: Vec<String>,
    /// Calls that were out, unanswered, at one moment.
    #[serde(default)]
    pub both_out: Vec<String>,
    /// Calls on which the service gave up before they were answered.
    #[serde(default)]
    pub timed_out: Vec<String>,
    /// Calls that were answered after the job had been decided.
    #[serde(default)]
    pub late: Vec<String>,
    /// Faults that really hit.
    #[serde(default)]
    pub hit: Vec<String>,
    /// Steps with acknowledged jobs that are gone.
    #[serde(default)]
    pub lost: Vec<String>,
    /// Effects that happened although the caller was not told.
    #[serde(default)]
    pub hidden_effect: Vec<String>,
}

impl Capability {
    /// All of them.
    pub const ALL: [Self; 22] = [
        Self::Read,
        Self::Attempts,
        Self::Cancel,
        Self::CancelAttempt,
        Self::Resolve,
        Self::Provider,
        Self::Fallback,
        Self::Callbacks,
        Self::Race,
        Self::Process,
        Self::Replicas,
        Self::Database,
        Self::RowLock,
        Self::Owners,
        Self::Audit,
        Self::Failover,
        Self::Trace,
        Self::Lookup,
        Self::Batch,
        Self::Schedule,
        Self::Reconciler,
        Self::JsonPayload,
    ];

    /// The capability as files spell it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Attempts => "attempts",
            Self::Cancel => "cancel",
            Self::CancelAttempt => "cancel-attempt",
            Self::Resolve => "resolve",
            Self::Provider => "provider",
            Self::Fallback => "fallback",
            Self::Callbacks => "callbacks",
            Self::Race => "race",
            Self::Process => "process",
            Self::Replicas => "replicas",
            Self::Database => "database",
            Self::RowLock => "row-lock",
            Self::Owners => "owners",
            Self::Audit => "audit",
            Self::Failover => "failover",
            Self::Trace => "trace",
            Self::Lookup => "lookup",
            Self::Batch => "batch",
            Self::Schedule => "schedule",
            Self::Reconciler => "reconciler",
            Self::JsonPayload => "json-payload",
        }
    }
}

impl Step {
    /// The step's name: its id, or its verb and place (from 1) in the file.
    #[must_use]
    pub fn name(&self, index: usize) -> String {
        self.id.clone().unwrap_or_else(|| format!("{}-at-{}", self.act.word(), index + 1))
    }
}

impl Verb {
    /// The verb as scenario files spell it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Submit => "submit",
            Self::Read => "read",
            Self::Lookup => "lookup",
            Self::Retry => "retry",
            Self::Cancel => "cancel",
            Self::CancelAttempt => "cancel-attempt",
            Self::Resolve => "resolve",
            Self::Deliver => "deliver",
            Self::Await => "await",
            Self::Release => "release",
            Self::Fault => "fault",
            Self::Heal => "heal",
        }
    }
}

impl Until {
    /// All states, in the order of a job's life.
    pub const ALL: [Self; 7] = [
        Self::Accepted,
        Self::Running,
        Self::Unknown,
        Self::Succeeded,
        Self::Failed,
        Self::Cancelled,
        Self::Terminal,
    ];

    /// The state as scenario files spell it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Running => "running",
            Self::Unknown => "unknown",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Terminal => "terminal",
            Self::Attention => "attention",
            Self::Gone => "gone",
        }
    }

    /// Whether an answer shows what was waited for.
    #[must_use]
    pub fn is_seen_in(self, answer: &crate::history::Answer) -> bool {
        match self {
            Self::Terminal => answer.is_terminal(),
            Self::Attention => answer.field("attention").is_some(),
            Self::Gone => matches!(answer.status, 404 | 410),
            state => answer.state.as_deref() == Some(state.word()),
        }
    }
}

impl Step {
    /// A step that does nothing but its verb.
    #[must_use]
    pub fn new(act: Verb) -> Self {
        Self {
            id: None,
            act,
            with: With::default(),
            job: None,
            when: BTreeMap::new(),
            after: Vec::new(),
            times: None,
            together: false,
            gate: None,
            open: false,
            until: None,
            within: None,
            call: None,
            calls: Vec::new(),
            order: None,
            meet: None,
            fault: None,
            expect: None,
            expect_some: None,
            expect_one: None,
        }
    }
}
