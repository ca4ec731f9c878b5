//! The flags of `onejob bench`.

use std::{num::NonZeroU32, path::PathBuf};

use clap::{Args, Subcommand, ValueEnum};

use crate::{cli::args::PostgresArgs, scenario::Span};

/// `onejob bench`
#[derive(Debug, Clone, Args)]
pub struct BenchArgs {
    /// What to measure.
    #[command(subcommand)]
    pub command: BenchCommand,
}

/// What to measure.
#[derive(Debug, Clone, Subcommand)]
pub enum BenchCommand {
    /// Ways to decide a job once, raced by contenders who all try every job
    ///
    /// The strategies: `cas` is one conditional UPDATE; `cas-rollback` the same in a transaction that losers roll back;
    /// `for-update` and `nowait` lock the row and look first; `skip-locked` updates unless somebody holds the row;
    /// `advisory` takes a transaction lock on the job's number before the UPDATE; `serializable` looks and updates under
    /// SERIALIZABLE, again when aborted; `unique-result` inserts into a table of results whose key is the job.
    Cas(CasArgs),
    /// Ways to claim a key once, by callers of whom some find it taken
    ///
    /// The forms: `insert-then-look` inserts unless the key is there, and reads in a second statement; `look-or-insert` does
    /// both in one, and duplicates write nothing; `upsert` touches the row that is there; `advisory` locks the key's number
    /// first; `serializable` looks and inserts under SERIALIZABLE, again when aborted.
    Claim(ClaimArgs),
    /// A service's jobs over HTTP: made, made twice, and made and looked at to the result
    ///
    /// Through any target file; beside it stand exchanges with a server that does nothing, by the same client.
    Lifecycle(LifecycleArgs),
}

/// `onejob bench lifecycle`
#[derive(Debug, Clone, Args)]
pub struct LifecycleArgs {
    /// The target file; the reference service without one
    #[arg(long, short, value_name = "FILE")]
    pub target: Option<PathBuf>,
    /// Processes of the service, where the target file says how to start it
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=16), value_name = "N")]
    pub replicas: u32,
    /// How many requests at a time
    #[arg(
        long,
        visible_alias = "clients",
        value_name = "N",
        value_delimiter = ',',
        default_value = "1,8,64"
    )]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=512))]
    pub contenders: Vec<u32>,
    /// Requests or jobs of a block, shared among the clients; fewer where time is short
    #[arg(long, default_value_t = 600, value_parser = clap::value_parser!(u32).range(1..=100_000), value_name = "N")]
    pub count: u32,
    /// For everything together; what is under way is finished
    #[arg(long = "for", default_value = "1m", value_name = "DURATION")]
    pub time: Span,
    /// Repeats of every point
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100), value_name = "N")]
    pub repeats: u32,
    /// An open loop: so many requests a second are due, whether earlier ones have ended or not
    #[arg(long, value_name = "N")]
    pub rate: Option<NonZeroU32>,
    /// What is written, and what it is held against.
    #[command(flatten)]
    pub output: OutputArgs,
    /// Where the database comes from.
    #[command(flatten)]
    pub postgres: PostgresArgs,
}

/// `onejob bench cas`
#[derive(Debug, Clone, Args)]
pub struct CasArgs {
    /// Only these strategies
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub strategy: Vec<String>,
    /// How much, where, and what is written.
    #[command(flatten)]
    pub measure: MeasureArgs,
}

/// `onejob bench claim`
#[derive(Debug, Clone, Args)]
pub struct ClaimArgs {
    /// Only these forms
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub form: Vec<String>,
    /// Shares of calls that find their key taken, in percent; such of which a whole number of calls a key makes
    #[arg(long, value_name = "PERCENT", value_delimiter = ',', default_value = "0,50,99")]
    pub duplicates: Vec<f64>,
    /// How much, where, and what is written.
    #[command(flatten)]
    pub measure: MeasureArgs,
}

/// What all benchmarks of the database have.
#[derive(Debug, Clone, Args)]
pub struct MeasureArgs {
    /// How many at a time
    #[arg(
        long,
        visible_alias = "clients",
        value_name = "N",
        value_delimiter = ',',
        default_value = "1,2,8,32,64"
    )]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=512))]
    pub contenders: Vec<u32>,
    /// How a server of onejob's own keeps its data: in memory without flushing, on disk with every safeguard, or each of
    /// them. A server that was lent is taken as it is
    #[arg(long, value_enum, default_value_t = ClusterKind::Scratch, value_name = "KIND")]
    pub cluster: ClusterKind,
    /// Decisions of a block, or calls of each caller; fewer where time is short
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=100_000), value_name = "N")]
    pub count: u32,
    /// For everything together; what is under way is finished
    #[arg(long = "for", default_value = "2m", value_name = "DURATION")]
    pub time: Span,
    /// Repeats of every point. Bounds of 95 % need six, a comparison four before and four now
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100), value_name = "N")]
    pub repeats: u32,
    /// An open loop: so many jobs or calls a second are due, whether earlier ones have ended or not, and what waits is counted
    /// from when it was due. Without it the next begins when the last has ended
    #[arg(long, value_name = "N")]
    pub rate: Option<NonZeroU32>,
    /// Rows that are in the tables before
    #[arg(long, default_value_t = 20_000, value_parser = clap::value_parser!(u32).range(0..=10_000_000), value_name = "N")]
    pub rows: u32,
    /// Measure without pgbench beside it
    #[arg(long)]
    pub no_limit: bool,
    /// What is written, and what it is held against.
    #[command(flatten)]
    pub output: OutputArgs,
    /// Where the database comes from.
    #[command(flatten)]
    pub postgres: PostgresArgs,
}

/// What is written, and what it is held against.
#[derive(Debug, Clone, Args)]
pub struct OutputArgs {
    /// What standard output holds
    #[arg(long, value_enum, default_value_t = BenchFormat::Text, value_name = "FORMAT")]
    pub format: BenchFormat,
    /// Also write a report, for example `html=bench.html` (repeatable)
    #[arg(long, value_name = "FORMAT=PATH")]
    pub report: Vec<String>,
    /// Hold the run against an earlier one, by what stood beside both; exit code 22 when a point got worse
    #[arg(long, value_name = "FILE")]
    pub compare: Option<PathBuf>,
    /// With --compare: how much worse a point may be, if it is more than chance
    #[arg(long, requires = "compare", default_value = "5%", value_name = "PERCENT", value_parser = percent)]
    pub fail_above: f64,
}

/// How a server of onejob's own keeps its data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ClusterKind {
    /// In memory, nothing flushed
    Scratch,
    /// On disk, every commit flushed
    Durable,
    /// One of each
    Both,
}

/// What standard output holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum BenchFormat {
    /// For people
    Text,
    /// For programs, and to be compared with
    Json,
    /// A line a point
    Csv,
    /// For a job summary
    Markdown,
    /// A page with plots
    Html,
}

fn percent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text).trim().parse::<f64>();
    number
        .ok()
        .filter(|it| (0.0..1000.0).contains(it))
        .ok_or_else(|| format!("`{text}` is no percentage; write it like `5%`"))
}

#[cfg(test)]
mod tests {
    use super::percent;

    #[test]
    fn a_threshold_is_a_percentage_with_or_without_its_sign() {
        assert_eq!(percent("5%"), Ok(5.0));
        assert_eq!(percent("2.5"), Ok(2.5));
        for wrong in ["", "%", "-1%", "much", "NaN"] {
            assert!(percent(wrong).is_err(), "{wrong}");
        }
    }
}
