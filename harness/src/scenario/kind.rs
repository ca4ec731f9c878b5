//! What is particular about scenario files among the files that people write.

use super::document::Kind;
use crate::fail::Code;

/// Scenario files.
pub(super) const KIND: Kind = Kind {
    noun: "scenario file",
    not_toml: Code::ScenarioNotToml,
    unknown_key: Code::ScenarioUnknownKey,
    wrong_value: Code::ScenarioWrongValue,
    missing_key: Code::ScenarioMissingKey,
    unreadable: Code::ScenarioUnreadable,
    parts: &[
        ("Scenario", "the scenario"),
        ("Setup", "`[setup]`"),
        ("Derived", "`[[derive]]`"),
        ("Script", "`[[provider]]`"),
        ("Step", "`[[step]]`"),
        ("With", "`with`"),
        ("Check", "an expectation"),
        ("Bounds", "an invariant's bounds"),
        ("Invariants", "`[invariants]`"),
        ("Alike", "`alike`"),
        ("Witnesses", "`[witness]`"),
    ],
    schema: super::schema,
};
