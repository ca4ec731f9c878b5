//! Where proxies stand in a world: only where its scenario plans a fault, so that the others pay nothing.

use std::{net::SocketAddr, path::PathBuf, sync::Arc};

use sqlx::postgres::PgConnectOptions;
use url::Url;

use super::fault::place;
use crate::{
    fail::{Code, Fault},
    fault::{Proxy, Tap, Upstream},
    gate::{Client, Origin, Protocol},
    middlebox::Balancer,
    scenario::{Scenario, Verb},
    target::TargetFile,
};

/// The places at which a scenario plans faults.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Wiring {
    pub(super) client: bool,
    pub(super) provider: bool,
    pub(super) database: bool,
}

impl Wiring {
    pub(super) fn planned(scenario: &Scenario) -> Self {
        // A replica that is started anew listens elsewhere; a proxy keeps the address that the balancer knows.
        let mut wiring = Self {
            client: scenario.setup.balancer.is_some(),
            database: scenario.setup.server.is_some(),
            ..Self::default()
        };
        let faults = scenario.step.iter().filter(|step| step.act == Verb::Fault);
        for name in faults.filter_map(|step| step.fault.as_deref()) {
            match place(name) {
                "client" => wiring.client = true,
                "provider" => wiring.provider = true,
                "database" => wiring.database = true,
                _ => {}
            }
        }
        wiring
    }
}

/// How a replica is reached.
#[derive(Debug, Clone)]
pub(super) struct Reach {
    /// Sends requests, through the proxy where there is one.
    pub(super) client: Client,
    /// Where the replica itself listens.
    pub(super) upstream: Upstream,
    /// The proxy before it.
    pub(super) proxy: Option<Arc<Proxy>>,
    /// Keeps the way to the replica open behind the proxy, where it is a tunnel.
    pub(super) direct: Option<Origin>,
}

impl Reach {
    pub(super) async fn new(target: &TargetFile, base: &str, through_proxy: bool) -> Result<Self, Fault> {
        let trust = target.target.trust();
        let protocol = trust.protocol;
        let origin = Origin::trusting(base, &trust).await?;
        let upstream = Upstream::Tcp(origin.address());
        if !through_proxy {
            return Ok(Self { client: Client::new(origin, protocol), upstream, proxy: None, direct: None });
        }
        let proxy = Arc::new(Proxy::http(upstream.clone()).await?);
        let through = elsewhere(base, proxy.address()).await?;
        Ok(Self {
            client: Client::new(through, protocol),
            upstream,
            proxy: Some(proxy),
            direct: Some(origin),
        })
    }

    /// Where others than our own clients reach it.
    pub(super) fn address(&self) -> Option<SocketAddr> {
        match (&self.proxy, &self.upstream) {
            (Some(proxy), _) => Some(proxy.address()),
            (None, Upstream::Tcp(address)) => Some(*address),
            (None, Upstream::Unix(_)) => None,
        }
    }
}

/// A client of what stands before the replicas. Balancers speak HTTP/1.1, whatever the replicas speak besides.
pub(super) async fn to_balancer(balancer: &Balancer, base: &str) -> Result<Client, Fault> {
    Ok(Client::new(elsewhere(base, balancer.address()).await?, Protocol::H1))
}

/// The same service at another address.
async fn elsewhere(base: &str, address: SocketAddr) -> Result<Origin, Fault> {
    let mut url = Url::parse(base).map_err(|error| unusable(base, error))?;
    moved(&mut url, address, base)?;
    // Up to the proxy nothing is encrypted: what it is to cut and to delay must be readable.
    if url.scheme() == "https" {
        let clear = url.as_str().replacen("https", "http", 1);
        return Ok(Origin::resolve(clear.trim_end_matches('/')).await?);
    }
    Ok(Origin::resolve(url.as_str().trim_end_matches('/')).await?)
}

fn moved(url: &mut Url, address: SocketAddr, was: &str) -> Result<(), Fault> {
    let host = url.set_host(Some(&address.ip().to_string()));
    let port = url.set_port(Some(address.port()));
    if host.is_err() || port.is_err() {
        return Err(unusable(was, "it can't be led through a proxy"));
    }
    Ok(())
}

fn unusable(url: &str, error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Fault {
    let shown = url.rsplit('@').next().unwrap_or_default();
    Fault::new(Code::FaultFailed, format!("no proxy can stand before {shown}"), "give a URL with a host")
        .because(error)
}

/// A proxy before the database, and the URL that leads through it.
pub(super) async fn before_database(url: &str) -> Result<(Proxy, String), Fault> {
    let proxy = Proxy::raw(server_of(url).await?).await?;
    let through = through(url, proxy.address(), None)?;
    Ok((proxy, through))
}

/// A tap before the database, and the URL that leads through it: one that asks for no encryption, so that what is said
/// can be followed.
pub(super) async fn tap_database(url: &str) -> Result<(Tap, String), Fault> {
    let tap = Tap::start(server_of(url).await?).await?;
    let through = through(url, tap.address(), Some(("sslmode", "disable")))?;
    Ok((tap, through))
}

/// Where the server of a database URL is.
async fn server_of(url: &str) -> Result<Upstream, Fault> {
    let options: PgConnectOptions = url.parse().map_err(|error: sqlx::Error| unusable(url, error))?;
    let folder = options.get_socket().cloned().or_else(|| {
        let host = options.get_host();
        host.starts_with('/').then(|| PathBuf::from(host))
    });
    Ok(match folder {
        Some(folder) => Upstream::Unix(folder.join(format!(".s.PGSQL.{}", options.get_port()))),
        None => Upstream::Tcp(
            Origin::resolve(&format!("http://{}:{}", options.get_host(), options.get_port()))
                .await?
                .address(),
        ),
    })
}

/// The database URL with another address, and with a parameter set.
fn through(url: &str, address: SocketAddr, set: Option<(&str, &str)>) -> Result<String, Fault> {
    let mut through = Url::parse(url).map_err(|error| unusable(url, error))?;
    let rest: Vec<(String, String)> = through
        .query_pairs()
        .filter(|(name, _)| !matches!(name.as_ref(), "host" | "port"))
        .filter(|(name, _)| set.is_none_or(|(ours, _)| name != ours))
        .map(|(name, value)| (name.into_owned(), value.into_owned()))
        .chain(set.map(|(name, value)| (name.to_owned(), value.to_owned())))
        .collect();
    through.set_query(None);
    for (name, value) in rest {
        through.query_pairs_mut().append_pair(&name, &value);
    }
    moved(&mut through, address, url)?;
    Ok(through.to_string())
}
