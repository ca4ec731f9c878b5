use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use onejob_contracts::attempt::{Asker, Outcome, Work};
use onejob_contracts::verdict::Verdict;

use super::known::wrong;
use super::{Known, PLAIN};
use crate::Error;
use crate::provider::Call;

/// Those who ask providers in their own wire format, by provider and kind of job.
#[derive(Debug, Clone, Default)]
pub(crate) struct Askers(BTreeMap<String, BTreeMap<String, Arc<Asker>>>);

impl Askers {
    /// Makes one for each contract at each provider that does not speak the service's own format.
    pub(crate) fn of(known: &Known) -> Result<Self, Error> {
        let mut askers = Self::default();
        for speaker in known.speakers.iter().filter(|one| one.dialect.name != PLAIN) {
            let by_kind = askers.0.entry(speaker.provider.name.clone()).or_default();
            for (kind, contract) in &known.contracts {
                let asker =
                    Asker::new(contract.clone(), speaker.provider.clone(), Arc::clone(&speaker.dialect))
                        .map_err(|error| wrong(&error))?;
                for finding in asker.findings() {
                    let (provider, verdict) = (&speaker.provider.name, finding.verdict.to_string());
                    tracing::warn!(provider, kind, verdict, finding.message, "a check would not pass");
                }
                by_kind.insert(kind.clone(), Arc::new(asker));
            }
        }
        Ok(askers)
    }

    /// Makes the call, if its provider has a wire format of its own.
    pub(crate) async fn ask(&self, call: &Call, patience: Duration) -> Option<Outcome> {
        let by_kind = self.0.get(&call.provider)?;
        let Some(asker) = by_kind.get(&call.kind) else {
            let message =
                format!("no contract says how `{}` is asked for jobs of kind `{}`", call.provider, call.kind);
            return Some(Outcome::Withheld { verdict: Verdict::block("no_contract"), message });
        };
        let headers = [("traceparent", call.traceparent.clone()), ("x-attempt", call.attempt.to_string())];
        let work = Work { input: &call.input, reference: &call.reference, headers: &headers };
        Some(asker.ask(work, patience).await)
    }
}
