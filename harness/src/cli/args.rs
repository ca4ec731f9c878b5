//! Every flag, once. Parsing, help, completions and the man page come from here.

use std::{net::SocketAddr, path::PathBuf};

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use onejob_reports::term::ColorChoice;

use crate::scenario::Span;

/// Proves that a job API never turns one user intent into two jobs.
#[derive(Debug, Parser)]
#[command(name = "onejob", version, propagate_version = true, max_term_width = 100)]
#[command(
    after_help = "Exit codes: 0 all passed · 1 the target broke a promise · 2 usage · 3 inconclusive · 4 nothing \
    selected · 5 flaky · 10 target unreachable or misfit · 11 double, fault or database failed · 12 baseline broken · \
    20 a defect survived · 21 no failover · 22 regression · 23 benchmark unsound · 70 a bug in onejob · 130 interrupted"
)]
pub struct Cli {
    /// Flags that mean the same everywhere.
    #[command(flatten)]
    pub global: Global,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// Flags that mean the same everywhere.
#[derive(Debug, Clone, Args)]
pub struct Global {
    /// When to use colours
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    pub color: Color,
    /// Say only what went wrong
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Say more: every promise, witness and timeline
    #[arg(short, long, global = true)]
    pub verbose: bool,
}

/// When to use colours.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Color {
    /// On a terminal, unless `NO_COLOR` is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl From<Color> for ColorChoice {
    fn from(color: Color) -> Self {
        match color {
            Color::Auto => Self::Auto,
            Color::Always => Self::Always,
            Color::Never => Self::Never,
        }
    }
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run scenarios against a target
    Run(RunArgs),
    /// Show that every scenario can fail: run the suite against each defect of the reference service
    Prove(ProveArgs),
    /// Look for what no scenario thought of: plans made by chance, shrunk to a scenario file when a promise breaks
    Explore(ExploreArgs),
    /// List the scenarios
    List(ListArgs),
    /// Run the reference job service
    Serve(Box<ServeArgs>),
    /// Write a target file for a service, from flags, questions or an `OpenAPI` document
    Init(Box<InitArgs>),
    /// Walk a target file against the live service: what works, what is missing, and what that costs
    Doctor(DoctorArgs),
    /// Print a target file to start from
    Target(TargetArgs),
    /// Measure how well this machine can make requests arrive together
    Calibrate(CalibrateArgs),
    /// Measure what contention costs, beside the limit of the database
    Bench(Box<super::bench::BenchArgs>),
    /// Prove that a fallback model may stand in for the primary
    Contract(ContractArgs),
    /// Render, merge or compare stored reports
    Report(ReportArgs),
    /// Explain an error code
    Explain(ExplainArgs),
    /// Print the JSON Schema of a kind of file
    Schema(SchemaArgs),
    /// Print shell completions
    Completions(CompletionsArgs),
    /// Print the man page
    Man(ManArgs),
    /// Kill what a run leaves behind (internal: a run starts it)
    #[command(hide = true)]
    Leash,
}

/// Where a database comes from.
#[derive(Debug, Clone, Args)]
pub struct PostgresArgs {
    /// Where Postgres comes from: the first that works, or exactly one
    #[arg(long, value_enum, default_value_t = PostgresSource::Auto, value_name = "SOURCE")]
    pub postgres: PostgresSource,
    /// A Postgres server to use; databases are created on it and dropped again
    #[arg(long, env = "ONEJOB_DATABASE_URL", hide_env_values = true, value_name = "URL")]
    pub database_url: Option<String>,
}

/// Where Postgres comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PostgresSource {
    /// `--database-url`, else Docker, else programs on this machine
    Auto,
    /// The server of `--database-url`
    Url,
    /// A container
    Docker,
    /// A private server from programs on this machine
    Local,
}

impl PostgresSource {
    /// The name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Url => "url",
            Self::Docker => "docker",
            Self::Local => "local",
        }
    }
}

/// `onejob run`
#[derive(Debug, Clone, Args)]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub struct RunArgs {
    /// Parts of scenario names, or of `NAME dimension=value`; any filter suffices
    #[arg(value_name = "FILTER")]
    pub filter: Vec<String>,
    /// Only scenarios with this tag (repeatable)
    #[arg(long, value_name = "TAG")]
    pub tag: Vec<String>,
    /// No scenarios with this tag or name (repeatable)
    #[arg(long, value_name = "TAG")]
    pub exclude: Vec<String>,
    /// The target file; the reference service without one
    #[arg(long, short, value_name = "FILE")]
    pub target: Option<PathBuf>,
    /// A scenario file or folder to run instead of the built-in suite (repeatable)
    #[arg(long, value_name = "PATH")]
    pub scenarios: Vec<PathBuf>,
    /// Switch a defect of the reference service on (repeatable)
    #[arg(long, value_name = "NAME")]
    pub defect: Vec<String>,
    /// How often each cell runs; the worst verdict stands
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000), value_name = "N")]
    pub repeat: u32,
    /// What a cell counts as that passed in some repeats and was inconclusive or an error in others. A promise that
    /// broke once is broken
    #[arg(long, value_enum, value_name = "HOW")]
    pub flaky: Option<Flaky>,
    /// Only the I-th of N parts of the selection
    #[arg(long, value_name = "I/N", value_parser = shard)]
    pub shard: Option<(u32, u32)>,
    /// Only what did not pass in the last run
    #[arg(long)]
    pub last_failed: bool,
    /// Cells at a time [default: twice the processors]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=256), value_name = "N")]
    pub jobs: Option<u16>,
    /// Play the cells in an order drawn from this seed, the same for the same seed [default: the suite's own order]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Also write a report, for example `junit=report.xml` (repeatable)
    #[arg(long, value_name = "FORMAT=PATH")]
    pub report: Vec<String>,
    /// What standard output holds
    #[arg(long, default_value = "term", value_name = "FORMAT")]
    pub format: String,
    /// Where histories and the last report are kept
    #[arg(long, default_value = ".onejob", value_name = "DIR")]
    pub store: PathBuf,
    /// Where the database comes from.
    #[command(flatten)]
    pub postgres: PostgresArgs,
}

/// What a flaky cell counts as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Flaky {
    /// Exit code 5
    Fail,
    /// A warning
    Warn,
}

/// A duration, or nothing for `off`.
#[derive(Debug, Clone, Copy)]
pub struct MaybeSpan(pub Option<std::time::Duration>);

fn span_or_off(text: &str) -> Result<MaybeSpan, String> {
    if text == "off" {
        return Ok(MaybeSpan(None));
    }
    let span: Span = text.parse().map_err(|error: crate::scenario::NotADuration| error.to_string())?;
    Ok(MaybeSpan(Some(span.0)))
}

fn shard(text: &str) -> Result<(u32, u32), String> {
    let parts = text.split_once('/').and_then(|(index, of)| Some((index.parse().ok()?, of.parse().ok()?)));
    match parts {
        Some((index, of)) if 1 <= index && index <= of => Ok((index, of)),
        _ => Err("write I/N with 1 <= I <= N, for example 2/5".to_owned()),
    }
}

/// `onejob prove`
#[derive(Debug, Clone, Args)]
pub struct ProveArgs {
    /// Parts of scenario names
    #[arg(value_name = "FILTER")]
    pub filter: Vec<String>,
    /// Only scenarios with this tag (repeatable)
    #[arg(long, value_name = "TAG")]
    pub tag: Vec<String>,
    /// Only this defect (repeatable)
    #[arg(long, value_name = "NAME", conflicts_with = "target")]
    pub defect: Vec<String>,
    /// A target file: would the suite notice if your own API broke a promise?
    ///
    /// Defects can be switched on in the reference service only. Between the harness and any other target a proxy makes
    /// one kind of answer wrong at a time (another job id, an older state, a 200 where a conflict was), and the scenarios
    /// have to notice. That they do says that the suite watches these answers of your API. It does not say that your API
    /// keeps its promises: that is what `onejob run --target` shows. Nor that a real defect would be seen as surely: a lie
    /// is told every time, a race is lost now and then.
    #[arg(long, value_name = "FILE")]
    pub target: Option<PathBuf>,
    /// With --target, only this lie (repeatable)
    #[arg(long, value_name = "NAME", requires = "target")]
    pub negate: Vec<String>,
    /// Try every pair, and not only until each defect is dead and each scenario has killed
    #[arg(long)]
    pub all: bool,
    /// A scenario file or folder instead of the built-in suite (repeatable)
    #[arg(long, value_name = "PATH")]
    pub scenarios: Vec<PathBuf>,
    /// With `--all`: also pairs of which the honest service has shown that they can't make a difference
    #[arg(long, requires = "all")]
    pub unreached: bool,
    /// Pairs at a time [default: five times the processors; most of a play is waiting]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=256), value_name = "N")]
    pub jobs: Option<u16>,
    /// Text or JSON
    #[arg(long, value_enum, default_value_t = ListFormat::Text, value_name = "FORMAT")]
    pub format: ListFormat,
    /// Also write the kill matrix, `html=PATH`, `markdown=PATH` or `json=PATH` (repeatable)
    #[arg(long, value_name = "FORMAT=PATH")]
    pub report: Vec<String>,
    /// Where the database comes from.
    #[command(flatten)]
    pub postgres: PostgresArgs,
}

/// `onejob explore`
#[derive(Debug, Clone, Args)]
pub struct ExploreArgs {
    /// Seed of all plans: the same seed gives the same plans [default: a random one, which is printed]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// How long to look; plans that have begun are played to their end [default: 60s, or no limit with --plans]
    #[arg(long, value_name = "DURATION")]
    pub budget: Option<Span>,
    /// The most plans to play
    #[arg(long, value_name = "N")]
    pub plans: Option<u64>,
    /// The target file; the reference service without one
    #[arg(long, short, value_name = "FILE")]
    pub target: Option<PathBuf>,
    /// Switch a defect of the reference service on (repeatable)
    #[arg(long, value_name = "NAME")]
    pub defect: Vec<String>,
    /// Plans at a time [default: three times the processors]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=256), value_name = "N")]
    pub jobs: Option<u16>,
    /// Where the scenario file goes; never over one that is there [default: `explored` in the store]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Where what a run leaves is kept
    #[arg(long, default_value = ".onejob", value_name = "DIR")]
    pub store: PathBuf,
    /// Text or JSON
    #[arg(long, value_enum, default_value_t = ListFormat::Text, value_name = "FORMAT")]
    pub format: ListFormat,
    /// Also write a report, `html=PATH`, `markdown=PATH` or `json=PATH` (repeatable)
    #[arg(long, value_name = "FORMAT=PATH")]
    pub report: Vec<String>,
    /// Where the database comes from.
    #[command(flatten)]
    pub postgres: PostgresArgs,
}

/// `onejob list`
#[derive(Debug, Clone, Args)]
pub struct ListArgs {
    /// Parts of scenario names
    #[arg(value_name = "FILTER")]
    pub filter: Vec<String>,
    /// Only scenarios with this tag (repeatable)
    #[arg(long, value_name = "TAG")]
    pub tag: Vec<String>,
    /// A scenario file or folder to list instead of the built-in suite (repeatable)
    #[arg(long, value_name = "PATH")]
    pub scenarios: Vec<PathBuf>,
    /// Text or JSON
    #[arg(long, value_enum, default_value_t = ListFormat::Text, value_name = "FORMAT")]
    pub format: ListFormat,
}

/// How a list is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ListFormat {
    /// For people
    Text,
    /// For programs
    Json,
}

/// `onejob serve`
#[derive(Debug, Clone, Args)]
pub struct ServeArgs {
    /// The service's database
    #[arg(long, env = "ONEJOB_DATABASE_URL", hide_env_values = true, value_name = "URL")]
    pub database_url: String,
    /// Where to listen; port 0 takes a free one, which is printed
    #[arg(long, default_value = "127.0.0.1:8080", value_name = "ADDRESS")]
    pub listen: SocketAddr,
    /// Which part of the service this process is
    #[arg(long, value_enum, default_value_t = ServeRole::All, value_name = "ROLE")]
    pub role: ServeRole,
    /// An owner's bearer token, `OWNER=SECRET`; may resolve and cancel attempts too (repeatable)
    #[arg(
        long,
        env = "ONEJOB_TOKENS",
        hide_env_values = true,
        value_delimiter = ' ',
        value_name = "OWNER=SECRET"
    )]
    pub token: Vec<String>,
    /// A provider, `NAME=URL`, in the order of the chain (repeatable)
    #[arg(long, value_name = "NAME=URL")]
    pub provider: Vec<String>,
    /// The contract of jobs of a kind, `KIND=FILE` (repeatable): how a model is asked, what its answer must be, and when
    /// a job may move to another provider
    #[arg(long, value_name = "KIND=FILE", requires = "contract_providers")]
    pub contract: Vec<String>,
    /// The providers file that the contracts were checked with; one that speaks another dialect than `plain` is asked in it
    #[arg(long, value_name = "FILE", requires = "contract")]
    pub contract_providers: Option<PathBuf>,
    /// A folder with dialects of your own
    #[arg(long, value_name = "DIR", requires = "contract")]
    pub dialects: Option<PathBuf>,
    /// The folder of attestations; looked at before every move, and no job moves without
    #[arg(long, value_name = "DIR", requires_all = ["contract", "trust"])]
    pub attestations: Option<PathBuf>,
    /// Public keys (PEM) whose signatures on attestations count
    #[arg(long, value_name = "FILE", requires = "attestations")]
    pub trust: Option<PathBuf>,
    /// When an attempt that is out counts as unknown
    #[arg(long, default_value = "2s", value_name = "DURATION")]
    pub attempt_timeout: Span,
    /// How long a late answer is still listened for
    #[arg(long, default_value = "60s", value_name = "DURATION")]
    pub late_answers: Span,
    /// How long a worker's claim holds without a heartbeat
    #[arg(long, default_value = "5s", value_name = "DURATION")]
    pub lease: Span,
    /// How long a request waits for a lock
    #[arg(long, default_value = "1s", value_name = "DURATION")]
    pub lock_timeout: Span,
    /// How often workers look for work that no notification told them of
    #[arg(long, default_value = "1s", value_name = "DURATION")]
    pub poll_interval: Span,
    /// The most attempts that are made on their own after definite failures
    #[arg(long, default_value_t = 3, value_name = "N")]
    pub max_attempts: u32,
    /// The pause before the second attempt; it doubles
    #[arg(long, default_value = "100ms", value_name = "DURATION")]
    pub retry_pause: Span,
    /// Requests that are worked on at once; one more is answered 503
    #[arg(long, default_value_t = 1024, value_name = "N")]
    pub max_in_flight: usize,
    /// How long decided jobs are kept; `off` keeps them for ever
    #[arg(long, default_value = "off", value_parser = span_or_off, value_name = "DURATION")]
    pub retention: MaybeSpan,
    /// How long an outcome may be unknown before somebody's attention is asked for
    #[arg(long, default_value = "1h", value_name = "DURATION")]
    pub unknown_deadline: Span,
    /// The pause before an unknown outcome is probed; it doubles
    #[arg(long, default_value = "1s", value_name = "DURATION")]
    pub probe_pause: Span,
    /// How long after a call a provider may still show its first trace; `off` where it can't be asked
    #[arg(long, default_value = "off", value_parser = span_or_off, value_name = "DURATION")]
    pub max_latency: MaybeSpan,
    /// The secret that signs the providers' callbacks; without it they are refused
    #[arg(long, env = "ONEJOB_CALLBACK_SECRET", hide_env_values = true, value_name = "SECRET")]
    pub callback_secret: Option<String>,
    /// How long to drain after SIGTERM
    #[arg(long, default_value = "10s", value_name = "DURATION")]
    pub drain: Span,
    /// Answers of the IETF draft (422) where it differs
    #[arg(long, value_enum, default_value_t = ServeProfile::Job, value_name = "PROFILE")]
    pub profile: ServeProfile,
    /// A pooler in transaction mode is in between
    #[arg(
        long,
        num_args = 0..=1,
        require_equals = true,
        default_value = "false",
        default_missing_value = "true",
        action = clap::ArgAction::Set,
        value_name = "BOOL"
    )]
    pub pooled: bool,
    /// Break a promise on purpose (repeatable)
    #[arg(long, value_name = "NAME")]
    pub defect: Vec<String>,
    /// Note in this file which defects could have made a difference to what came (internal: `onejob prove` asks for it)
    #[arg(long, env = "ONEJOB_REACH", hide = true, value_name = "FILE")]
    pub reach: Option<PathBuf>,
    /// Only bring the database's schema up to date
    #[arg(long)]
    pub migrate_only: bool,
}

/// Which part of the service a process is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ServeRole {
    /// Takes requests
    Api,
    /// Carries jobs out
    Worker,
    /// Both
    All,
}

/// Which choices the service made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ServeProfile {
    /// 409 for a known key with another payload
    Job,
    /// 422, as the IETF draft suggests
    Ietf,
}

/// `onejob init`
#[derive(Debug, Clone, Args)]
pub struct InitArgs {
    /// The target file to write
    #[arg(default_value = "onejob.toml", value_name = "FILE")]
    pub file: PathBuf,
    /// An `OpenAPI` document, JSON or YAML, to propose the mapping from; flags count for more
    #[arg(long, value_name = "FILE")]
    pub openapi: Option<PathBuf>,
    /// The service's name, for reports
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Base URL of the service, where it runs already
    #[arg(long, value_name = "URL")]
    pub base: Option<String>,
    /// The command that starts it, written as in a shell; `{port}` is a free port, `{database.url}` a fresh database
    #[arg(long, value_name = "COMMAND")]
    pub start: Option<String>,
    /// A variable for that command (repeatable)
    #[arg(long, value_name = "NAME=VALUE")]
    pub env: Vec<String>,
    /// A knob that scenarios may turn, and what it is otherwise; the command has it as `{settings.NAME}` (repeatable)
    #[arg(long, value_name = "NAME=VALUE")]
    pub setting: Vec<String>,
    /// A path that answers 2xx when the service is ready
    #[arg(long, value_name = "PATH")]
    pub ready: Option<String>,
    /// The request that makes a job, for example 'POST /jobs'
    #[arg(long, value_name = "METHOD PATH")]
    pub submit: Option<String>,
    /// Its body, with `{payload}` or `{payload.text}` in it, and `{key}` where the key is in the body
    #[arg(long, value_name = "JSON")]
    pub body: Option<String>,
    /// The header that carries the key
    #[arg(long, value_name = "NAME")]
    pub key_header: Option<String>,
    /// Where the answer has the job's id: a JSON Pointer like `/id`, or `header:NAME`
    #[arg(long, value_name = "PLACE")]
    pub job: Option<String>,
    /// Where it has the job's state
    #[arg(long, value_name = "PLACE")]
    pub state: Option<String>,
    /// Where it has the job's result
    #[arg(long, value_name = "PLACE")]
    pub result: Option<String>,
    /// The request that reads a job, for example 'GET /jobs/{job}'
    #[arg(long, value_name = "METHOD PATH")]
    pub read: Option<String>,
    /// The request that cancels a job
    #[arg(long, value_name = "METHOD PATH")]
    pub cancel: Option<String>,
    /// The service's words for a state, for example `succeeded=done,paid` (repeatable)
    #[arg(long, value_name = "MEANING=WORD")]
    pub word: Vec<String>,
    /// The header that authenticates, for example 'authorization: Bearer {token}'
    #[arg(long, value_name = "HEADER")]
    pub auth: Option<String>,
    /// An owner, and the variable that holds his token (repeatable)
    #[arg(long, value_name = "NAME=VARIABLE")]
    pub owner: Vec<String>,
    /// The variable through which the service is told where its provider is
    #[arg(long, value_name = "VARIABLE")]
    pub provider_env: Option<String>,
    /// Where a call to the provider says which job it is for: `header:NAME` or a JSON Pointer
    #[arg(long, value_name = "PLACE")]
    pub identity: Option<String>,
    /// The promises that the service makes about keys: `onejob target --profile all` shows them
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,
    /// Also write a workflow that runs the suite
    #[arg(long, value_enum, value_name = "SYSTEM")]
    pub ci: Option<Ci>,
    /// Replace files that are there
    #[arg(long)]
    pub force: bool,
    /// Ask nothing, even on a terminal
    #[arg(short, long)]
    pub yes: bool,
}

/// CI systems that a workflow can be written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Ci {
    /// GitHub Actions
    Github,
    /// GitLab CI
    Gitlab,
}

/// `onejob doctor`
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Exit codes: 0 what the file maps works · 2 the file · 10 the service can't be reached, or \
    something that the file maps doesn't work · 11 double or database failed · 12 a plain submit doesn't work. Whether \
    promises are kept is for `onejob run` to say."
)]
pub struct DoctorArgs {
    /// The target file
    #[arg(default_value = "onejob.toml", value_name = "FILE")]
    pub file: PathBuf,
    /// Text or JSON
    #[arg(long, value_enum, default_value_t = ListFormat::Text, value_name = "FORMAT")]
    pub format: ListFormat,
    /// Where the database comes from.
    #[command(flatten)]
    pub postgres: PostgresArgs,
}

/// `onejob target`
#[derive(Debug, Clone, Args)]
pub struct TargetArgs {
    /// Which target file: only `reference` is built in
    #[arg(long, value_name = "NAME", default_value = "reference")]
    pub print: String,
    /// The page of a profile instead, or of `all`: what it promises, where that is documented, what it widens
    #[arg(long, value_name = "NAME", conflicts_with = "print")]
    pub profile: Option<String>,
}

/// `onejob calibrate`
#[derive(Debug, Clone, Args)]
pub struct CalibrateArgs {
    /// Rounds of each measurement
    #[arg(long, default_value_t = 300, value_parser = clap::value_parser!(u32).range(10..=5_000), value_name = "N")]
    pub rounds: u32,
    /// Text or JSON
    #[arg(long, value_enum, default_value_t = ListFormat::Text, value_name = "FORMAT")]
    pub format: ListFormat,
    /// Where the database comes from.
    #[command(flatten)]
    pub postgres: PostgresArgs,
}

/// `onejob contract`
#[derive(Debug, Clone, Args)]
pub struct ContractArgs {
    /// With check and compare: also write a report, `html=PATH`, `markdown=PATH` or `json=PATH` (repeatable)
    #[arg(long, global = true, value_name = "FORMAT=PATH")]
    pub report: Vec<String>,
    /// What to do with contracts.
    #[command(subcommand)]
    pub command: onejob_contracts::cli::ContractCommand,
}

/// `onejob report`
#[derive(Debug, Clone, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct ReportArgs {
    /// Judge the histories of the last run again, by the laws of this version
    ///
    /// Verdicts that came out differently are told on standard error. The stored report stays as it is.
    #[arg(long, required = true)]
    pub rejudge: bool,
    /// The format of the new report
    #[arg(long, default_value = "term", value_name = "FORMAT")]
    pub format: String,
    /// Where the last run's report and histories are kept
    #[arg(long, default_value = ".onejob", value_name = "DIR")]
    pub store: PathBuf,
    /// Scenario files or folders that the run used instead of the built-in suite
    #[arg(long, value_name = "PATH")]
    pub scenarios: Vec<PathBuf>,
    /// The target file that the run used; the reference service's without one
    #[arg(long, value_name = "FILE")]
    pub target: Option<PathBuf>,
    /// What to do with reports.
    #[command(subcommand)]
    pub command: Option<ReportCommand>,
}

/// What to do with stored reports.
#[derive(Debug, Clone, Subcommand)]
pub enum ReportCommand {
    /// Render a stored report in another format
    Render {
        /// The stored report; the last run's without one
        #[arg(value_name = "FILE")]
        file: Option<PathBuf>,
        /// The format
        #[arg(long, default_value = "term", value_name = "FORMAT")]
        format: String,
        /// Where the last report is kept
        #[arg(long, default_value = ".onejob", value_name = "DIR")]
        store: PathBuf,
    },
    /// Merge the reports of all shards of a run
    Merge {
        /// The shards' reports
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// The format
        #[arg(long, default_value = "json", value_name = "FORMAT")]
        format: String,
    },
    /// Open the last run's HTML report in the browser; without a display, print where it is
    Open {
        /// Where the last report is kept
        #[arg(long, default_value = ".onejob", value_name = "DIR")]
        store: PathBuf,
    },
    /// Tell what changed between two runs
    Diff {
        /// The earlier report
        before: PathBuf,
        /// The later report
        after: PathBuf,
    },
}

/// `onejob explain`
#[derive(Debug, Clone, Args)]
pub struct ExplainArgs {
    /// The code, for example OJ1002; all codes without one
    #[arg(value_name = "CODE")]
    pub code: Option<String>,
}

/// `onejob schema`
#[derive(Debug, Clone, Args)]
pub struct SchemaArgs {
    /// Which kind of file
    #[arg(value_enum)]
    pub kind: SchemaKind,
}

/// Kinds of files that have a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SchemaKind {
    /// A scenario file
    Scenario,
    /// A target file
    Target,
    /// A contract of `onejob contract`
    Contract,
    /// A providers file of `onejob contract`
    Providers,
    /// A report in JSON
    Report,
    /// What `onejob bench` writes as JSON
    Bench,
    /// What `onejob explore` writes as JSON
    Explore,
}

/// `onejob completions`
#[derive(Debug, Clone, Args)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub shell: Shell,
}

/// `onejob man`
#[derive(Debug, Clone, Args)]
pub struct ManArgs {}
