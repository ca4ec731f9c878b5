//! The steps of the walk: each a scenario of a few lines, and what makes it worth trying.

use crate::{
    fail::Fault,
    scenario::{Capability, Scenario, load_str},
    target::TargetFile,
};

/// One step of the walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Check {
    /// One plain submit, to its end.
    Submit,
    /// A duplicate after the end.
    Repeat,
    /// Another payload under the key.
    Conflict,
    /// No key.
    Keyless,
    /// A second owner with the same key, who then looks at the first one's job.
    Owners,
    /// No credentials.
    Stranger,
    /// A job found by its key.
    Lookup,
    /// A job called off while it is out.
    Cancel,
    /// A further attempt after a failure.
    Retry,
    /// An outcome decided by hand.
    Resolve,
    /// The provider's own message.
    Callback,
    /// A job as one of several.
    Batch,
    /// A job for later.
    Schedule,
    /// A job whose attempts may race.
    Race,
    /// A job read at the second replica.
    Replicas,
    /// Two requests that arrive together.
    Arrival,
    /// Two requests at one lock in the database.
    Lock,
}

impl Check {
    /// In the order of the walk, after the first.
    pub(super) const FURTHER: [Self; 16] = [
        Self::Repeat,
        Self::Conflict,
        Self::Keyless,
        Self::Stranger,
        Self::Owners,
        Self::Arrival,
        Self::Lock,
        Self::Lookup,
        Self::Cancel,
        Self::Retry,
        Self::Resolve,
        Self::Callback,
        Self::Batch,
        Self::Schedule,
        Self::Race,
        Self::Replicas,
    ];

    /// Its name.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Submit => "submit",
            Self::Repeat => "repeat",
            Self::Conflict => "other payload",
            Self::Keyless => "no key",
            Self::Stranger => "credentials",
            Self::Owners => "owners",
            Self::Arrival => "together",
            Self::Lock => "database",
            Self::Lookup => "lookup",
            Self::Cancel => "cancel",
            Self::Retry => "attempts",
            Self::Resolve => "resolve",
            Self::Callback => "callbacks",
            Self::Batch => "batch",
            Self::Schedule => "schedule",
            Self::Race => "race",
            Self::Replicas => "replicas",
        }
    }

    /// The capability that the file has to show; nothing where every file can be asked for it.
    pub(super) const fn needs(self) -> Option<Capability> {
        Some(match self {
            Self::Submit | Self::Repeat | Self::Conflict | Self::Keyless | Self::Stranger | Self::Arrival => {
                return None;
            }
            Self::Owners => Capability::Owners,
            Self::Lock => Capability::Database,
            Self::Lookup => Capability::Lookup,
            Self::Cancel => Capability::Cancel,
            Self::Retry => Capability::Attempts,
            Self::Resolve => Capability::Resolve,
            Self::Callback => Capability::Callbacks,
            Self::Batch => Capability::Batch,
            Self::Schedule => Capability::Schedule,
            Self::Race => Capability::Race,
            Self::Replicas => Capability::Replicas,
        })
    }

    /// What has to be there besides, for the situation to come about at all.
    pub(super) fn wants(self, file: &TargetFile) -> Result<(), &'static str> {
        let has = |capability| file.capabilities().contains(&capability);
        let situation = matches!(self, Self::Cancel | Self::Retry | Self::Resolve | Self::Callback);
        if situation && !has(Capability::Provider) {
            return Err("nothing stands in for the provider here, so no job can be held, failed or lost");
        }
        if matches!(self, Self::Retry | Self::Resolve) && !has(Capability::Read) {
            return Err("no job can be read here, so nobody sees in which state it is");
        }
        if self == Self::Stranger && file.owner.iter().all(|owner| owner.headers.is_empty()) {
            return Err("no owner authenticates");
        }
        if self == Self::Keyless && !file.target.submit.headers.values().any(|value| value.contains("{key}"))
        {
            return Err("the key is in the body, and is left out together with its member");
        }
        Ok(())
    }

    /// The scenario. Parts that the target can't play are left out.
    pub(super) fn scenario(self, file: &TargetFile) -> Result<Scenario, Fault> {
        let reads = file.capabilities().contains(&Capability::Read);
        let second = file.owner.get(1).map_or("bob", |owner| owner.name.as_str());
        let steps = self.steps().replace("SECOND", second);
        let text = format!(
            "id = \"doctor\"\ntitle = \"A step\"\nwhy = \"To see whether it works.\"\nwithin = \"30s\"\n{steps}\n"
        );
        let mut scenario = load_str("embedded:doctor", &text)?.cells()?.remove(0).scenario;
        if !reads {
            scenario.step.retain(|step| step.act != crate::scenario::Verb::Read);
        }
        Ok(scenario)
    }

    const fn steps(self) -> &'static str {
        match self {
            Self::Submit => include_str!("steps/submit.toml"),
            Self::Repeat => include_str!("steps/repeat.toml"),
            Self::Conflict => include_str!("steps/conflict.toml"),
            Self::Keyless => include_str!("steps/keyless.toml"),
            Self::Stranger => include_str!("steps/stranger.toml"),
            Self::Owners => include_str!("steps/owners.toml"),
            Self::Arrival => include_str!("steps/arrival.toml"),
            Self::Lock => include_str!("steps/lock.toml"),
            Self::Lookup => include_str!("steps/lookup.toml"),
            Self::Cancel => include_str!("steps/cancel.toml"),
            Self::Retry => include_str!("steps/retry.toml"),
            Self::Resolve => include_str!("steps/resolve.toml"),
            Self::Callback => include_str!("steps/callback.toml"),
            Self::Batch => include_str!("steps/batch.toml"),
            Self::Schedule => include_str!("steps/schedule.toml"),
            Self::Race => include_str!("steps/race.toml"),
            Self::Replicas => include_str!("steps/replicas.toml"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::reference;

    #[test]
    fn every_step_is_a_scenario() {
        let file = reference().expect("the reference target");
        for check in Check::FURTHER.into_iter().chain([Check::Submit]) {
            let scenario = check
                .scenario(&file)
                .unwrap_or_else(|fault| panic!("{check:?}: {fault}: {}", fault.advice()));
            assert!(!scenario.step.is_empty(), "{check:?}");
        }
    }
}
