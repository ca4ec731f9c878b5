//! The name of a fault.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

/// A fault's name: a family, and after a colon what narrows it down, as in `schema:type`.
///
/// Families are stable: scripts and dashboards may depend on them. Details may be added.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Code(Cow<'static, str>);

impl Code {
    /// A code known at compile time.
    #[must_use]
    pub const fn new(text: &'static str) -> Self {
        Self(Cow::Borrowed(text))
    }

    /// A family narrowed down by `detail`.
    #[must_use]
    pub fn with(family: &str, detail: &str) -> Self {
        Self(Cow::Owned(format!("{family}:{detail}")))
    }

    /// A code read from a file.
    #[must_use]
    pub fn from_text(text: &str) -> Self {
        Self(Cow::Owned(text.to_owned()))
    }

    /// The part before the colon.
    #[must_use]
    pub fn family(&self) -> &str {
        self.0.split_once(':').map_or(&*self.0, |(family, _)| family)
    }

    /// The part after the colon.
    #[must_use]
    pub fn detail(&self) -> Option<&str> {
        self.0.split_once(':').map(|(_, detail)| detail)
    }

    /// The whole code.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
