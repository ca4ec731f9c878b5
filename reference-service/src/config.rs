use std::collections::BTreeSet;
use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use crate::domain::RetryPolicy;
use crate::{Contracts, Defect, Error, Failover};

/// What one process of the service does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// Answers requests, carries nothing out.
    Api,
    /// Carries jobs out; answers only health, readiness and metrics.
    Worker,
    /// Both.
    All,
}

impl Role {
    pub(crate) const fn answers(self) -> bool {
        matches!(self, Self::Api | Self::All)
    }

    pub(crate) const fn works(self) -> bool {
        matches!(self, Self::Worker | Self::All)
    }
}

/// What a token allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Principal {
    /// Creates, reads and cancels jobs of its owner.
    User,
    /// May also decide over attempts of its owner's jobs: resolve them and give them up.
    Operator,
}

impl Principal {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Operator => "operator",
        }
    }
}

/// A bearer token and whom it stands for.
#[derive(Clone)]
pub struct Token {
    /// The owner of the jobs that it creates.
    pub owner: String,
    /// What the client sends. Only its SHA-256 reaches the database.
    pub secret: String,
    /// What it allows.
    pub role: Principal,
}

impl Token {
    /// A token.
    pub fn new(owner: impl Into<String>, secret: impl Into<String>, role: Principal) -> Self {
        Self { owner: owner.into(), secret: secret.into(), role }
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Token").field("owner", &self.owner).field("role", &self.role).finish_non_exhaustive()
    }
}

/// Somebody who carries the work out, reached by HTTP.
#[derive(Clone, Default)]
pub struct Provider {
    /// The name that jobs use.
    pub name: String,
    /// Where calls and probes go.
    pub url: String,
    /// Deadline of one attempt; [`Config::attempt_timeout`] when absent.
    pub timeout: Option<Duration>,
    /// How long after a call the provider may still come up with a first trace of it. Unknown attempts are probed
    /// only when this is set, and "not found" counts only after it.
    pub max_latency: Option<Duration>,
    /// The secret that signs its callbacks; without it, callbacks of this provider are refused.
    pub callback_secret: Option<String>,
}

impl Provider {
    /// A provider that is called, and neither probed nor heard.
    pub fn new(name: impl Into<String>, url: impl Into<String>) -> Self {
        Self { name: name.into(), url: url.into(), ..Self::default() }
    }
}

impl fmt::Debug for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Provider")
            .field("name", &self.name)
            .field("timeout", &self.timeout)
            .field("max_latency", &self.max_latency)
            .finish_non_exhaustive()
    }
}

/// Which of two customs the service follows where both are legitimate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Profile {
    /// A key with another payload is a 409.
    #[default]
    Job,
    /// A key with another payload is a 422, as the IETF draft on idempotency keys suggests.
    Ietf,
}

/// How long the content of decided jobs is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Retention {
    /// For ever.
    #[default]
    Forever,
    /// That long after the decision. The key stays behind as a tombstone that answers 410.
    For(Duration),
}

/// Everything that a process of the service needs to know. [`Config::default`] fills in what most leave alone.
#[derive(Clone)]
pub struct Config {
    /// `postgres://...`; a unix socket folder goes into `?host=`.
    pub database_url: String,
    /// Where to listen; port 0 takes a free one.
    pub listen: SocketAddr,
    /// What this process does.
    pub role: Role,
    /// Tokens to write into the database at start, beside those that are there.
    pub tokens: Vec<Token>,
    /// In the order in which a job that names none uses them.
    pub providers: Vec<Provider>,
    /// What jobs need from a model, and how each provider is asked; without it every provider is asked in the service's
    /// own format.
    pub contracts: Option<Contracts>,
    /// What lets a job go on at the next provider of its chain by itself; without it none ever does.
    pub failover: Option<Failover>,
    /// Deadline of one attempt, counted from the call.
    pub attempt_timeout: Duration,
    /// How long to go on listening for the answer of an attempt that is past its deadline.
    pub late_answers: Duration,
    /// How long a worker may be silent before others take its attempts for lost.
    pub lease: Duration,
    /// How often a worker renews its leases; never less often than a third of the lease.
    pub heartbeat: Duration,
    /// How long a claim waits for a concurrent one before it answers `request-in-flight`.
    pub lock_timeout: Duration,
    /// How often a worker looks for work that no notification told it of.
    pub poll_interval: Duration,
    /// Attempts that one job may use up on its own, the first included.
    pub max_attempts: u32,
    /// Pause before the second attempt; doubles with each further one.
    pub retry_pause: Duration,
    /// How long to let requests and attempts finish when told to stop.
    pub drain: Duration,
    /// How long decided jobs are kept.
    pub retention: Retention,
    /// How long an outcome may be unknown before a person's attention is asked for.
    pub unknown_deadline: Duration,
    /// First pause before an unknown attempt is probed; doubles with each further probe.
    pub probe_pause: Duration,
    /// How old the timestamp of a callback may be, or how far ahead.
    pub callback_window: Duration,
    /// Answer for a key with another payload.
    pub profile: Profile,
    /// Mistakes to make on purpose.
    pub defects: BTreeSet<Defect>,
    /// A file in which to note which defects could have made a difference to what came; see [`reached`](crate::reached).
    pub reach: Option<PathBuf>,
    /// Whether to bring the schema up to date at start.
    pub migrate: bool,
    /// Whether the database is reached through a pooler in transaction mode: no prepared statements, no LISTEN.
    pub pooled: bool,
    /// How long the database may take for one transaction, waits for locks not counted for requests, before its
    /// connection is given up.
    pub database_timeout: Duration,
    /// Connections that requests may use at once.
    pub api_connections: u32,
    /// Connections that workers may use at once.
    pub worker_connections: u32,
    /// Attempts that this process carries out at once.
    pub worker_slots: usize,
    /// Requests that are worked on at once; one more is answered 503 before it claims anything.
    pub max_in_flight: usize,
    /// The largest request body, in bytes.
    pub max_body: usize,
    /// How long a client may take to send the head of a request, and again for its body.
    pub client_timeout: Duration,
}

impl Default for Config {
    fn default() -> Self {
        let lease = Duration::from_secs(5);
        let retry = RetryPolicy::default();
        Self {
            database_url: String::new(),
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            role: Role::All,
            tokens: Vec::new(),
            providers: Vec::new(),
            contracts: None,
            failover: None,
            attempt_timeout: Duration::from_secs(2),
            late_answers: Duration::from_mins(1),
            lease,
            heartbeat: lease / 3,
            lock_timeout: Duration::from_secs(1),
            poll_interval: Duration::from_secs(1),
            max_attempts: retry.max_attempts,
            retry_pause: retry.first_pause,
            drain: Duration::from_secs(10),
            retention: Retention::Forever,
            unknown_deadline: Duration::from_mins(5),
            probe_pause: Duration::from_millis(500),
            callback_window: Duration::from_mins(5),
            profile: Profile::Job,
            defects: BTreeSet::new(),
            reach: None,
            migrate: true,
            pooled: false,
            database_timeout: Duration::from_secs(10),
            api_connections: 72,
            worker_connections: 8,
            worker_slots: 64,
            max_in_flight: 1024,
            max_body: 256 * 1024,
            client_timeout: Duration::from_secs(30),
        }
    }
}

impl Config {
    /// Says what contradicts itself, before anything is connected or bound.
    pub fn check(&self) -> Result<(), Error> {
        let wrong = |what: String| Err(Error::Config(what));
        if self.database_url.is_empty() {
            return wrong("the database URL is empty".to_owned());
        }
        if !(self.database_url.starts_with("postgres://") || self.database_url.starts_with("postgresql://")) {
            return wrong("the database URL must start with postgres://".to_owned());
        }
        for (name, duration) in [
            ("attempt_timeout", self.attempt_timeout),
            ("lease", self.lease),
            ("heartbeat", self.heartbeat),
            ("lock_timeout", self.lock_timeout),
            ("poll_interval", self.poll_interval),
            ("client_timeout", self.client_timeout),
            ("database_timeout", self.database_timeout),
        ] {
            // Postgres counts in milliseconds, and there 0 means "wait for ever".
            if duration < Duration::from_millis(1) {
                return wrong(format!("`{name}` must be at least 1 ms"));
            }
        }
        for (name, number) in [
            ("max_attempts", self.max_attempts as usize),
            ("api_connections", self.api_connections as usize),
            ("worker_connections", self.worker_connections as usize),
            ("worker_slots", self.worker_slots),
            ("max_in_flight", self.max_in_flight),
            ("max_body", self.max_body),
        ] {
            if number == 0 {
                return wrong(format!("`{name}` must be at least 1"));
            }
        }
        let mut names = BTreeSet::new();
        for provider in &self.providers {
            if provider.name.is_empty() {
                return wrong("a provider has no name".to_owned());
            }
            if !names.insert(provider.name.as_str()) {
                return wrong(format!("two providers are named `{}`", provider.name));
            }
            if !(provider.url.starts_with("http://") || provider.url.starts_with("https://")) {
                return wrong(format!(
                    "the URL of provider `{}` must start with http:// or https://",
                    provider.name
                ));
            }
        }
        if self.failover.is_some() && self.contracts.as_ref().is_none_or(|files| files.by_kind.is_empty()) {
            return wrong(
                "failover is on and no contract is given, so that no job could ever move".to_owned(),
            );
        }
        for token in &self.tokens {
            if token.owner.is_empty() || token.secret.is_empty() {
                return wrong("a token needs an owner and a secret".to_owned());
            }
            // Whoever sends it would be two people.
            let twin =
                self.tokens.iter().find(|other| other.secret == token.secret && other.owner != token.owner);
            if let Some(twin) = twin {
                return wrong(format!("`{}` and `{}` have the same token", token.owner, twin.owner));
            }
        }
        Ok(())
    }

    pub(crate) fn beat(&self) -> Duration {
        self.heartbeat.min(self.lease / 3)
    }

    pub(crate) fn retry_policy(&self) -> RetryPolicy {
        RetryPolicy {
            max_attempts: self.max_attempts,
            first_pause: self.retry_pause,
            ..RetryPolicy::default()
        }
    }

    pub(crate) fn provider(&self, name: &str) -> Option<&Provider> {
        self.providers.iter().find(|provider| provider.name == name)
    }
}

// The URL holds a password and the tokens are secrets: a derived form would print both.
impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config")
            .field("listen", &self.listen)
            .field("role", &self.role)
            .field("tokens", &self.tokens)
            .field("providers", &self.providers)
            .field("defects", &self.defects)
            .field("reach", &self.reach)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_never_printed() {
        let config = Config {
            database_url: "postgres://u:hunter2@h/db".to_owned(),
            tokens: vec![Token::new("alice", "hunter3", Principal::User)],
            providers: vec![Provider {
                callback_secret: Some("hunter4".to_owned()),
                ..Provider::new("p", "http://u:hunter5@h/")
            }],
            ..Config::default()
        };
        assert!(!format!("{config:?}").contains("hunter"));
    }

    #[test]
    fn contradictions_are_named() {
        let good = Config { database_url: "postgres://h/db".to_owned(), ..Config::default() };
        assert!(good.check().is_ok());
        let twice = vec![Provider::new("p", "http://h/"), Provider::new("p", "http://h/")];
        let one_secret = ["a", "b"].map(|owner| Token::new(owner, "s", Principal::User)).to_vec();
        for (wrong, word) in [
            (Config { database_url: String::new(), ..good.clone() }, "URL"),
            (Config { database_url: "mysql://h/db".to_owned(), ..good.clone() }, "postgres://"),
            (Config { lease: Duration::ZERO, ..good.clone() }, "lease"),
            (Config { max_in_flight: 0, ..good.clone() }, "max_in_flight"),
            (Config { providers: twice, ..good.clone() }, "two providers"),
            (Config { providers: vec![Provider::new("p", "ftp://h/")], ..good.clone() }, "http://"),
            (Config { tokens: vec![Token::new("", "s", Principal::User)], ..good.clone() }, "owner"),
            (Config { tokens: one_secret, ..good.clone() }, "same token"),
        ] {
            let said = wrong.check().expect_err(word).to_string();
            assert!(said.contains(word), "{said}");
        }
    }
}
