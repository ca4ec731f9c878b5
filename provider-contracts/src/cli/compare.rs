//! `contract compare`

use std::io::Write;
use std::sync::Arc;

use super::Found;
use super::arguments::{CompareArgs, Format};
use super::exit::{CliError, ExitOutcome};
use super::{check, inputs, render};
use crate::file::{FileError, read_text};
use crate::parity::compare;
use crate::run::CheckReport;
use crate::transport::{BoxFuture, CallId, Exchange, Http, Replayer, Secrets, Transport};

pub(super) async fn run(
    args: &CompareArgs,
    out: &mut (dyn Write + Send),
    talk: &mut (dyn Write + Send),
    tell: &mut (dyn FnMut(Found<'_>) + Send),
) -> Result<ExitOutcome, CliError> {
    let read = inputs::read(&args.inputs)?;
    if args.primary == args.fallback {
        return Err(CliError::Usage(
            "OJ7041: primary and fallback are the same provider: nothing would be proven".to_owned(),
        ));
    }
    let transport = both(args, &read, talk)?;
    let primary = match &args.baseline {
        Some(path) => {
            let text = read_text(path)?;
            let report: CheckReport = serde_json::from_str(&text)
                .map_err(|error| FileError::json(&path.display().to_string(), &text, &error))?;
            if report.provider.name != args.primary {
                return Err(CliError::Usage(format!(
                    "OJ7042: {} is a report on `{}` and not on `{}`",
                    path.display(),
                    report.provider.name,
                    args.primary
                )));
            }
            report
        }
        None => check::one(&read, &args.primary, Arc::clone(&transport), &args.tape, talk).await?,
    };
    let fallback = check::one(&read, &args.fallback, transport, &args.tape, talk).await?;
    let comparison = compare(&read.contract, primary, fallback);
    tell(Found::Comparison(&comparison));
    match args.format {
        Format::Json => render::json(out, &comparison)?,
        Format::Text => render::comparison(out, &comparison)?,
    }
    if let Some(path) = &args.out {
        check::save(path, &comparison)?;
    }
    Ok(ExitOutcome::of(&comparison.verdict))
}

/// One transport for both providers: they share a cassette, and each call names its provider.
fn both(
    args: &CompareArgs,
    read: &inputs::Read,
    talk: &mut (dyn Write + Send),
) -> Result<Arc<dyn Transport>, CliError> {
    if let Some(path) = &args.tape.replay {
        return Ok(Arc::new(Replayer::new(path)?));
    }
    let mut clients = Vec::new();
    let mut secrets = Secrets::default();
    for name in [&args.primary, &args.fallback] {
        if args.baseline.is_some() && *name == args.primary {
            continue;
        }
        let (provider, dialect) = read.provider(name)?;
        let http = Http::for_provider(provider, dialect.request.sign.is_some())?;
        secrets.extend(http.secrets().clone());
        clients.push((name.clone(), http));
    }
    let switch: Arc<dyn Transport> = Arc::new(Switch(clients));
    Ok(match &args.tape.record {
        Some(path) => {
            Arc::new(inputs::recorder(switch, secrets.of_run(read.run), path, args.tape.resume, talk)?)
        }
        None => switch,
    })
}

/// Sends each call with its own provider's key.
struct Switch(Vec<(String, Http)>);

impl Transport for Switch {
    fn send<'a>(
        &'a self,
        id: &'a CallId,
        request: &'a crate::provider::Outgoing,
        deadline: std::time::Duration,
    ) -> BoxFuture<'a, Exchange> {
        match self.0.iter().find(|(name, _)| *name == id.provider) {
            Some((_, http)) => http.send(id, request, deadline),
            None => Box::pin(async move { Exchange::Broken(format!("no client for `{}`", id.provider)) }),
        }
    }
}
