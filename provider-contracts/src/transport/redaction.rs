//! Secrets never reach a file.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::RunId;

/// What stands where a secret was.
const REDACTED: &str = "[redacted]";

/// Whether a header carries a secret by its nature.
#[must_use]
pub fn is_secret_header(name: &str) -> bool {
    let name = name.to_lowercase();
    matches!(
        name.as_str(),
        "authorization"
            | "proxy-authorization"
            | "api-key"
            | "x-api-key"
            | "x-goog-api-key"
            | "cookie"
            | "set-cookie"
            | "x-amz-security-token"
            | "x-amz-content-sha256"
            | "x-amz-date"
            | "openai-organization"
            | "openai-project"
    ) || name.contains("token") && !name.contains("ratelimit")
        || name.contains("secret")
}

/// Whether a member of a body, or a parameter of a query, carries a secret by its name.
#[must_use]
pub fn is_secret_member(name: &str) -> bool {
    let name: String = name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase();
    matches!(name.as_str(), "key" | "sig" | "token" | "auth" | "pwd" | "jwt")
        || [
            "apikey",
            "secret",
            "password",
            "passwd",
            "authorization",
            "credential",
            "signature",
            "privatekey",
        ]
        .iter()
        .any(|word| name.contains(word))
        || [
            "accesstoken",
            "refreshtoken",
            "idtoken",
            "authtoken",
            "bearertoken",
            "securitytoken",
            "sessiontoken",
        ]
        .iter()
        .any(|word| name.ends_with(word))
}

/// The values that must not be written anywhere, in each form in which they may stand in a text.
#[derive(Clone, Default)]
pub struct Secrets {
    values: Vec<String>,
    run: Option<RunId>,
}

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Secrets({})", self.values.len())
    }
}

impl Secrets {
    /// These values; ones too short to be a secret are left out, because they would redact ordinary words.
    #[must_use]
    pub fn new(values: impl IntoIterator<Item = String>) -> Self {
        let mut forms: Vec<String> =
            values.into_iter().filter(|value| value.len() >= 6).flat_map(forms).collect();
        // One secret may be the beginning of another: the longer one goes first, or its end would stay.
        forms.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        forms.dedup();
        Self { values: forms, run: None }
    }

    /// The same, and the name of this run gives way to that of every recorded one.
    #[must_use]
    pub fn of_run(mut self, run: RunId) -> Self {
        self.run = Some(run).filter(|run| *run != RunId::RECORDED);
        self
    }

    /// Whether any of them stands in `bytes`.
    #[must_use]
    pub fn occurs_in(&self, bytes: &[u8]) -> bool {
        self.values.iter().any(|secret| find(bytes, secret.as_bytes()).is_some())
    }

    /// Adds others.
    pub fn extend(&mut self, others: Self) {
        let run = self.run.or(others.run);
        *self = Self { run, ..Self::new(std::mem::take(&mut self.values).into_iter().chain(others.values)) };
    }

    /// The same text with every secret taken out.
    #[must_use]
    pub fn redact(&self, text: &str) -> String {
        let text =
            self.values.iter().fold(text.to_owned(), |text, secret| text.replace(secret.as_str(), REDACTED));
        match self.run {
            Some(run) => text.replace(&run.to_string(), &RunId::RECORDED.to_string()),
            None => text,
        }
    }

    /// The same bytes. What is no text keeps its length, because formats that are no text count their bytes.
    #[must_use]
    pub fn redact_bytes(&self, bytes: &[u8]) -> Vec<u8> {
        if let Ok(text) = std::str::from_utf8(bytes) {
            return self.redact(text).into_bytes();
        }
        let mut bytes = bytes.to_vec();
        for secret in &self.values {
            while let Some(at) = find(&bytes, secret.as_bytes()) {
                bytes[at..at + secret.len()].fill(b'*');
            }
        }
        bytes
    }

    /// The same header with its secret taken out.
    #[must_use]
    pub fn redact_header(&self, name: &str, value: &str) -> (String, String) {
        let value = if is_secret_header(name) { REDACTED.to_owned() } else { self.redact(value) };
        (name.to_lowercase(), value)
    }

    /// The same document with every secret taken out: those that are known by their value, and texts whose member says by
    /// its name that they are one.
    #[must_use]
    pub fn redact_document(&self, document: &Value) -> Value {
        match document {
            Value::String(text) => Value::String(self.redact(text)),
            Value::Array(items) => {
                Value::Array(items.iter().map(|item| self.redact_document(item)).collect())
            }
            Value::Object(members) => {
                let redacted = members.iter().map(|(name, value)| {
                    let secret = value.is_string() && is_secret_member(name);
                    let value = if secret { json!(REDACTED) } else { self.redact_document(value) };
                    (self.redact(name), value)
                });
                Value::Object(redacted.collect())
            }
            other => other.clone(),
        }
    }

    /// The same URL without a user's password, and without parameters that carry a secret by their name.
    #[must_use]
    pub fn redact_url(&self, url: &str) -> String {
        let mut url = self.redact(url);
        if let Some((scheme, rest)) = url.split_once("://") {
            let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
            if let Some(at) = rest[..end].rfind('@') {
                url = format!("{scheme}://{REDACTED}{}", &rest[at..]);
            }
        }
        let Some((path, query)) = url.split_once('?') else { return url };
        let parameters = query.split('&').map(|parameter| match parameter.split_once('=') {
            Some((name, _)) if is_secret_member(name) => format!("{name}={REDACTED}"),
            _ => parameter.to_owned(),
        });
        format!("{path}?{}", parameters.collect::<Vec<_>>().join("&"))
    }
}

/// A secret as it is, inside of JSON, and inside of a URL.
fn forms(value: String) -> Vec<String> {
    let json = json!(value).to_string();
    let escaped = json[1..json.len() - 1].to_owned();
    let mut encoded = String::with_capacity(value.len());
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_' | b'~') {
            encoded.push(char::from(byte));
        } else {
            // Writing to a String can't fail.
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    vec![value, escaped, encoded]
}

fn find(bytes: &[u8], part: &[u8]) -> Option<usize> {
    bytes.windows(part.len()).position(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_go_wherever_they_stand() {
        let secrets = Secrets::new(["sk-123456".to_owned(), "a".to_owned()]);
        assert_eq!(secrets.redact("key=sk-123456&a=1"), "key=[redacted]&a=1");
        assert_eq!(secrets.redact_header("X-Echo", "sk-123456"), ("x-echo".into(), "[redacted]".into()));
        for name in ["Authorization", "X-Api-Key", "x-goog-api-key", "Set-Cookie", "X-Auth-Token"] {
            assert_eq!(secrets.redact_header(name, "v").1, REDACTED, "{name}");
        }
        assert_eq!(secrets.redact_header("x-ratelimit-remaining-tokens", "5").1, "5");
        assert!(!format!("{secrets:?}").contains("sk-"));
    }

    #[test]
    fn a_secret_is_found_in_whatever_form_it_stands() {
        let secrets =
            Secrets::new(["p\"ss/w rd".to_owned(), "sk-12345678".to_owned(), "sk-123456".to_owned()]);
        for text in ["p\"ss/w rd", "{\"e\":\"p\\\"ss/w rd\"}", "?q=p%22ss%2Fw%20rd", "sk-12345678"] {
            let redacted = secrets.redact(text);
            assert!(
                redacted.contains(REDACTED) && !redacted.contains("ss") && !redacted.contains("78"),
                "{redacted}"
            );
        }
        let binary = secrets.redact_bytes(b"\x00\xffsk-123456\xfe");
        assert_eq!(binary, b"\x00\xff*********\xfe");
    }

    #[test]
    fn members_and_parameters_that_are_secret_by_name_are_taken_out() {
        let secrets = Secrets::default();
        let body = json!({"api_key": "a", "model": "m", "max_tokens": 5, "key": "k", "metadata": {"Client-Secret": "s"},
            "messages": [{"content": "what is a token?"}], "seed": 1, "access_token": "t", "keywords": "w"});
        let redacted = secrets.redact_document(&body);
        let wanted = json!({"api_key": REDACTED, "model": "m", "max_tokens": 5, "key": REDACTED,
            "metadata": {"Client-Secret": REDACTED}, "messages": [{"content": "what is a token?"}], "seed": 1,
            "access_token": REDACTED, "keywords": "w"});
        assert_eq!(redacted, wanted);
        assert_eq!(
            secrets.redact_url("https://u:p@h/x?api-version=1&key=abc&sig=d#f"),
            "https://[redacted]@h/x?api-version=1&key=[redacted]&sig=[redacted]"
        );
        assert_eq!(secrets.redact_url("http://h/a@b"), "http://h/a@b");
    }

    #[test]
    fn the_name_of_a_run_gives_way_to_that_of_every_recorded_one() {
        let run = RunId::fresh();
        let secrets = Secrets::default().of_run(run);
        assert_eq!(secrets.redact(&run.reference("a", "0")), RunId::RECORDED.reference("a", "0"));
    }
}
