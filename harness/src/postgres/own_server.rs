use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A Postgres server that one cell has to itself, from the machine's own programs, so that it can be crashed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OwnServer {
    /// One server.
    Alone,
    /// With a streaming standby that a commit does not wait for.
    Standby,
    /// With a streaming standby that every commit waits for.
    SynchronousStandby,
}

impl OwnServer {
    /// Whether there is a standby.
    #[must_use]
    pub const fn has_standby(self) -> bool {
        !matches!(self, Self::Alone)
    }
}
