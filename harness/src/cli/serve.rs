//! `onejob serve`

use std::io::{IsTerminal as _, Write as _};

use onejob_reference::{
    Config, Contracts, Defect, Error, Failover, Principal, Profile, Provider, Retention, Role, Token,
};
use onejob_reports::exit::ExitCode;

use super::{
    args::{ServeArgs, ServeProfile, ServeRole},
    common,
};
use crate::fail::{Code, Fault};

pub(super) fn serve(args: &ServeArgs) -> Result<ExitCode, Fault> {
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none())
        .with_env_filter(
            tracing_subscriber::EnvFilter::try_from_env("ONEJOB_LOG")
                .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("warn")),
        )
        .init();
    let runtime = common::runtime()?;
    if args.migrate_only {
        runtime.block_on(onejob_reference::migrate(&args.database_url)).map_err(|error| fault(&error))?;
        return Ok(ExitCode::Success);
    }
    let config = config(args)?;
    runtime.block_on(async {
        let (ready, address) = tokio::sync::oneshot::channel();
        tokio::spawn(async move {
            if let Ok(address) = address.await {
                let mut out = std::io::stdout().lock();
                // Whoever started us and doesn't read on still wants the service.
                let _ = writeln!(out, "listening on http://{address}");
                let _ = out.flush();
            }
        });
        onejob_reference::serve(config, ready, told_to_stop()).await.map_err(|error| fault(&error))
    })?;
    Ok(ExitCode::Success)
}

async fn told_to_stop() {
    use tokio::signal::unix::{SignalKind, signal};

    let (Ok(mut interrupt), Ok(mut terminate)) =
        (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
    else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
}

fn config(args: &ServeArgs) -> Result<Config, Fault> {
    let tokens = args
        .token
        .iter()
        .map(|text| {
            pair("--token", text).map(|(owner, secret)| Token::new(owner, secret, Principal::Operator))
        })
        .collect::<Result<_, _>>()?;
    let providers = args
        .provider
        .iter()
        .map(|text| {
            pair("--provider", text).map(|(name, url)| Provider {
                max_latency: args.max_latency.0,
                callback_secret: args.callback_secret.clone(),
                ..Provider::new(name, url)
            })
        })
        .collect::<Result<_, _>>()?;
    let defects = args.defect.iter().map(|name| defect(name)).collect::<Result<_, _>>()?;
    Ok(Config {
        database_url: args.database_url.clone(),
        listen: args.listen,
        role: match args.role {
            ServeRole::Api => Role::Api,
            ServeRole::Worker => Role::Worker,
            ServeRole::All => Role::All,
        },
        tokens,
        providers,
        contracts: contracts(args)?,
        failover: failover(args),
        attempt_timeout: args.attempt_timeout.0,
        late_answers: args.late_answers.0,
        lease: args.lease.0,
        heartbeat: args.lease.0 / 3,
        lock_timeout: args.lock_timeout.0,
        poll_interval: args.poll_interval.0,
        max_attempts: args.max_attempts,
        retry_pause: args.retry_pause.0,
        max_in_flight: args.max_in_flight,
        retention: args.retention.0.map_or(Retention::Forever, Retention::For),
        unknown_deadline: args.unknown_deadline.0,
        probe_pause: args.probe_pause.0,
        drain: args.drain.0,
        profile: match args.profile {
            ServeProfile::Job => Profile::Job,
            ServeProfile::Ietf => Profile::Ietf,
        },
        pooled: args.pooled,
        defects,
        reach: args.reach.clone(),
        ..Config::default()
    })
}

/// What jobs need from a model, where a contract is given.
fn contracts(args: &ServeArgs) -> Result<Option<Contracts>, Fault> {
    let Some(providers) = &args.contract_providers else { return Ok(None) };
    let contracts = args.contract.iter().map(|text| {
        pair("--contract", text).map(|(kind, file)| (kind.to_owned(), std::path::PathBuf::from(file)))
    });
    Ok(Some(Contracts {
        by_kind: contracts.collect::<Result<_, _>>()?,
        providers: providers.clone(),
        dialects: args.dialects.clone(),
    }))
}

/// What lets jobs move, where there are attestations.
fn failover(args: &ServeArgs) -> Option<Failover> {
    Some(Failover { attestations: args.attestations.clone()?, trust: args.trust.clone()? })
}

/// Splits `NAME=VALUE`. The value may be a secret, so it is never repeated in an error.
fn pair<'t>(flag: &str, text: &'t str) -> Result<(&'t str, &'t str), Fault> {
    text.split_once('=').filter(|(name, value)| !name.is_empty() && !value.is_empty()).ok_or_else(|| {
        Fault::new(
            Code::BadFlag,
            format!("`{flag}` needs NAME=VALUE"),
            "for example `--token alice=a-long-secret`, `--provider primary=http://127.0.0.1:9000` or \
             `--contract invoice=contract.toml`",
        )
    })
}

fn defect(name: &str) -> Result<Defect, Fault> {
    name.parse().map_err(|_| common::unknown_defect(name))
}

fn fault(error: &Error) -> Fault {
    let (code, help) = match error {
        Error::Bind { .. } => {
            (Code::PortInUse, "give another address with --listen; port 0 takes a free one")
        }
        Error::Config(_) => (Code::BadFlag, "see `onejob serve --help`"),
        Error::Database { .. } => (Code::PostgresRefused, "check --database-url and that the server runs"),
        Error::NotMigrated { .. } | Error::Migration { .. } => {
            (Code::Migration, "run `onejob serve --migrate-only` on the database first")
        }
        _ => (Code::Bug, "please report this"),
    };
    Fault::new(code, error.to_string(), help)
}
