//! What lets the service under test move jobs by itself: a contract, a providers file, a throw-away key and a folder of
//! attestations, all of them the cell's own.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use jiff::{SignedDuration, Timestamp};
use onejob_contracts::{
    attest::{SigningKey, sign},
    contract,
    dialect::Catalogue,
    gate::{Attestations, JobFacts, Suspension},
    provider, run, statistics,
};
use tempfile::TempDir;

use super::launch::Placeholders;
use crate::{
    fail::{Code, Fault},
    leash::Leash,
    target::{FailoverSection, TargetFile},
};

/// Each part that can be changed has an edition of its own: one byte.
const CONTRACT: &str = r#"# Written for one cell. contract edition 1
name = "{name}"
purpose = "Stands in for a contract that primary and fallback were checked against"
failover_on = ["throttled", "overloaded", "auth", "billing"]
cases = "cases.jsonl"

[prompt]
messages = [{ role = "user", content = "prompt edition 1: {{ input }}" }]

[output]
schema = "schema.json"

[samples]
per_case = 40

[thresholds]
pass_rate = 0.9
"#;
const SCHEMA: &str = "{\"title\": \"schema edition 1\"}\n";
const CASES: &str = "{\"name\": \"one\", \"input\": \"cases edition 1\"}\n";
/// Samples that an attestation tells of, all of them passed.
const SAMPLES: u32 = 40;

/// The files of a cell.
#[derive(Debug)]
pub(super) struct Proof {
    folder: TempDir,
    contract: String,
    /// Providers in the order of the chain.
    names: Vec<String>,
    key: String,
    leash: Leash,
}

/// Who signs an attestation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Signer {
    /// The one whose public half the service has.
    Trusted,
    /// Somebody else.
    Stranger,
}

/// What has an edition.
const PARTS: [(&str, &str, &str); 6] = [
    ("contract", "contract.toml", "contract edition "),
    ("prompt", "contract.toml", "prompt edition "),
    ("schema", "schema.json", "schema edition "),
    ("cases", "cases.jsonl", "cases edition "),
    ("model", "providers.toml", "fallback-model-"),
    ("primary-model", "providers.toml", "primary-model-"),
];

impl Proof {
    /// The files that a target wants, where it wants any; the command is told where they are.
    pub(super) fn of(
        target: &TargetFile,
        placeholders: &mut Placeholders,
        leash: &Leash,
    ) -> Result<Option<Self>, Fault> {
        let (Some(section), Some(providers)) = (&target.failover, &target.provider) else { return Ok(None) };
        let urls = providers.names.iter().filter_map(|name| {
            Some((name.clone(), placeholders.get(&format!("provider.{name}.url"))?.to_owned()))
        });
        let proof = Self::lay_out(section, &urls.collect::<Vec<_>>(), leash)?;
        proof.tell(placeholders);
        Ok(Some(proof))
    }

    /// Writes all but attestations. `providers` are names and URLs, in the order of the chain.
    fn lay_out(
        section: &FailoverSection,
        providers: &[(String, String)],
        leash: &Leash,
    ) -> Result<Self, Fault> {
        let folder = TempDir::with_prefix("onejob-failover-").map_err(|error| wrong("made", error))?;
        leash.hold_dir(folder.path())?;
        let (key, public) = SigningKey::generate().map_err(|error| wrong("made", error))?;
        let proof = Self {
            folder,
            contract: section.contract.clone(),
            names: providers.iter().map(|(name, _)| name.clone()).collect(),
            key,
            leash: leash.clone(),
        };
        let entry = |(index, (name, url)): (usize, &(String, String))| {
            let role = if index == 0 { "primary" } else { "fallback" };
            format!(
                "[provider.{name}]\ndialect = \"plain\"\nbase_url = \"{url}\"\nmodel = \"{role}-model-1\"\n\n"
            )
        };
        proof.write("contract.toml", &CONTRACT.replace("{name}", &section.contract))?;
        proof.write("schema.json", SCHEMA)?;
        proof.write("cases.jsonl", CASES)?;
        proof.write("providers.toml", &providers.iter().enumerate().map(entry).collect::<String>())?;
        proof.write("trust.pub.pem", &public)?;
        std::fs::create_dir(proof.attestations()).map_err(|error| wrong("made", error))?;
        Ok(proof)
    }

    /// Tells the command where they are.
    fn tell(&self, placeholders: &mut Placeholders) {
        for (name, path) in [
            ("contract", self.path("contract.toml")),
            ("providers", self.path("providers.toml")),
            ("attestations", self.attestations()),
            ("trust", self.path("trust.pub.pem")),
        ] {
            placeholders.set(format!("failover.{name}"), path.display().to_string());
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn attestations(&self) -> PathBuf {
        self.path("attestations")
    }

    /// Whole or not at all: the service may be reading.
    fn write(&self, name: &str, text: &str) -> Result<(), Fault> {
        let (part, path) = (self.path("part"), self.path(name));
        std::fs::write(&part, text)
            .and_then(|()| std::fs::rename(&part, path))
            .map_err(|error| wrong("written", error))
    }

    fn pair(&self) -> Result<(&str, &str), Fault> {
        match self.names.as_slice() {
            [primary, fallback, ..] => Ok((primary, fallback)),
            _ => Err(wrong("used", "[provider] names no second one")),
        }
    }

    fn attestation(&self) -> Result<String, Fault> {
        let (from, to) = self.pair()?;
        Ok(format!("attestations/{}", Attestations::file_name(&self.contract, from, to)))
    }

    /// Attests that the second provider may stand in for the first, as the files are now. Returns when that ends.
    pub(super) fn issue(&self, valid: Duration, signer: Signer) -> Result<Timestamp, Fault> {
        let (from, to) = self.pair()?;
        let read = |error: &dyn std::fmt::Display| wrong("read", error.to_string());
        let contract = contract::load(&self.path("contract.toml")).map_err(|error| read(&error))?;
        let providers =
            provider::load_providers(&self.path("providers.toml")).map_err(|error| read(&error))?;
        let dialects = Catalogue::embedded().map_err(|error| read(&error))?;
        let dialect = dialects.get("plain").map_err(|error| read(&error))?;
        let facts = JobFacts::of(&contract, &providers[to], &dialect)
            .map_err(|error| read(&error))?
            .with_primary(&providers[from]);
        let figures = run::Figures {
            samples: SAMPLES,
            passed: SAMPLES,
            lower_bound: statistics::lower_bound(SAMPLES, SAMPLES),
            upper_bound: 1.0,
            bar: facts.bar,
            ..run::Figures::default()
        };
        let stranger;
        let key = match signer {
            Signer::Trusted => &self.key,
            Signer::Stranger => {
                stranger = SigningKey::generate().map_err(|error| wrong("made", error))?.0;
                &stranger
            }
        };
        let key = SigningKey::from_pem(key, "a throw-away key").map_err(|error| wrong("used", error))?;
        let issued = Timestamp::now();
        let valid = SignedDuration::try_from(valid).map_err(|error| wrong("made", error))?;
        let expires = issued.checked_add(valid).map_err(|error| wrong("made", error))?;
        let attested = facts.attested((from, to), &figures, (issued, expires));
        let text = serde_json::to_string_pretty(&sign(&attested.statement(&[]), &key))
            .map_err(|error| wrong("made", error))?;
        self.write(&self.attestation()?, &text)?;
        Ok(expires)
    }

    /// Changes one character of the attestation's payload.
    pub(super) fn spoil(&self) -> Result<(), Fault> {
        const PAYLOAD: &str = "\"payload\": \"";
        let name = self.attestation()?;
        let mut text = self.read(&name)?;
        let at =
            text.find(PAYLOAD).ok_or_else(|| wrong("spoilt", "it has no payload"))? + PAYLOAD.len() + 100;
        let other = if text[at..].starts_with('A') { "B" } else { "A" };
        text.replace_range(at..=at, other);
        self.write(&name, &text)
    }

    /// Takes the attestation away.
    pub(super) fn withdraw(&self) -> Result<(), Fault> {
        std::fs::remove_file(self.path(&self.attestation()?)).map_err(|error| wrong("taken away", error))
    }

    /// Suspends the permission, as a drift check does.
    pub(super) fn suspend(&self) -> Result<(), Fault> {
        let (_, to) = self.pair()?;
        let suspension = Suspension {
            contract: self.contract.clone(),
            provider: to.to_owned(),
            since: Timestamp::now(),
            reason: "the scenario wants it".to_owned(),
        };
        suspension.save(&self.attestations()).map_err(|error| wrong("written", error))
    }

    /// Changes one byte of a part. False where there is no such part.
    pub(super) fn change(&self, part: &str) -> Result<bool, Fault> {
        let Some((_, name, edition)) = PARTS.iter().find(|(one, ..)| *one == part) else { return Ok(false) };
        let text = self.read(name)?;
        self.write(name, &text.replace(&format!("{edition}1"), &format!("{edition}2")))?;
        Ok(true)
    }

    /// The parts that can be changed.
    pub(super) fn parts() -> String {
        PARTS.map(|(part, ..)| part).join(", ")
    }

    fn read(&self, name: &str) -> Result<String, Fault> {
        std::fs::read_to_string(self.path(name)).map_err(|error| wrong("read", error))
    }
}

impl Drop for Proof {
    fn drop(&mut self) {
        remove(self.folder.path());
        self.leash.release_dir(self.folder.path());
    }
}

/// What can't be removed now is the watchdog's.
fn remove(folder: &Path) {
    let _ = std::fs::remove_dir_all(folder);
}

fn wrong(how: &str, error: impl std::fmt::Display) -> Fault {
    Fault::new(
        Code::FaultFailed,
        format!("what lets jobs move could not be {how}: {error}"),
        "check that the folder for temporary files can be written to",
    )
}
