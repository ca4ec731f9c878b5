//! `onejob calibrate`

use std::io::Write as _;

use onejob_reports::exit::ExitCode;

use super::{
    args::{CalibrateArgs, Global, ListFormat},
    common,
};
use crate::{
    fail::Fault,
    gate::calibrate::{Calibration, Effort, calibrate as measure},
    postgres::{Databases, StartOptions},
};

pub(super) fn calibrate(global: &Global, args: &CalibrateArgs) -> Result<ExitCode, Fault> {
    let runtime = common::runtime()?;
    let calibration: Calibration = runtime.block_on(async {
        let leash = common::leash()?;
        let server = common::postgres(&args.postgres, &leash, &StartOptions::default()).await?;
        let databases = Databases::open(&server, &leash, 0).await?;
        let database = databases.empty().await?;
        if !global.quiet {
            talk!("measuring on {}; this takes a minute at most", server.describe());
        }
        let effort = Effort { rounds: args.rounds as usize, ..Effort::default() };
        let measured = measure(effort, Some(&database.url)).await;
        databases.close().await?;
        Ok::<_, Fault>(measured?)
    })?;
    let mut out = std::io::stdout().lock();
    // A closed pipe has seen enough.
    let _ = match args.format {
        ListFormat::Json => writeln!(out, "{:#}", serde_json::json!(calibration)),
        ListFormat::Text => text(&mut out, &calibration),
    };
    Ok(ExitCode::Success)
}

fn text(out: &mut impl std::io::Write, calibration: &Calibration) -> std::io::Result<()> {
    writeln!(
        out,
        "arrivals: microseconds between the first and the last ({} processors)",
        calibration.processors
    )?;
    writeln!(out, "  {:<12} {:>8} {:>7} {:>9} {:>9}", "how", "requests", "rounds", "median", "p99")?;
    for spread in &calibration.spreads {
        let crate::gate::calibrate::Spread { means, requests, rounds, median_us, p99_us } = spread;
        writeln!(out, "  {means:<12} {requests:>8} {rounds:>7} {median_us:>9.0} {p99_us:>9.0}")?;
    }
    writeln!(out, "hits: rounds in which a service that checks and then inserts made two jobs of one key")?;
    writeln!(out, "  {:<12} {:>8} {:>7} {:>9} {:>9}", "how", "requests", "rounds", "hit", "ms/round")?;
    for rate in &calibration.hits {
        let crate::gate::calibrate::HitRate { means, requests, rounds, percent, round_ms, .. } = rate;
        writeln!(out, "  {means:<12} {requests:>8} {rounds:>7} {percent:>7.1} % {round_ms:>9.1}")?;
    }
    Ok(())
}
