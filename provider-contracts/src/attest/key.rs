//! Ed25519 keys in the files that OpenSSL writes.

use std::collections::BTreeMap;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::rand::SystemRandom;
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};

use crate::contract::sha256_hex;
use crate::file::{FileError, read_text};

/// What comes before the 32 bytes of a public key in a `SubjectPublicKeyInfo` (RFC 8410).
const SPKI: [u8; 12] = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];

/// A key can't be used.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The file can't be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// It is something else.
    #[error(
        "OJ7030: {place} holds no Ed25519 {kind} in PEM\nhelp: `openssl genpkey -algorithm ed25519 -out key.pem` makes one, `openssl pkey -in key.pem -pubout -out key.pub.pem` its public half"
    )]
    NotAKey {
        /// The file or variable.
        place: String,
        /// Which half was wanted.
        kind: &'static str,
    },
    /// The system gives no random numbers.
    #[error("OJ7031: the system gives no random numbers")]
    Random,
}

/// The half that signs.
pub struct SigningKey {
    pair: Ed25519KeyPair,
}

impl SigningKey {
    /// Reads a private key (PKCS#8 in PEM).
    ///
    /// # Errors
    /// When it is none. The key's content is never part of the message.
    pub fn from_pem(text: &str, place: &str) -> Result<Self, KeyError> {
        let wrong = || KeyError::NotAKey { place: place.to_owned(), kind: "private key" };
        let der = unwrap(text, "PRIVATE KEY").ok_or_else(wrong)?;
        let pair = Ed25519KeyPair::from_pkcs8_maybe_unchecked(&der).map_err(|_| wrong())?;
        Ok(Self { pair })
    }

    /// Reads the key from the file `path`.
    ///
    /// # Errors
    /// When there is none.
    pub fn load(path: &Path) -> Result<Self, KeyError> {
        Self::from_pem(&read_text(path)?, &path.display().to_string())
    }

    /// Makes a key pair: private and public half, both in PEM.
    ///
    /// # Errors
    /// When the system gives no random numbers.
    pub fn generate() -> Result<(String, String), KeyError> {
        let document = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).map_err(|_| KeyError::Random)?;
        let pair = Ed25519KeyPair::from_pkcs8(document.as_ref()).map_err(|_| KeyError::Random)?;
        Ok((wrap(document.as_ref(), "PRIVATE KEY"), public_pem(pair.public_key().as_ref())))
    }

    /// The public half in PEM.
    #[must_use]
    pub fn public_pem(&self) -> String {
        public_pem(self.pair.public_key().as_ref())
    }

    /// SHA-256 of the public half.
    #[must_use]
    pub fn id(&self) -> String {
        sha256_hex(self.pair.public_key().as_ref())
    }

    pub(super) fn sign(&self, message: &[u8]) -> Vec<u8> {
        self.pair.sign(message).as_ref().to_vec()
    }
}

fn public_pem(public: &[u8]) -> String {
    wrap(&[&SPKI, public].concat(), "PUBLIC KEY")
}

/// Public halves by id.
#[derive(Clone, Debug, Default)]
pub struct TrustedKeys(BTreeMap<String, Vec<u8>>);

impl TrustedKeys {
    /// Adds the public keys (PEM) in `text`; returns how many there were.
    ///
    /// # Errors
    /// When there is none.
    pub fn add(&mut self, text: &str, place: &str) -> Result<usize, KeyError> {
        let mut added = 0;
        for block in text.split("-----BEGIN ").skip(1) {
            let block = format!("-----BEGIN {block}");
            let Some(der) = unwrap(&block, "PUBLIC KEY") else { continue };
            if let Some(public) = der.strip_prefix(&SPKI).filter(|public| public.len() == 32) {
                self.0.insert(sha256_hex(public), public.to_vec());
                added += 1;
            }
        }
        if added == 0 {
            return Err(KeyError::NotAKey { place: place.to_owned(), kind: "public key" });
        }
        Ok(added)
    }

    /// Reads the keys in the file `path`.
    ///
    /// # Errors
    /// When there is none.
    pub fn load(path: &Path) -> Result<Self, KeyError> {
        let mut keys = Self::default();
        keys.add(&read_text(path)?, &path.display().to_string())?;
        Ok(keys)
    }

    /// Whether `signature` over `message` is by the key `id`; `None` when the key is not trusted.
    pub(super) fn verifies(&self, id: &str, message: &[u8], signature: &[u8]) -> Option<bool> {
        let public = self.0.get(id)?;
        Some(UnparsedPublicKey::new(&ED25519, public).verify(message, signature).is_ok())
    }
}

fn unwrap(text: &str, label: &str) -> Option<Vec<u8>> {
    let (_, rest) = text.split_once(&format!("-----BEGIN {label}-----"))?;
    let (body, _) = rest.split_once(&format!("-----END {label}-----"))?;
    let body: String = body.split_whitespace().collect();
    STANDARD.decode(body).ok()
}

fn wrap(der: &[u8], label: &str) -> String {
    let text = STANDARD.encode(der);
    let mut pem = format!("-----BEGIN {label}-----\n");
    let mut rest = text.as_str();
    while !rest.is_empty() {
        let (line, after) = rest.split_at(rest.len().min(64));
        pem.push_str(line);
        pem.push('\n');
        rest = after;
    }
    pem + &format!("-----END {label}-----\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Made with `openssl genpkey -algorithm ed25519`, for this test alone.
    const OPENSSL: &str = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n-----END PRIVATE KEY-----\n";

    #[test]
    fn a_key_of_openssl_and_one_made_here_both_sign() {
        let (private, public) = SigningKey::generate().unwrap();
        for pem in [OPENSSL, &private] {
            let key = SigningKey::from_pem(pem, "test").unwrap();
            let mut trusted = TrustedKeys::default();
            trusted.add(&key.public_pem(), "test").unwrap();
            let signature = key.sign(b"message");
            assert_eq!(trusted.verifies(&key.id(), b"message", &signature), Some(true));
            assert_eq!(trusted.verifies(&key.id(), b"massage", &signature), Some(false));
            assert_eq!(trusted.verifies("other", b"message", &signature), None);
        }
        assert_eq!(SigningKey::from_pem(&private, "test").unwrap().public_pem(), public);
    }

    #[test]
    fn an_error_never_shows_the_key() {
        let damaged = OPENSSL.replace("MC4C", "AAAA");
        let message = SigningKey::from_pem(&damaged, "key.pem").err().unwrap().to_string();
        assert!(message.contains("key.pem") && !message.contains("INTuctv5"));
    }
}
