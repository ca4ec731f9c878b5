//! Jobs that were acknowledged and are gone, as happens when a database is lost to a standby that commits don't wait for.

use std::collections::BTreeSet;

use super::{View, always::short, judgement::listed};

/// Jobs that answers to these steps told of, and that later could not be found any more.
#[must_use]
pub(super) fn lost(view: &View, steps: &[String]) -> BTreeSet<String> {
    let told = view.requests.iter().filter(|request| steps.iter().any(|step| step == request.step_id()));
    let told =
        told.filter_map(|request| Some((request.end.as_ref()?.seq, request.answer()?.job.as_deref()?)));
    told.filter(|(since, job)| {
        let asked = view.requests.iter().filter(|request| request.about.as_deref() == Some(job));
        let gone = |status: u16| matches!(status, 404 | 410);
        asked.filter(|request| request.sent > *since).any(|r| r.answer().is_some_and(|a| gone(a.status)))
    })
    .map(|(_, job)| job.to_owned())
    .collect()
}

/// What was lost, for people.
pub(super) fn told(view: &View, step: &str) -> Result<String, String> {
    let lost = lost(view, &[step.to_owned()]);
    if lost.is_empty() {
        return Err(format!("nothing that {step} was told of is gone"));
    }
    let effects: usize = view
        .calls
        .iter()
        .filter(|call| call.identity.as_ref().is_some_and(|job| lost.contains(job)))
        .map(|call| call.effects.len())
        .sum();
    let names: Vec<_> = lost.iter().map(|job| short(job)).collect();
    Ok(format!("lost: {} acknowledged, now gone ({}), {effects} effects", lost.len(), listed(&names)))
}
