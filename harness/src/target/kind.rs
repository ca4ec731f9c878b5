//! What is particular about target files among the files that people write.

use crate::{fail::Code, scenario::document::Kind};

/// Target files.
pub(super) const KIND: Kind = Kind {
    noun: "target file",
    not_toml: Code::TargetNotToml,
    unknown_key: Code::TargetUnknownKey,
    wrong_value: Code::TargetWrongValue,
    missing_key: Code::TargetMissingKey,
    unreadable: Code::TargetUnreadable,
    parts: &[
        ("TargetFile", "the target file"),
        ("Target", "`[target]`"),
        ("Ready", "`ready`"),
        ("Owner", "`[[owner]]`"),
        ("Command", "`[target.command]`"),
        ("Database", "`[target.database]`"),
        ("Operation", "a request"),
        ("ListOperation", "a request for a list"),
        ("States", "`[target.states]`"),
        ("ProviderSection", "`[provider]`"),
        ("FailoverSection", "`[failover]`"),
        ("Effects", "`[target.effects]`"),
        ("Promises", "`[promises]`"),
    ],
    schema: super::schema,
};
