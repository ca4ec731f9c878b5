//! Signatures of callbacks, in the form of the Standard Webhooks specification: HMAC-SHA256 over
//! `{id}.{timestamp}.{body}`, sent as `webhook-id`, `webhook-timestamp` (seconds since 1970) and
//! `webhook-signature` (`v1,` and the base64 form; several, separated by spaces, while a secret is being replaced).

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

/// A callback as it arrived.
#[derive(Debug, Clone, Copy)]
pub struct Signed<'a> {
    /// The secret shared with the provider.
    pub secret: &'a str,
    /// `webhook-id`: the same however often the event is delivered.
    pub id: &'a str,
    /// `webhook-timestamp`, as received.
    pub timestamp: &'a str,
    /// `webhook-signature`, as received.
    pub signature: &'a str,
    /// The raw body.
    pub body: &'a [u8],
    /// Seconds since 1970, by the receiver's clock.
    pub now: u64,
    /// How far the timestamp may be away.
    pub window: Duration,
}

/// Why a callback is not believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The timestamp is no number.
    #[error("the timestamp of the callback can't be read; send seconds since 1970")]
    Timestamp,
    /// The timestamp is too far away: a replay, or a clock that is wrong.
    #[error("the timestamp of the callback is outside the window; sign again with the current time")]
    Window,
    /// No signature fits.
    #[error("no signature of the callback fits; sign `id.timestamp.body` with the shared secret")]
    Mismatch,
}

fn mac(secret: &str, id: &str, timestamp: &str, body: &[u8]) -> Option<Hmac<Sha256>> {
    // `whsec_` and base64 is the interchange form of a secret; anything else is taken as it is.
    let key = secret
        .strip_prefix("whsec_")
        .and_then(|encoded| BASE64.decode(encoded).ok())
        .unwrap_or_else(|| secret.as_bytes().to_vec());
    let mut mac = Hmac::<Sha256>::new_from_slice(&key).ok()?;
    for part in [id.as_bytes(), b".", timestamp.as_bytes(), b".", body] {
        mac.update(part);
    }
    Some(mac)
}

/// Signs a callback; gives the value of `webhook-signature`.
#[must_use]
pub fn sign(secret: &str, id: &str, timestamp: u64, body: &[u8]) -> String {
    let signed = mac(secret, id, &timestamp.to_string(), body).map(|mac| mac.finalize().into_bytes());
    // HMAC takes keys of any length, so there always is a signature.
    format!("v1,{}", signed.map(|bytes| BASE64.encode(bytes)).unwrap_or_default())
}

/// Whether a callback is authentic and fresh. The signature is compared in constant time.
pub fn verify(callback: &Signed<'_>) -> Result<(), Refusal> {
    let told: u64 = callback.timestamp.parse().map_err(|_| Refusal::Timestamp)?;
    if told.abs_diff(callback.now) > callback.window.as_secs() {
        return Err(Refusal::Window);
    }
    callback
        .signature
        .split_ascii_whitespace()
        .filter_map(|one| one.strip_prefix("v1,"))
        .filter_map(|one| BASE64.decode(one).ok())
        .any(|one| {
            mac(callback.secret, callback.id, callback.timestamp, callback.body)
                .is_some_and(|mac| mac.verify_slice(&one).is_ok())
        })
        .then_some(())
        .ok_or(Refusal::Mismatch)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn callback<'a>(signature: &'a str, timestamp: &'a str) -> Signed<'a> {
        Signed {
            secret: "s3cret",
            id: "evt-1",
            timestamp,
            signature,
            body: b"{}",
            now: 1_000_000,
            window: Duration::from_mins(5),
        }
    }

    #[test]
    fn a_signed_callback_is_believed_within_the_window() {
        let signature = sign("s3cret", "evt-1", 999_900, b"{}");
        assert_eq!(verify(&callback(&signature, "999900")), Ok(()));
        let both = format!("v1,AAAA {signature}");
        assert_eq!(verify(&callback(&both, "999900")), Ok(()));
    }

    #[test]
    fn whatever_was_signed_can_not_be_changed() {
        let signature = sign("s3cret", "evt-1", 999_900, b"{}");
        let good = callback(&signature, "999900");
        for forged in [
            Signed { id: "evt-2", ..good },
            Signed { body: b"{ }", ..good },
            Signed { timestamp: "999901", ..good },
            Signed { secret: "other", ..good },
            Signed { signature: "", ..good },
            Signed { signature: "v1,", ..good },
            Signed { signature: &signature[3..], ..good },
        ] {
            assert_eq!(verify(&forged), Err(Refusal::Mismatch), "{forged:?}");
        }
    }

    #[test]
    fn an_old_or_unreadable_timestamp_is_refused_though_signed() {
        for (told, refusal) in [(999_699, Refusal::Window), (1_000_301, Refusal::Window)] {
            let signature = sign("s3cret", "evt-1", told, b"{}");
            assert_eq!(verify(&callback(&signature, &told.to_string())), Err(refusal));
        }
        assert_eq!(verify(&callback("v1,AAAA", "soon")), Err(Refusal::Timestamp));
    }

    /// The example of the specification.
    #[test]
    fn the_signature_is_that_of_standard_webhooks() {
        let signature = sign(
            "whsec_plJ3nmyCDGBKInavdOK15jsl",
            "msg_loFOjxBNrRLzqYUf",
            1_731_705_121,
            br#"{"event_type":"ping","data":{"success":true}}"#,
        );
        assert_eq!(signature, "v1,rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0=");
    }
}
