//! What a target can be asked for.

use std::collections::BTreeSet;

use serde_json::Value;

use super::TargetFile;
use crate::scenario::Capability;

impl TargetFile {
    /// What the sections of the file show, with `has` and without `lacks`.
    #[must_use]
    pub fn capabilities(&self) -> BTreeSet<Capability> {
        let target = &self.target;
        let providers = self.provider.as_ref().map_or(0, |provider| provider.names.len());
        let command = target.command.as_ref();
        let shown = [
            (Capability::Read, target.read.is_some()),
            (Capability::Lookup, target.lookup.is_some()),
            (Capability::Attempts, target.retry.is_some()),
            (Capability::Cancel, target.cancel.is_some()),
            (Capability::CancelAttempt, target.cancel_attempt.is_some()),
            (Capability::Resolve, target.resolve.is_some()),
            (Capability::Callbacks, target.callback.is_some()),
            (Capability::Race, target.race.is_some()),
            (Capability::Batch, target.batch.is_some()),
            (Capability::Schedule, target.schedule.is_some()),
            (Capability::Audit, target.audit.is_some()),
            (Capability::Provider, providers > 0),
            (Capability::Fallback, providers > 1),
            (Capability::Failover, providers > 1 && self.failover.is_some() && command.is_some()),
            (Capability::Trace, target.submit.headers.values().any(|value| value.contains("{trace}"))),
            (Capability::Process, command.is_some()),
            (Capability::Replicas, target.base.len() > 1 || command.is_some_and(|command| command.replicas)),
            (Capability::Database, target.database.is_some()),
            (
                Capability::RowLock,
                target.database.as_ref().is_some_and(|database| database.lock_job.is_some()),
            ),
            (Capability::Owners, self.owner.len() > 1),
            (Capability::JsonPayload, target.submit.json.as_ref().is_some_and(holds_payload)),
        ];
        let mut all: BTreeSet<_> =
            shown.into_iter().filter(|(_, shown)| *shown).map(|(one, _)| one).collect();
        all.extend(target.has.iter().copied());
        all.retain(|capability| !target.lacks.contains(capability));
        all
    }

    /// Whether the target counts its effects itself: by `[target.effects]`, or in what a job tells.
    #[must_use]
    pub fn counts_effects(&self) -> bool {
        let told = self.target.read.as_ref().is_some_and(|read| read.reads.contains_key("effects"));
        told || self.target.effects.is_some()
    }
}

/// Whether the payload stands somewhere as a value of its own.
fn holds_payload(json: &Value) -> bool {
    match json {
        Value::String(text) => text == "{payload}",
        Value::Array(elements) => elements.iter().any(holds_payload),
        Value::Object(members) => members.values().any(holds_payload),
        _ => false,
    }
}
