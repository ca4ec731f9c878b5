//! The target file: how to speak to the service under test. Scenarios never mention URLs.
//!
//! Texts may hold placeholders in braces. Of the environment: `${NAME}` and `${NAME:-default}`, replaced when the file
//! is read. Of a request: `{key}`, `{payload}`, `{payload.text}`, `{job}`, `{attempt}`, `{provider}`, `{outcome}`, `{evidence}`,
//! `{version}`, `{accept_unknown}`, `{callback}`, `{run_at}`, `{trace}`. Of the command: `{onejob}` (this program),
//! `{port}` (a free one for each process; in `base` too), `{database.url}`, `{provider.NAME.url}`, `{settings.NAME}`,
//! `{owner.NAME.token}`, `{failover.contract}`, `{failover.providers}`, `{failover.attestations}`, `{failover.trust}`,
//! `{defects}`.

use std::{collections::BTreeMap, path::PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Hidden, Promises};
use crate::{
    gate::{Protocol, Trust},
    scenario::{Capability, Span},
};

/// A target file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TargetFile {
    /// The service and its routes.
    pub target: Target,
    /// Who may ask. The first is the default; two are needed to show that owners never meet.
    #[serde(default)]
    pub owner: Vec<Owner>,
    /// Knobs that scenarios may set, with their defaults.
    #[serde(default)]
    pub settings: BTreeMap<String, String>,
    /// The provider double that the service calls.
    #[serde(default)]
    pub provider: Option<ProviderSection>,
    /// What lets the service move a job to another provider on its own.
    #[serde(default)]
    pub failover: Option<FailoverSection>,
    /// What the service promises about keys, where `profile = "custom"`.
    #[serde(default)]
    pub promises: Option<Promises>,
    /// Secret values that were put into the file when it was read. Never written.
    #[serde(skip)]
    #[schemars(skip)]
    pub hidden: Hidden,
}

/// The service.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// Name, for reports.
    pub name: String,
    /// The declared choices: `job`, `ietf`, `stripe`, ...; `onejob target --profile NAME` shows each. `custom` takes
    /// those in `[promises]`.
    #[serde(default = "job")]
    pub profile: String,
    /// Base URLs of the running replicas. Empty where `[target.command]` starts the service and prints its address.
    #[serde(default)]
    pub base: Vec<String>,
    /// How HTTP is spoken.
    #[serde(default)]
    pub http: Http,
    /// A file of certificates (PEM) that count as authorities for `https` addresses, relative to the target file; the
    /// system's own without it.
    #[serde(default)]
    pub ca: Option<String>,
    /// When the service counts as ready.
    #[serde(default)]
    pub ready: Option<Ready>,
    /// Headers of every request.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// Names of environment variables whose values must never be seen in an output.
    #[serde(default)]
    pub secrets: Vec<String>,
    /// Capabilities that the sections below suggest but the service lacks, or that it has beyond them.
    #[serde(default)]
    pub lacks: Vec<Capability>,
    /// Capabilities that no section shows.
    #[serde(default)]
    pub has: Vec<Capability>,
    /// The most that one answer may take.
    #[serde(default = "answer_within")]
    pub answer_within: Span,
    /// How to start it, where we do.
    #[serde(default)]
    pub command: Option<Command>,
    /// Its database, where we may have it.
    #[serde(default)]
    pub database: Option<Database>,
    /// How effects are counted where no provider double sees them.
    #[serde(default)]
    pub effects: Option<Effects>,
    /// Asks for a job.
    pub submit: Operation,
    /// Reads a job.
    #[serde(default)]
    pub read: Option<Operation>,
    /// Finds a job by its key.
    #[serde(default)]
    pub lookup: Option<Operation>,
    /// Asks for a further attempt.
    #[serde(default)]
    pub retry: Option<Operation>,
    /// Cancels a job.
    #[serde(default)]
    pub cancel: Option<Operation>,
    /// Cancels one attempt.
    #[serde(default, rename = "cancel-attempt")]
    pub cancel_attempt: Option<Operation>,
    /// Tells an attempt's outcome.
    #[serde(default)]
    pub resolve: Option<Operation>,
    /// Takes a provider's callback.
    #[serde(default)]
    pub callback: Option<Operation>,
    /// Asks for a job whose attempts may race: what differs from `submit`.
    #[serde(default)]
    pub race: Option<Operation>,
    /// Asks for a job as one of several in one request: what differs from `submit`.
    #[serde(default)]
    pub batch: Option<Operation>,
    /// Asks for a job that starts later, at `{run_at}`: what differs from `submit`.
    #[serde(default)]
    pub schedule: Option<Operation>,
    /// Reads the log of a job.
    #[serde(default)]
    pub audit: Option<ListOperation>,
    /// Reads the results that came and were not used.
    #[serde(default)]
    pub reports: Option<ListOperation>,
    /// The service's words for states, by the harness's words.
    pub states: States,
}

fn job() -> String {
    "job".to_owned()
}

const fn answer_within() -> Span {
    Span(std::time::Duration::from_secs(10))
}

/// Which HTTP to speak.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Http {
    /// HTTP/1.1, the gate that a probe finds tighter.
    #[default]
    Auto,
    /// HTTP/1.1.
    H1,
    /// HTTP/2 without an upgrade.
    H2,
}

/// When the service is ready.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ready {
    /// Path that answers 2xx once it is.
    pub get: String,
    /// The most that may take.
    pub within: Span,
}

/// A principal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Owner {
    /// Name in scenarios: `alice`.
    pub name: String,
    /// Token, for `{owner.NAME.token}` in the command. Secret.
    #[serde(default)]
    pub token: Option<String>,
    /// Headers that authenticate; `{token}` in them is the token. Secret.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
}

/// How to start the service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Command {
    /// Program and arguments; no shell. An argument `{defects}` becomes one `--defect NAME` for each defect.
    pub start: Vec<String>,
    /// Environment on top of ours.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Working folder, relative to the target file.
    #[serde(default)]
    pub folder: Option<String>,
    /// A regular expression on a line of its output whose first group is the base URL.
    #[serde(default)]
    pub address: Option<String>,
    /// Prepares an empty database, run once; no shell.
    #[serde(default)]
    pub migrate: Vec<String>,
    /// Stops what `start` started, where SIGTERM to its processes doesn't: `docker compose down`. It follows a kill too, to
    /// take away what is left. No shell.
    #[serde(default)]
    pub stop: Vec<String>,
    /// Kills it at once, where SIGKILL to its processes doesn't: `docker compose kill`. No shell.
    #[serde(default)]
    pub kill: Vec<String>,
    /// Whether several may run over one database.
    #[serde(default)]
    pub replicas: bool,
}

/// The service's database.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Database {
    /// Where it is, for a service that we don't start; ours to give otherwise.
    #[serde(default)]
    pub url: Option<String>,
    /// Table that every creation and every decision writes to: the lock gate locks it.
    pub jobs_table: String,
    /// Counts jobs of an owner's key: `$1` is the owner's name, `$2` the key. One integer.
    #[serde(default)]
    pub count_jobs: Option<String>,
    /// Locks the row of a job, as a transaction does that somebody forgot: `$1` is the job's id, as text. One row.
    #[serde(default)]
    pub lock_job: Option<String>,
}

/// Counts the effects of an owner's key, by a query or by a request. A job that tells of its effects itself needs neither:
/// `effects` in the `reads` of `read` says where.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Effects {
    /// A query for the target's database: `$1` is the owner's name, `$2` the key. One integer.
    pub sql: Option<String>,
    /// Method and path of a request that is sent as the owner; `{key}` in it is the key.
    pub request: Option<String>,
    /// JSON Pointer of a number, or of a list whose entries are counted, in the answer to `request`.
    pub count: String,
}

/// One request and where its answer's fields are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Operation {
    /// Method and path: `POST /v1/jobs`. Query strings are allowed.
    pub request: String,
    /// Headers. One whose placeholder has no value (no key given) is left out.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// Body. A text that is exactly one placeholder becomes that value's JSON; members whose placeholder has no value
    /// are left out.
    #[serde(default)]
    pub json: Option<serde_json::Value>,
    /// Where fields are: a JSON Pointer (`/id`), `header:NAME`, or `status`. Known fields: `job`, `state`, `result`,
    /// `version`, `winner`, `attempt`, `problem`, `cancel`, `attention`, `replayed`.
    #[serde(default)]
    pub reads: BTreeMap<String, String>,
    /// Statuses that mean "refused"; any 4xx where empty.
    #[serde(default)]
    pub refused: Vec<u16>,
}

/// A request that answers with a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListOperation {
    /// Method and path.
    pub request: String,
    /// JSON Pointer of the list in the answer; empty where the answer is the list.
    #[serde(default)]
    pub list: String,
    /// Fields of each entry by JSON Pointer: `what`, `at` (RFC 3339), `attempt`, `detail`, `result`.
    pub reads: BTreeMap<String, String>,
}

/// The service's own words, by the harness's words.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct States {
    /// Accepted, nothing running.
    #[serde(default)]
    pub accepted: Vec<String>,
    /// An attempt is out.
    #[serde(default)]
    pub running: Vec<String>,
    /// The outcome is unknown.
    #[serde(default)]
    pub unknown: Vec<String>,
    /// Succeeded.
    #[serde(default)]
    pub succeeded: Vec<String>,
    /// Failed for good.
    #[serde(default)]
    pub failed: Vec<String>,
    /// Cancelled.
    #[serde(default)]
    pub cancelled: Vec<String>,
}

/// The double that stands in for the providers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProviderSection {
    /// Where it listens. Port 0 takes a free one, which the command gets as `{provider.NAME.url}`.
    #[serde(default = "any_port")]
    pub listen: String,
    /// The wire format: `plain`, or a dialect.
    #[serde(default = "plain")]
    pub speaks: String,
    /// Providers by name, in the order of the chain.
    #[serde(default = "primary")]
    pub names: Vec<String>,
    /// Where a call carries the identity that the service passes on: `header:idempotency-key` or a JSON Pointer.
    #[serde(default)]
    pub identity: Option<String>,
    /// Signs callbacks, in the form of Standard Webhooks. Secret.
    #[serde(default)]
    pub callback_secret: Option<String>,
    /// Where a call carries the attempt's number.
    #[serde(default)]
    pub attempt: Option<String>,
}

/// What lets the service move a job to another provider on its own. In every cell the harness writes a contract, a
/// providers file, the public half of a throw-away key and an empty folder of attestations; the command gets their paths
/// as `{failover.contract}`, `{failover.providers}`, `{failover.trust}` and `{failover.attestations}`. Scenarios put
/// attestations there and take them away.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FailoverSection {
    /// The name that the contract gets.
    #[serde(default = "contract")]
    pub contract: String,
}

fn contract() -> String {
    "onejob-check".to_owned()
}

fn any_port() -> String {
    "127.0.0.1:0".to_owned()
}

fn plain() -> String {
    "plain".to_owned()
}

fn primary() -> Vec<String> {
    vec!["primary".to_owned()]
}

impl Target {
    /// Whom to trust where addresses begin with `https`, and what is spoken there.
    #[must_use]
    pub fn trust(&self) -> Trust {
        let protocol = if self.http == Http::H2 { Protocol::H2 } else { Protocol::H1 };
        Trust { ca: self.ca.as_ref().map(PathBuf::from), protocol }
    }
}

impl Operation {
    /// A plain request without headers or body.
    #[must_use]
    pub fn get(request: &str) -> Self {
        Self {
            request: request.to_owned(),
            headers: BTreeMap::new(),
            json: None,
            reads: BTreeMap::new(),
            refused: Vec::new(),
        }
    }
}

impl States {
    /// The service's words, by the harness's word for what they mean.
    #[must_use]
    pub fn by_meaning(&self) -> [(&'static str, &[String]); 6] {
        [
            ("accepted", &self.accepted),
            ("running", &self.running),
            ("unknown", &self.unknown),
            ("succeeded", &self.succeeded),
            ("failed", &self.failed),
            ("cancelled", &self.cancelled),
        ]
    }
}
