//! What happened, in order. The engine's only output: laws judge it, reports draw it, the store keeps it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Version of the serialised form; goes up whenever a reader would have to change.
pub const HISTORY_VERSION: u32 = 1;

/// Something that happened in a round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Event {
    /// Position in the history, from 0, without gaps.
    pub seq: u64,
    /// Microseconds since the cell began, by a monotonic clock; never goes back along `seq`.
    pub at_us: u64,
    /// The round, from 1; 0 for what belongs to the whole cell.
    pub round: u32,
    /// What.
    #[serde(flatten)]
    pub kind: Kind,
}

/// Number of a request within a cell.
pub type RequestId = u64;
/// Number of a provider call within a cell.
pub type CallId = u64;

/// The kinds of events.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Kind {
    /// The cell began. `wall` ties the monotonic clock to the world: microseconds since the Unix epoch at `at_us`.
    CellStarted {
        /// Id of the scenario.
        scenario: String,
        /// The point of the matrix.
        cell: BTreeMap<String, String>,
        /// Microseconds since the Unix epoch.
        wall_us: u64,
    },
    /// A round began with these fresh values.
    RoundStarted {
        /// Names of keys to the values sent.
        keys: BTreeMap<String, String>,
        /// Names of payloads to the markers that they carry.
        payloads: BTreeMap<String, String>,
    },
    /// A sweep's rehearsal is over: what was found at which the service can be killed.
    Rehearsed {
        /// Points at which the service changed its database.
        found: u32,
        /// Those of them that are this cell's, each the business of a round.
        share: u32,
    },
    /// A request begins to be sent. The service may have seen it from here on.
    Sent {
        /// The request.
        request: RequestId,
        /// `STEP`, or `STEP.n` where a step sends several.
        step: String,
        /// The verb.
        verb: String,
        /// Who asks.
        owner: String,
        /// Name of the key, where the request carries one.
        key: Option<String>,
        /// Name of the payload, where the request carries one.
        payload: Option<String>,
        /// The job that it is about, where one is known.
        job: Option<String>,
        /// Method and path.
        line: String,
        /// Headers by lower-case name, redacted.
        headers: BTreeMap<String, String>,
        /// Body, where there is one.
        body: Option<String>,
        /// Which replica got it, from 1; 0 where a load balancer chose.
        replica: u32,
    },
    /// A request was answered in full.
    Answered {
        /// The request.
        request: RequestId,
        /// What the answer said.
        answer: Answer,
    },
    /// A request was not answered.
    Unanswered {
        /// The request.
        request: RequestId,
        /// What happened instead: `timeout`, `refused`, `reset`, `closed`, `cut`.
        how: Lost,
        /// Detail for people.
        detail: String,
    },
    /// Requests are ready to be let go together.
    GateArmed {
        /// The step.
        step: String,
        /// `lock`, `arrival-h1`, `arrival-h2`, `provider`.
        gate: String,
        /// How many are to come.
        expected: u32,
    },
    /// The gate opened.
    GateOpened {
        /// The step.
        step: String,
        /// Which gate.
        gate: String,
        /// How many waited behind it at that moment: on the lock, or all but their last byte sent.
        waiting: u32,
        /// How many were expected.
        expected: u32,
        /// Requests that were answered before the gate opened: each proves that the gate was useless for it.
        early: u32,
        /// Microseconds between the first and the last release.
        spread_us: u64,
    },
    /// The provider was called.
    Called {
        /// The call.
        call: CallId,
        /// Name from the script that took it: `first`, `A`, `rest.2`.
        name: String,
        /// What the script does.
        reply: String,
        /// Name of the provider.
        provider: String,
        /// The identity that the service passed on, where the target says where it is.
        identity: Option<String>,
        /// The attempt's number, likewise.
        attempt: Option<String>,
        /// Name of the payload whose marker it carries.
        payload: Option<String>,
        /// W3C trace context that it carries.
        traceparent: Option<String>,
    },
    /// The effect happened in the outside world.
    Effect {
        /// The call that caused it.
        call: CallId,
    },
    /// The scenario let a held call go.
    Released {
        /// The call.
        call: CallId,
    },
    /// The double's answer was taken by the service in full.
    Replied {
        /// The call.
        call: CallId,
        /// HTTP status.
        status: u16,
        /// The answer's text, where the call succeeded.
        text: Option<String>,
    },
    /// A call ended without an answer that the service could read.
    CallEnded {
        /// The call.
        call: CallId,
        /// How.
        how: CallEnd,
    },
    /// The service asked the double about an outcome.
    Probed {
        /// The identity it asked about.
        identity: String,
        /// What it was told.
        answer: String,
    },
    /// A fault was applied; it is in force from here on.
    FaultApplied {
        /// Name from the step.
        fault: String,
        /// Detail for people.
        detail: String,
    },
    /// A fault really hit something.
    FaultHit {
        /// Name from the step.
        fault: String,
        /// Detail for people.
        detail: String,
    },
    /// A fault is over.
    FaultHealed {
        /// Name from the step.
        fault: String,
    },
    /// An entry of the service's own log of a job, read at the end of the round.
    Logged {
        /// The job.
        job: String,
        /// The target's word for it.
        what: String,
        /// The attempt that it is about.
        attempt: Option<String>,
        /// Detail as text.
        detail: Option<String>,
        /// When the service says that it happened, on this history's clock.
        service_us: Option<u64>,
    },
    /// A result that came and was not used, kept by the service.
    Kept {
        /// The job.
        job: String,
        /// The attempt that it came from.
        attempt: Option<String>,
        /// The result's text.
        result: Option<String>,
    },
    /// How many jobs the database has for a key.
    Counted {
        /// Name of the owner.
        owner: String,
        /// Name of the key.
        key: String,
        /// Rows.
        jobs: u64,
    },
    /// How many effects the target itself counts for a key.
    EffectsCounted {
        /// Name of the owner.
        owner: String,
        /// Name of the key.
        key: String,
        /// Effects.
        effects: u64,
    },
    /// A step could not be carried out because what it waited for did not come: the situation was not produced.
    Missed {
        /// The step.
        step: String,
        /// What did not come.
        what: String,
    },
    /// The round is over.
    RoundEnded,
}

/// What an answer said, in the harness's words.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// HTTP status.
    pub status: u16,
    /// Whether the target file counts it as refused.
    pub refused: bool,
    /// The job's id.
    pub job: Option<String>,
    /// The job's state in the harness's words; the target's own word where the file doesn't know it.
    pub state: Option<String>,
    /// The result's text.
    pub result: Option<String>,
    /// The version.
    pub version: Option<String>,
    /// The attempt that won.
    pub winner: Option<String>,
    /// Whether it is marked as a replay.
    pub replayed: bool,
    /// Further fields that the target file reads.
    pub fields: BTreeMap<String, String>,
    /// Headers by lower-case name.
    pub headers: BTreeMap<String, String>,
    /// Body, redacted, cut after 4 KiB.
    pub body: String,
}

/// The further field of an answer that holds a value which the target file calls secret; the value itself is hidden.
pub const LEAKED: &str = "leaked secret";

/// How a request was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Lost {
    /// No answer in time.
    Timeout,
    /// No connection.
    Refused,
    /// The connection was reset.
    Reset,
    /// The connection was closed before or within the answer.
    Closed,
    /// Our own fault cut it.
    Cut,
    /// The answer was no HTTP.
    Unreadable,
}

/// How a call ended that was not answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CallEnd {
    /// The service hung up first.
    CallerGone,
    /// We reset the connection.
    Reset,
    /// We broke off within the answer.
    Truncated,
    /// The cell ended while the call was out.
    Abandoned,
}

impl Answer {
    /// A field by the name that scenarios use.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<String> {
        match name {
            "status" => Some(self.status.to_string()),
            "job" => self.job.clone(),
            "state" => self.state.clone(),
            "result" => self.result.clone(),
            "version" => self.version.clone(),
            "winner" => self.winner.clone(),
            other => self.fields.get(other).cloned(),
        }
    }

    /// Whether the job is told to be in a state that never changes again.
    #[must_use]
    pub fn is_terminal(&self) -> bool {
        matches!(self.state.as_deref(), Some("succeeded" | "failed" | "cancelled"))
    }
}
