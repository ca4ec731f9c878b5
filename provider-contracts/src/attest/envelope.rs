//! DSSE: the signature is over the payload's type and its exact bytes, so nothing has to be canonical.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::key::{SigningKey, TrustedKeys};

/// The only payload that is accepted.
const PAYLOAD_TYPE: &str = "application/vnd.in-toto+json";

/// A DSSE envelope.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Envelope {
    /// `application/vnd.in-toto+json`.
    pub payload_type: String,
    /// The statement's bytes in base64.
    pub payload: String,
    /// The signatures.
    pub signatures: Vec<Signature>,
}

/// One signature.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signature {
    /// SHA-256 of the public key.
    pub keyid: String,
    /// The signature in base64.
    pub sig: String,
}

/// An envelope proves nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VerifyError {
    /// It is no envelope.
    #[error("not a DSSE envelope: {0}")]
    Malformed(String),
    /// It carries something else.
    #[error("the payload is `{0}` and not an in-toto statement")]
    PayloadType(String),
    /// No signature is by a key that is trusted.
    #[error("signed by {0}, which is not among the trusted keys")]
    UnknownKey(String),
    /// The content is not what was signed.
    #[error("the signature does not fit the content: it was changed after it was signed")]
    Signature,
}

/// What is signed: type and payload with their lengths, so that neither can pass for the other.
fn pre_authentication(payload: &[u8]) -> Vec<u8> {
    let mut message = format!("DSSEv1 {} {PAYLOAD_TYPE} {} ", PAYLOAD_TYPE.len(), payload.len()).into_bytes();
    message.extend_from_slice(payload);
    message
}

/// Signs a statement.
#[must_use]
pub fn sign(statement: &Value, key: &SigningKey) -> Envelope {
    let payload = statement.to_string().into_bytes();
    let signature = key.sign(&pre_authentication(&payload));
    Envelope {
        payload_type: PAYLOAD_TYPE.to_owned(),
        payload: STANDARD.encode(&payload),
        signatures: vec![Signature { keyid: key.id(), sig: STANDARD.encode(signature) }],
    }
}

/// The statement in an envelope and the key that signed it, if a trusted one did.
///
/// # Errors
/// Why it proves nothing.
pub fn verify(text: &str, keys: &TrustedKeys) -> Result<(Value, String), VerifyError> {
    let envelope: Envelope =
        serde_json::from_str(text).map_err(|error| VerifyError::Malformed(error.to_string()))?;
    if envelope.payload_type != PAYLOAD_TYPE {
        return Err(VerifyError::PayloadType(envelope.payload_type));
    }
    let payload =
        STANDARD.decode(&envelope.payload).map_err(|error| VerifyError::Malformed(error.to_string()))?;
    let message = pre_authentication(&payload);
    let mut seen = Vec::new();
    for signature in &envelope.signatures {
        let bytes = STANDARD.decode(&signature.sig).unwrap_or_default();
        match keys.verifies(&signature.keyid, &message, &bytes) {
            Some(true) => {
                let statement = serde_json::from_slice(&payload)
                    .map_err(|error| VerifyError::Malformed(error.to_string()))?;
                return Ok((statement, signature.keyid.clone()));
            }
            Some(false) => return Err(VerifyError::Signature),
            None => seen.push(signature.keyid.clone()),
        }
    }
    let who = if seen.is_empty() { "nobody".to_owned() } else { seen.join(", ") };
    Err(VerifyError::UnknownKey(who))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn key() -> (SigningKey, TrustedKeys) {
        let (private, public) = SigningKey::generate().unwrap();
        let mut trusted = TrustedKeys::default();
        trusted.add(&public, "test").unwrap();
        (SigningKey::from_pem(&private, "test").unwrap(), trusted)
    }

    #[test]
    fn every_changed_byte_of_an_envelope_is_noticed() {
        let (key, trusted) = key();
        let text = serde_json::to_string(&sign(&json!({"a": 1}), &key)).unwrap();
        assert!(verify(&text, &trusted).is_ok());
        for at in 0..text.len() {
            let mut bytes = text.clone().into_bytes();
            bytes[at] ^= 1;
            let Ok(changed) = String::from_utf8(bytes) else { continue };
            let read = verify(&changed, &trusted);
            // The last characters of base64 may carry bits that mean nothing; the content is then the same.
            assert!(read.is_err() || read.unwrap().0 == json!({"a": 1}), "byte {at}");
        }
    }

    #[test]
    fn another_key_is_named() {
        let (key, _) = key();
        let (_, other) = self::key();
        let text = serde_json::to_string(&sign(&json!({}), &key)).unwrap();
        assert_eq!(verify(&text, &other), Err(VerifyError::UnknownKey(key.id())));
    }

    #[test]
    fn the_signature_covers_type_and_lengths() {
        assert_eq!(pre_authentication(b"ab"), b"DSSEv1 28 application/vnd.in-toto+json 2 ab");
    }
}
