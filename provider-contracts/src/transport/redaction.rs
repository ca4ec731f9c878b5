//! Secrets never reach a file.

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

/// The values that must not be written anywhere.
#[derive(Clone, Default)]
pub struct Secrets(Vec<String>);

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Secrets({})", self.0.len())
    }
}

impl Secrets {
    /// These values; ones too short to be a secret are left out, because they would redact ordinary words.
    #[must_use]
    pub fn new(values: impl IntoIterator<Item = String>) -> Self {
        Self(values.into_iter().filter(|value| value.len() >= 6).collect())
    }

    /// Whether any of them stands in `text`.
    #[must_use]
    pub fn occurs_in(&self, text: &str) -> bool {
        self.0.iter().any(|secret| text.contains(secret.as_str()))
    }

    /// Adds others.
    pub fn extend(&mut self, others: Self) {
        self.0.extend(others.0);
    }

    /// The same text with every secret taken out.
    #[must_use]
    pub fn redact(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, secret| text.replace(secret.as_str(), REDACTED))
    }

    /// The same header with its secret taken out.
    #[must_use]
    pub fn redact_header(&self, name: &str, value: &str) -> (String, String) {
        let value = if is_secret_header(name) { REDACTED.to_owned() } else { self.redact(value) };
        (name.to_lowercase(), value)
    }
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
}
