//! Values that no output may show.

use std::fmt;

/// Secret values: of the variables named in `secrets`, and what authenticates owners. Shows itself as a count only.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Hidden(Vec<String>);

impl Hidden {
    /// Adds a value. Empty ones hide nothing and are left out.
    pub fn add(&mut self, value: &str) {
        if !value.is_empty() && !self.0.iter().any(|known| known == value) {
            self.0.push(value.to_owned());
            // The longest first: a secret that contains another must not leave its rest behind.
            self.0.sort_by_key(|known| std::cmp::Reverse(known.len()));
        }
    }

    /// The values, the longest first.
    #[must_use]
    pub fn values(&self) -> &[String] {
        &self.0
    }

    /// The text with every secret replaced by `***`.
    #[must_use]
    pub fn redact(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, secret| text.replace(secret.as_str(), "***"))
    }
}

impl fmt::Debug for Hidden {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Hidden({} values)", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::Hidden;

    #[test]
    fn a_secret_within_a_secret_leaves_no_rest() {
        let mut hidden = Hidden::default();
        for secret in ["abc", "abcdef", "", "abc"] {
            hidden.add(secret);
        }
        assert_eq!(hidden.redact("x abcdef y abc z"), "x *** y *** z");
        assert_eq!(hidden.values().len(), 2);
    }

    #[test]
    fn debug_output_tells_nothing() {
        let mut hidden = Hidden::default();
        hidden.add("s3cret");
        assert!(!format!("{hidden:?}").contains("s3cret"));
    }
}
