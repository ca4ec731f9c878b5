//! The verdict on a sample, a stage or a whole check.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::Code;

/// What was decided. Written and read as `PASS`, `FAIL(code)`, `BLOCK(code)`, `REFUSED`,
/// `INCONCLUSIVE(code)` or `UNKNOWN(code)`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Verdict {
    /// The contract holds.
    Pass,
    /// The contract is broken; counts against the pass rate.
    Fail(Code),
    /// Known to be broken before any call was made.
    Block(Code),
    /// The model declined. Counts against the refusal rate, never as a schema error.
    Refused,
    /// Infrastructure stood in the way: says nothing about the provider's contract.
    Inconclusive(Code),
    /// A request was sent and nobody knows what became of it.
    Unknown(Code),
}

impl Verdict {
    /// A failure with a code known at compile time.
    #[must_use]
    pub const fn fail(code: &'static str) -> Self {
        Self::Fail(Code::new(code))
    }

    /// A static failure with a code known at compile time.
    #[must_use]
    pub const fn block(code: &'static str) -> Self {
        Self::Block(Code::new(code))
    }

    /// An infrastructure fault with a code known at compile time.
    #[must_use]
    pub const fn inconclusive(code: &'static str) -> Self {
        Self::Inconclusive(Code::new(code))
    }

    /// An unknown outcome with a code known at compile time.
    #[must_use]
    pub const fn unknown(code: &'static str) -> Self {
        Self::Unknown(Code::new(code))
    }

    /// The code, where the verdict has one.
    #[must_use]
    pub fn code(&self) -> Option<&Code> {
        match self {
            Self::Pass | Self::Refused => None,
            Self::Fail(code) | Self::Block(code) | Self::Inconclusive(code) | Self::Unknown(code) => {
                Some(code)
            }
        }
    }

    /// Whether the contract was met.
    #[must_use]
    pub fn is_pass(&self) -> bool {
        matches!(self, Self::Pass)
    }

    /// The exit code of a command that ends with this verdict: 0, 1 or 3.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Pass => 0,
            Self::Fail(_) | Self::Block(_) | Self::Refused => 1,
            Self::Inconclusive(_) | Self::Unknown(_) => 3,
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pass => f.write_str("PASS"),
            Self::Refused => f.write_str("REFUSED"),
            Self::Fail(code) => write!(f, "FAIL({code})"),
            Self::Block(code) => write!(f, "BLOCK({code})"),
            Self::Inconclusive(code) => write!(f, "INCONCLUSIVE({code})"),
            Self::Unknown(code) => write!(f, "UNKNOWN({code})"),
        }
    }
}

/// The text is no verdict.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no verdict: write PASS, REFUSED, FAIL(code), BLOCK(code), INCONCLUSIVE(code) or UNKNOWN(code)"
)]
pub struct ParseVerdictError(String);

impl FromStr for Verdict {
    type Err = ParseVerdictError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "PASS" => return Ok(Self::Pass),
            "REFUSED" => return Ok(Self::Refused),
            _ => {}
        }
        let wrong = || ParseVerdictError(text.to_owned());
        let (kind, rest) = text.split_once('(').ok_or_else(wrong)?;
        let code = Code::from_text(rest.strip_suffix(')').ok_or_else(wrong)?);
        match kind {
            "FAIL" => Ok(Self::Fail(code)),
            "BLOCK" => Ok(Self::Block(code)),
            "INCONCLUSIVE" => Ok(Self::Inconclusive(code)),
            "UNKNOWN" => Ok(Self::Unknown(code)),
            _ => Err(wrong()),
        }
    }
}

impl From<Verdict> for String {
    fn from(verdict: Verdict) -> Self {
        verdict.to_string()
    }
}

impl TryFrom<String> for Verdict {
    type Error = ParseVerdictError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}
