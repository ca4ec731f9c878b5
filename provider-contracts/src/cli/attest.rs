//! `contract attest`, `verify` and `key`

use std::io::Write;

use jiff::Timestamp;

use super::arguments::{AttestArgs, Format, KeyArgs, VerifyArgs};
use super::exit::{CliError, ExitOutcome};
use super::{check, render};
use crate::attest::{SigningKey, TrustedKeys, attested, sign, statement, verify};
use crate::contract;
use crate::file::{FileError, read_text};
use crate::gate::Attestations;
use crate::parity::Comparison;

/// The variable that may hold the private key.
const VARIABLE: &str = "ONEJOB_SIGNING_KEY";

pub(super) fn run(
    args: &AttestArgs,
    out: &mut (dyn Write + Send),
    talk: &mut (dyn Write + Send),
) -> Result<ExitOutcome, CliError> {
    let contract = contract::load(&args.contract)?;
    let text = read_text(&args.result)?;
    let comparison: Comparison = serde_json::from_str(&text)
        .map_err(|error| FileError::json(&args.result.display().to_string(), &text, &error))?;
    let key = if let Some(path) = &args.key {
        SigningKey::load(path)?
    } else {
        let text = std::env::var(VARIABLE).map_err(|_| {
            CliError::Usage(format!(
                "OJ7043: no key: give --key FILE, or put a private key in PEM into {VARIABLE}. `onejob contract key` makes one"
            ))
        })?;
        SigningKey::from_pem(&text, VARIABLE)?
    };
    let statement = statement(&contract, &comparison, Timestamp::now())?;
    let envelope = sign(&statement, &key);
    std::fs::create_dir_all(&args.out).map_err(|error| FileError::read(&args.out, &error))?;
    let (from, to) = (&comparison.primary.provider.name, &comparison.fallback.provider.name);
    let path = args.out.join(Attestations::file_name(contract.name(), from, to));
    check::save(&path, &envelope)?;
    writeln!(out, "{}", path.display())?;
    writeln!(talk, "signed by {}", key.id())?;
    Ok(ExitOutcome::Ok)
}

pub(super) fn verify_file(
    args: &VerifyArgs,
    out: &mut (dyn Write + Send),
    talk: &mut (dyn Write + Send),
) -> Result<ExitOutcome, CliError> {
    let keys = TrustedKeys::load(&args.trust)?;
    let (statement, key_id) = verify(&read_text(&args.file)?, &keys)?;
    let says = attested(&statement).map_err(|error| CliError::Usage(error.to_string()))?;
    match args.format {
        Format::Json => render::json(out, &statement)?,
        Format::Text => {
            writeln!(
                out,
                "contract {}: {} may stand in for {}",
                says.contract, says.provider.name, says.baseline.provider.name
            )?;
            writeln!(out, "model {} at {}", says.provider.model, says.provider.endpoint)?;
            writeln!(
                out,
                "{} of {} samples passed, lower bound {:.4}, bar {}{}",
                says.figures.passed,
                says.figures.samples,
                says.figures.lower_bound,
                says.figures.bar,
                if says.replayed { ", from a cassette" } else { "" }
            )?;
            for field in &says.fields {
                writeln!(
                    out,
                    "agrees on {}: {} of {}, lower bound {:.4}",
                    field.select, field.agreed, field.samples, field.lower_bound
                )?;
            }
            for (name, digest) in &says.digests.0 {
                writeln!(out, "{name} sha256:{digest}")?;
            }
            writeln!(out, "issued {}, expires {}", says.issued, says.expires)?;
        }
    }
    writeln!(talk, "the signature by {key_id} holds")?;
    Ok(ExitOutcome::Ok)
}

pub(super) fn key(args: &KeyArgs, talk: &mut (dyn Write + Send)) -> Result<ExitOutcome, CliError> {
    let (private, public) = SigningKey::generate()?;
    let public_path = args.out.with_extension("pub.pem");
    for path in [&args.out, &public_path] {
        if path.exists() {
            return Err(CliError::Usage(format!(
                "OJ7044: {} exists: attestations by an overwritten key could never be renewed",
                path.display()
            )));
        }
    }
    secret_file(&args.out, &private)?;
    crate::file::write_whole(&public_path, public.as_bytes())?;
    writeln!(talk, "private key {}, public key {}", args.out.display(), public_path.display())?;
    Ok(ExitOutcome::Ok)
}

/// A file that only its owner can read.
fn secret_file(path: &std::path::Path, text: &str) -> Result<(), FileError> {
    let failed = |error| FileError::read(path, &error);
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).and_then(|mut file| file.write_all(text.as_bytes())).map_err(failed)
}
