use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use onejob_contracts::attest::{SigningKey, sign};
use onejob_contracts::dialect::Catalogue;
use onejob_contracts::gate::{Attestations, JobFacts, Suspension};
use onejob_contracts::run::Figures;
use onejob_contracts::{contract, provider};
use onejob_reference::{Config, Contracts, Error, Failover, Provider};
use tempfile::TempDir;

const CONTRACT: &str = r#"
name = "charge"
failover_on = ["throttled", "overloaded", "auth"]
[prompt]
messages = [{ role = "user", content = "charge {{ input }}" }]
[output]
schema = "schema.json"
[[case]]
name = "one"
[samples]
per_case = 40
[thresholds]
pass_rate = 0.9
"#;

/// A contract, providers, a key that only this test knows, and a folder of attestations.
pub(crate) struct Papers {
    folder: TempDir,
    key: SigningKey,
}

impl Papers {
    /// Lays out everything but an attestation.
    pub(crate) fn new(url: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let (private, public) = SigningKey::generate().expect("random numbers");
        let key = SigningKey::from_pem(&private, "the test").expect("a key");
        let papers = Self { folder, key };
        let providers = ["primary", "fallback"].map(|name| provider(name, "plain", url));
        papers.write("contract.toml", CONTRACT);
        papers.write("schema.json", r#"{"type": "object"}"#);
        papers.write("providers.toml", &providers.join("\n"));
        papers.write("trust.pub.pem", &public);
        std::fs::create_dir(papers.attestations()).expect("a folder");
        papers
    }

    /// Has the primary and the fallback speak these dialects.
    pub(crate) fn speak(&self, url: &str, primary: &str, fallback: &str) {
        let providers = [("primary", primary), ("fallback", fallback)];
        self.write(
            "providers.toml",
            &providers.map(|(name, dialect)| provider(name, dialect, url)).join("\n"),
        );
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).expect("written");
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).expect("a file")
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn attestations(&self) -> PathBuf {
        self.path("attestations")
    }

    fn file(&self) -> PathBuf {
        self.attestations().join(Attestations::file_name("charge", "primary", "fallback"))
    }

    /// Why a service with these papers does not start. It has no database: what is wrong is found before one is looked for.
    pub(crate) async fn refused_at_the_start(&self, config: Config) -> Error {
        let config = Config {
            database_url: "postgres://nowhere.invalid/".to_owned(),
            providers: ["primary", "fallback"].map(|name| Provider::new(name, "http://127.0.0.1:1/")).into(),
            contracts: Some(self.contracts()),
            ..config
        };
        let (ready, _address) = tokio::sync::oneshot::channel();
        let served = onejob_reference::serve(config, ready, std::future::pending()).await;
        served.expect_err("these papers can't be used")
    }

    /// What the service is told of contracts.
    pub(crate) fn contracts(&self) -> Contracts {
        Contracts {
            by_kind: [("charge".to_owned(), self.path("contract.toml"))].into(),
            providers: self.path("providers.toml"),
            dialects: None,
        }
    }

    /// What the service is told of attestations.
    pub(crate) fn failover(&self) -> Failover {
        Failover { attestations: self.attestations(), trust: self.path("trust.pub.pem") }
    }

    /// Attests that the fallback may stand in for the primary, as the files are now, from `ago` on for `valid`.
    pub(crate) fn attest(&self, ago: Duration, valid: Duration) {
        self.attest_by(&self.key, ago, valid);
    }

    /// Attests that these models answered when the fallback was checked.
    pub(crate) fn attest_models(&self, models: &[&str]) {
        let models = models.iter().map(|model| (*model).to_owned()).collect();
        self.attest_with(&self.key, Duration::ZERO, Duration::from_hours(1), models);
    }

    /// The same with a key that nobody trusts.
    pub(crate) fn forge(&self) {
        let (private, _) = SigningKey::generate().expect("random numbers");
        let key = SigningKey::from_pem(&private, "the test").expect("a key");
        self.attest_by(&key, Duration::ZERO, Duration::from_hours(1));
    }

    fn attest_by(&self, key: &SigningKey, ago: Duration, valid: Duration) {
        self.attest_with(key, ago, valid, Vec::new());
    }

    fn attest_with(&self, key: &SigningKey, ago: Duration, valid: Duration, models: Vec<String>) {
        let contract = contract::load(&self.path("contract.toml")).expect("a contract");
        let providers = provider::load_providers(&self.path("providers.toml")).expect("providers");
        let dialect = &providers["fallback"].dialect;
        let dialect = Catalogue::embedded().expect("dialects").get(dialect).expect("a dialect");
        let facts = JobFacts::of(&contract, &providers["fallback"], &dialect)
            .expect("facts")
            .with_primary(&providers["primary"]);
        let figures = Figures { samples: 40, passed: 40, lower_bound: 0.912, bar: 0.9, ..Figures::default() };
        let signed = |duration| SignedDuration::try_from(duration).expect("a short time");
        let issued = Timestamp::now() - signed(ago);
        let mut attested =
            facts.attested(("primary", "fallback"), &figures, (issued, issued + signed(valid)));
        attested.provider.models_reported = models;
        let envelope = sign(&attested.statement(&[]), key);
        let text = serde_json::to_string(&envelope).expect("JSON");
        put(&self.file(), &text);
    }

    pub(crate) fn withdraw(&self) {
        std::fs::remove_file(self.file()).expect("it was there");
    }

    pub(crate) fn suspend(&self) {
        let suspension = Suspension {
            contract: "charge".to_owned(),
            provider: "fallback".to_owned(),
            since: Timestamp::now(),
            reason: "it drifted".to_owned(),
        };
        suspension.save(&self.attestations()).expect("written");
    }

    /// Damages a suspension, so that nobody can tell what it suspends.
    pub(crate) fn damage(&self) {
        put(&self.attestations().join("charge.other.suspended.json"), "{");
    }
}

fn provider(name: &str, dialect: &str, url: &str) -> String {
    format!("[provider.{name}]\ndialect = \"{dialect}\"\nbase_url = \"{url}\"\nmodel = \"{name}-1\"\n")
}

fn put(path: &Path, text: &str) {
    let beside = path.with_extension("part");
    std::fs::write(&beside, text).and_then(|()| std::fs::rename(&beside, path)).expect("written");
}
