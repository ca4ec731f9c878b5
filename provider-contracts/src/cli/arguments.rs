//! What can be typed.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

/// Whether a fallback model may stand in for the primary.
#[derive(Clone, Debug, Subcommand)]
pub enum ContractCommand {
    /// Look at a contract, and at providers, without calling anybody.
    Lint(LintArgs),
    /// Check one provider against a contract.
    Check(CheckArgs),
    /// Check a fallback against a contract and against its primary.
    Compare(CompareArgs),
    /// Sign the result of a comparison that passed.
    Attest(AttestArgs),
    /// Verify an attestation's signature and show what it says.
    Verify(VerifyArgs),
    /// Answer by exit code whether a job may move: 0 for yes, 21 for no, with the reason.
    CanFailover(CanFailoverArgs),
    /// Check an attested provider again with few samples, and suspend it if it is no longer what was attested.
    Drift(DriftArgs),
    /// List the wire formats that are known.
    Dialects(DialectsArgs),
    /// Make a key pair for attestations.
    Key(KeyArgs),
}

/// How a result is written to stdout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    #[default]
    Text,
    /// For machines.
    Json,
}

/// The files that a check reads.
#[derive(Clone, Debug, Args)]
pub struct Inputs {
    /// The contract file.
    pub contract: PathBuf,
    /// The providers file; without it, `providers.toml` beside the contract.
    #[arg(long, value_name = "FILE")]
    pub providers: Option<PathBuf>,
    /// A folder with dialects of your own.
    #[arg(long, value_name = "DIR")]
    pub dialects: Option<PathBuf>,
}

/// Where answers come from and where they are kept.
#[derive(Clone, Debug, Default, Args)]
pub struct TapeArgs {
    /// Keep every call in this file, secrets redacted.
    #[arg(long, value_name = "FILE", conflicts_with = "replay")]
    pub record: Option<PathBuf>,
    /// With --record: go on where an interrupted run stopped.
    #[arg(long, requires = "record")]
    pub resume: bool,
    /// Answer every call from this file and never send.
    #[arg(long, value_name = "FILE")]
    pub replay: Option<PathBuf>,
    /// Take this many samples of each case instead of the contract's number. The bar stays.
    #[arg(long, value_name = "N")]
    pub per_case: Option<u32>,
}

/// `contract lint`
#[derive(Clone, Debug, Args)]
pub struct LintArgs {
    /// Files.
    #[command(flatten)]
    pub inputs: Inputs,
    /// Also look at this provider; repeatable. `all` for every one in the providers file.
    #[arg(long, value_name = "NAME")]
    pub provider: Vec<String>,
    /// How the result is written.
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// `contract check`
#[derive(Clone, Debug, Args)]
pub struct CheckArgs {
    /// Files.
    #[command(flatten)]
    pub inputs: Inputs,
    /// The provider, by its name in the providers file.
    #[arg(long, value_name = "NAME")]
    pub provider: String,
    /// Where answers come from.
    #[command(flatten)]
    pub tape: TapeArgs,
    /// Say what would be sent and what it would cost, and send nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// How the result is written.
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// Also write the whole report, as JSON, to this file.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// `contract compare`
#[derive(Clone, Debug, Args)]
pub struct CompareArgs {
    /// Files.
    #[command(flatten)]
    pub inputs: Inputs,
    /// The primary.
    #[arg(long, value_name = "NAME")]
    pub primary: String,
    /// The fallback.
    #[arg(long, value_name = "NAME")]
    pub fallback: String,
    /// Use this report of the primary (`check --out`) instead of calling it.
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// Where answers come from.
    #[command(flatten)]
    pub tape: TapeArgs,
    /// How the result is written.
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// Also write the whole comparison, as JSON, to this file: what `attest` signs.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// `contract attest`
#[derive(Clone, Debug, Args)]
pub struct AttestArgs {
    /// The contract file.
    pub contract: PathBuf,
    /// The comparison (`compare --out`).
    #[arg(long, value_name = "FILE")]
    pub result: PathBuf,
    /// The private key, PEM; without it, the content of the variable `ONEJOB_SIGNING_KEY`.
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
    /// The folder that the attestation is written into.
    #[arg(long, value_name = "DIR", default_value = "attestations")]
    pub out: PathBuf,
}

/// `contract verify`
#[derive(Clone, Debug, Args)]
pub struct VerifyArgs {
    /// The attestation.
    pub file: PathBuf,
    /// A file with trusted public keys, PEM.
    #[arg(long, value_name = "FILE")]
    pub trust: PathBuf,
    /// How the result is written.
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// `contract can-failover`
#[derive(Clone, Debug, Args)]
pub struct CanFailoverArgs {
    /// Files.
    #[command(flatten)]
    pub inputs: Inputs,
    /// The primary.
    #[arg(long, value_name = "NAME")]
    pub from: String,
    /// The fallback.
    #[arg(long, value_name = "NAME")]
    pub to: String,
    /// The folder with attestations.
    #[arg(long, value_name = "DIR", default_value = "attestations")]
    pub attestations: PathBuf,
    /// A file with trusted public keys, PEM.
    #[arg(long, value_name = "FILE")]
    pub trust: PathBuf,
    /// The model that the fallback reported last.
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
    /// Ask for another time than now, RFC 3339.
    #[arg(long, value_name = "TIME")]
    pub at: Option<String>,
    /// How the result is written.
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// `contract drift`
#[derive(Clone, Debug, Args)]
pub struct DriftArgs {
    /// Files.
    #[command(flatten)]
    pub inputs: Inputs,
    /// The attested fallback.
    #[arg(long, value_name = "NAME")]
    pub provider: String,
    /// The folder with attestations; a suspension is written there.
    #[arg(long, value_name = "DIR", default_value = "attestations")]
    pub attestations: PathBuf,
    /// A file with trusted public keys, PEM.
    #[arg(long, value_name = "FILE")]
    pub trust: PathBuf,
    /// Where answers come from.
    #[command(flatten)]
    pub tape: TapeArgs,
}

/// `contract dialects`
#[derive(Clone, Debug, Args)]
pub struct DialectsArgs {
    /// A folder with dialects of your own.
    #[arg(long, value_name = "DIR")]
    pub dialects: Option<PathBuf>,
    /// How the result is written.
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// `contract key`
#[derive(Clone, Debug, Args)]
pub struct KeyArgs {
    /// The private key's file; the public one gets the ending `.pub.pem`.
    #[arg(long, value_name = "FILE", default_value = "onejob-key.pem")]
    pub out: PathBuf,
}
