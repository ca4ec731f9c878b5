//! Fields of an answer that scenarios speak of and target files say where to find.

/// The closed list of fields.
pub const FIELDS: [&str; 12] = [
    "job",
    "state",
    "result",
    "version",
    "winner",
    "attempt",
    "problem",
    "cancel",
    "attention",
    "replayed",
    "status",
    "effects",
];
