//! What the calls of one run are known by.

use std::fmt;
use std::fmt::Write as _;

use ring::rand::{SecureRandom as _, SystemRandom};

/// Tells runs apart. A provider that recognises work by the name that its sender gives it would answer a second run with
/// the answers of the first, and a drift would never show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunId(u64);

impl RunId {
    /// The run that stands in cassettes: a recording must not differ from the next one by a number.
    pub const RECORDED: Self = Self(0);

    /// A run like no other.
    #[must_use]
    pub fn fresh() -> Self {
        let mut bytes = [0; 8];
        // Without random numbers the clock has to tell runs apart.
        if SystemRandom::new().fill(&mut bytes).is_err() {
            let now = jiff::Timestamp::now().as_nanosecond();
            bytes.copy_from_slice(&now.to_le_bytes()[..8]);
        }
        Self(u64::from_le_bytes(bytes) | 1)
    }

    /// What a sample is known by. Letters, digits, dots, dashes and underscores stand for themselves, and everything else
    /// is escaped: the name of a case may hold what no header may.
    #[must_use]
    pub fn reference(self, case: &str, sample: &str) -> String {
        let mut reference = format!("{self}-");
        for byte in case.bytes() {
            if byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_') {
                reference.push(char::from(byte));
            } else {
                // Writing to a String can't fail.
                let _ = write!(reference, "%{byte:02X}");
            }
        }
        reference.push('-');
        reference + sample
    }
}

impl Default for RunId {
    fn default() -> Self {
        Self::RECORDED
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_differ_and_names_never_meet() {
        assert_ne!(RunId::fresh(), RunId::fresh());
        assert_ne!(RunId::fresh(), RunId::RECORDED);
        let name = |case| RunId::RECORDED.reference(case, "0");
        assert_eq!(name("acme"), "0000000000000000-acme-0");
        assert_eq!(name("a b\n"), "0000000000000000-a%20b%0A-0");
        assert_ne!(name("a b"), name("a%20b"));
    }
}
