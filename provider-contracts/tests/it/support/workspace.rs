//! A folder with a contract, a schema and providers, read by the same code that reads a user's.

use std::path::Path;

use onejob_contracts::contract::{self, Contract};
use onejob_contracts::dialect::{Catalogue, Dialect};
use onejob_contracts::file::FileError;
use onejob_contracts::provider::{Provider, load_providers};
use std::sync::Arc;
use tempfile::TempDir;

/// An invoice that meets the schema.
pub(crate) const INVOICE: &str =
    r#"{"vendor":"ACME","total_cents":1250,"currency":"EUR","due":"2026-03-01","paid_at":null}"#;

const CONTRACT: &str = include_str!("contract.toml");
const SCHEMA: &str = include_str!("invoice.schema.json");
const PROVIDER: &str = include_str!("provider.toml");

pub(crate) struct Workspace {
    pub(crate) folder: TempDir,
}

impl Workspace {
    /// The base contract and provider with `contract` and `provider` merged over them.
    pub(crate) fn new(contract: &toml::Table, provider: &toml::Table) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Self { folder };
        let mut base: toml::Table = CONTRACT.parse().unwrap();
        merge_tables(&mut base, contract);
        workspace.write("contract.toml", &toml::to_string(&base).unwrap());
        let mut base: toml::Table = PROVIDER.parse().unwrap();
        merge_tables(&mut base, provider);
        let mut providers = toml::Table::new();
        providers.insert("fallback".into(), base.into());
        let mut file = toml::Table::new();
        file.insert("provider".into(), providers.into());
        workspace.write("providers.toml", &toml::to_string(&file).unwrap());
        workspace.write("invoice.schema.json", SCHEMA);
        workspace.write("tiny-tokenizer.json", &super::tiny_tokenizer());
        workspace
    }

    pub(crate) fn plain() -> Self {
        Self::new(&toml::Table::new(), &toml::Table::new())
    }

    pub(crate) fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    pub(crate) fn contract(&self) -> Result<Contract, FileError> {
        contract::load(&self.path("contract.toml"))
    }

    pub(crate) fn provider(&self, name: &str) -> (Provider, Arc<Dialect>) {
        let providers =
            load_providers(&self.path("providers.toml")).unwrap_or_else(|error| panic!("{error}"));
        let provider = providers[name].clone();
        let dialect = Catalogue::embedded().unwrap().get(&provider.dialect).unwrap();
        (provider, dialect)
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }
}

/// Merges tables deeply; an empty string in `over` removes the key.
fn merge_tables(base: &mut toml::Table, over: &toml::Table) {
    for (key, value) in over {
        match (base.get_mut(key), value) {
            (_, toml::Value::String(text)) if text.is_empty() => {
                base.remove(key);
            }
            (Some(toml::Value::Table(inner)), toml::Value::Table(over)) => merge_tables(inner, over),
            _ => {
                base.insert(key.clone(), value.clone());
            }
        }
    }
}
