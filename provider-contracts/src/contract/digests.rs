//! What an attestation is bound to.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::Contract;

/// SHA-256 of everything whose change voids a proof, in lower-case hexadecimal, by name: `contract`, `prompt`,
/// `schema`, and for each provider also `template` and `tokenizer`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Digests(pub BTreeMap<String, String>);

impl Digests {
    /// The digests of a contract alone. They are over bytes: a changed comment is a changed contract, because nobody
    /// can tell by machine which change is harmless.
    #[must_use]
    pub fn of(contract: &Contract) -> Self {
        let mut prompt = Vec::new();
        for turn in &contract.spec.prompt.messages {
            prompt.extend([turn.role.as_bytes(), b"\0", turn.content.as_bytes(), b"\0"].concat());
        }
        let mut digests = Self::default();
        digests.add("contract", contract.source.as_bytes());
        digests.add("prompt", &prompt);
        if let Some(text) = &contract.cases_source {
            digests.add("cases", text.as_bytes());
        }
        if let Some(text) = &contract.schema_source {
            digests.add("schema", text.as_bytes());
        }
        digests
    }

    /// Adds the digest of `bytes` under `name`.
    pub fn add(&mut self, name: &str, bytes: &[u8]) {
        self.0.insert(name.to_owned(), sha256_hex(bytes));
    }

    /// Names whose digests differ or that only one side has, in order.
    #[must_use]
    pub fn differing<'a>(&'a self, other: &'a Self) -> Vec<&'a str> {
        let mut names: Vec<&str> = self.0.keys().chain(other.0.keys()).map(String::as_str).collect();
        names.sort_unstable();
        names.dedup();
        names.retain(|name| self.0.get(*name) != other.0.get(*name));
        names
    }
}

/// SHA-256 in lower-case hexadecimal.
#[must_use]
pub fn sha256_hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |all, byte| all + &format!("{byte:02x}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_named_on_either_side() {
        let mut a = Digests::default();
        let mut b = Digests::default();
        a.add("contract", b"x");
        b.add("contract", b"x");
        a.add("schema", b"1");
        b.add("schema", b"2");
        b.add("template", b"t");
        assert_eq!(a.differing(&b), ["schema", "template"]);
    }

    #[test]
    fn the_digest_of_nothing_is_the_known_one() {
        assert!(sha256_hex(b"").starts_with("e3b0c44298fc1c14"));
    }
}
