use std::fmt::Write as _;

use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD},
};

/// The ways in which a value is written on its way through a request, a log or a command; none for an empty value.
pub(super) fn encodings(value: &str) -> Vec<String> {
    if value.is_empty() {
        return Vec::new();
    }
    let json = serde_json::Value::from(value).to_string();
    let mut all = vec![
        value.to_owned(),
        json[1..json.len() - 1].to_owned(),
        value.replace('\'', r"'\''"),
        percent(value, false),
        percent(value, true),
        percent(value, false).replace("%20", "+"),
        value.escape_debug().to_string(),
    ];
    // A value of one or two characters has a base64 form that is in every other word.
    if value.len() >= 6 {
        all.extend([
            STANDARD.encode(value),
            STANDARD_NO_PAD.encode(value),
            URL_SAFE.encode(value),
            URL_SAFE_NO_PAD.encode(value),
        ]);
        all.extend(inner_base64(value));
    }
    all.retain(|written| !written.is_empty());
    all
}

/// Percent-encoding of everything but unreserved characters.
fn percent(value: &str, lower: bool) -> String {
    let mut encoded = String::with_capacity(value.len() * 3);
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else if lower {
            // A String takes whatever is written to it.
            _ = write!(encoded, "%{byte:02x}");
        } else {
            _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

/// The middle of the value's base64 form when one or two bytes stand before it, as in `user:password`.
///
/// Base64 writes three bytes as four characters: what stands before shifts it in three ways, and the characters at both
/// ends depend on the neighbours, so they are left out.
fn inner_base64(value: &str) -> Vec<String> {
    (0..3)
        .filter_map(|before| {
            let mut bytes = vec![0; before];
            bytes.extend_from_slice(value.as_bytes());
            let whole = bytes.len() / 3 * 3;
            let encoded = STANDARD.encode(&bytes[..whole]);
            let own = encoded.get(if before == 0 { 0 } else { 4 }..)?;
            (own.len() >= 8).then(|| own.to_owned())
        })
        .flat_map(|standard| [standard.replace('+', "-").replace('/', "_"), standard])
        .collect()
}
