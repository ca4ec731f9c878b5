//! What a target can be asked for, and which of its knobs make a plan fast.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::{scenario::Capability, target::TargetFile};

/// What a plan may use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Ability {
    capabilities: BTreeSet<Capability>,
    /// Names of the owners, the first is the default.
    pub(super) owners: Vec<String>,
    /// The target is the reference service, whose every choice is known.
    pub(super) reference: bool,
    /// Of those knobs that we turn, the ones that the target has.
    knobs: BTreeMap<String, String>,
}

/// Knobs that are turned in every plan: deadlines short enough that a plan sees them pass.
const KNOBS: [(&str, &str); 4] = [
    ("attempt_timeout", "300ms"),
    ("poll_interval", "200ms"),
    ("retry_pause", "20ms"),
    ("unknown_deadline", "300ms"),
];

/// And these where the service's process is broken, so that what it held is soon found again.
const AFTER_TROUBLE: [(&str, &str); 1] = [("lease", "600ms")];

impl Ability {
    /// What a target file shows. `reference` says that it is the built-in one.
    #[must_use]
    pub fn of(target: &TargetFile, reference: bool) -> Self {
        let knobs = KNOBS.iter().chain(&AFTER_TROUBLE);
        Self {
            capabilities: target.capabilities(),
            owners: target.owner.iter().map(|owner| owner.name.clone()).collect(),
            reference,
            knobs: knobs
                .filter(|(knob, _)| target.settings.contains_key(*knob))
                .map(|(knob, value)| ((*knob).to_owned(), (*value).to_owned()))
                .collect(),
        }
    }

    pub(super) fn can(&self, capability: Capability) -> bool {
        self.capabilities.contains(&capability)
    }

    pub(super) fn settings(&self, trouble: bool) -> BTreeMap<String, String> {
        let mut settings = self.knobs.clone();
        if !trouble {
            settings.retain(|knob, _| AFTER_TROUBLE.iter().all(|(own, _)| own != knob));
        }
        settings
    }
}
