//! What holds whatever the target and whatever the scenario: the laws that nobody has to name.

use onejob_reports::model::Outcome;

use super::{Judgement, View, judgement::listed, view::Request};
use crate::history::LEAKED;

/// At most one effect for each owner and key.
#[must_use]
pub(super) fn one_effect(view: &View) -> Judgement {
    const NAME: &str = "one-effect";
    for intent in view.intents() {
        let effects: Vec<_> =
            view.calls_of(intent).flat_map(|call| call.effects.iter().map(move |at| (call, *at))).collect();
        if effects.len() > 1 {
            let calls: Vec<_> = effects.iter().map(|(call, _)| call.name.as_str()).collect();
            return Judgement::contradicted(
                NAME,
                format!(
                    "One intent (key {} of {}) had {} effects: calls {}.",
                    intent.1,
                    intent.0,
                    effects.len(),
                    listed(&calls)
                ),
                effects.iter().map(|(_, at)| *at).collect(),
            );
        }
    }
    if let Some((intent, (seq, effects))) = view.effects.iter().find(|(_, (_, effects))| *effects > 1) {
        return Judgement::broke(
            NAME,
            format!(
                "One intent (key {} of {}) had {effects} effects, as the target counts.",
                intent.1, intent.0
            ),
            vec![*seq],
        );
    }
    let lost =
        view.calls.iter().filter(|call| !call.effects.is_empty() && view.intent_of(call).is_none()).count();
    if lost > 0 {
        return Judgement::undecided(NAME, format!("{lost} effects could not be matched to an intent."));
    }
    Judgement::held(NAME)
}

/// One job id for each owner and key, and whoever is told of a job can read it.
#[must_use]
pub(super) fn one_job(view: &View) -> Judgement {
    const NAME: &str = "one-job";
    for intent in view.intents() {
        let jobs = view.jobs_of(intent);
        if jobs.len() > 1 {
            let ids: Vec<_> = jobs.iter().map(|job| short(job)).collect();
            return Judgement::contradicted(
                NAME,
                format!(
                    "One intent (key {} of {}) became {} jobs: {}.",
                    intent.1,
                    intent.0,
                    jobs.len(),
                    listed(&ids)
                ),
                view.first_told(intent),
            );
        }
        if let Some((seq, rows)) = view.counted.get(intent).filter(|(_, rows)| *rows > 1) {
            return Judgement::broke(
                NAME,
                format!("The database holds {rows} jobs for key {} of {}.", intent.1, intent.0),
                vec![*seq],
            );
        }
        // 410 for the key: the job was purged, and the service stands by it.
        let buried = view
            .submits_of(intent)
            .any(|request| request.answer().is_some_and(|answer| answer.status == 410));
        for job in jobs.iter().filter(|_| !buried) {
            let owner = &intent.0;
            let unreadable = view.not_found(job).find(|request| request.owner == *owner);
            if let Some(request) = unreadable {
                let status = request.answer().map_or(0, |answer| answer.status);
                return Judgement::broke(
                    NAME,
                    format!("The client was told of job {} and could not read it: {status}.", short(job)),
                    request.end.iter().map(|end| end.seq).collect(),
                );
            }
        }
    }
    Judgement::held(NAME)
}

/// A duplicate is no reason for a 5xx. `expected` are the statuses that the scenario itself asks for.
///
/// A 503 with `Retry-After` says that nothing was done and when to come again: a service that is asked for more than it can
/// take may say so. That the intent is served in the end is another law's business.
#[must_use]
pub(super) fn no_server_error(view: &View, expected: &[u16]) -> Judgement {
    const NAME: &str = "no-server-error";
    let first_fault = view.faults.values().min().copied().unwrap_or(u64::MAX);
    let failed = view.requests.iter().filter(|request| request.sent < first_fault).find_map(|request| {
        let answer =
            request.answer().filter(|answer| answer.status >= 500 && !expected.contains(&answer.status))?;
        let busy = answer.status == 503 && answer.headers.contains_key("retry-after");
        (!busy).then_some((request, answer))
    });
    match failed {
        Some((request, answer)) => Judgement::broke(
            NAME,
            format!("{} was answered with {} though nothing was broken.", request.step, answer.status),
            request.end.iter().map(|end| end.seq).collect(),
        ),
        None => Judgement::held(NAME),
    }
}

/// A job that was told to be terminal never changes again.
#[must_use]
pub(super) fn final_state(view: &View) -> Judgement {
    const NAME: &str = "final";
    for job in view.jobs() {
        let told = view.told_of(job);
        let Some((first, was)) = told.iter().find(|(_, answer)| answer.is_terminal()) else { continue };
        let known = first.end.as_ref().map_or(u64::MAX, |end| end.seq);
        for (request, is) in told.iter().filter(|(request, _)| request.sent > known) {
            // An answer that says less (no result in a cancel's answer) contradicts nothing.
            let changed = [
                ("state", &was.state, &is.state),
                ("result", &was.result, &is.result),
                ("winner", &was.winner, &is.winner),
                ("version", &was.version, &is.version),
            ]
            .into_iter()
            .find_map(|(field, was, is)| match (was, is) {
                (Some(was), Some(is)) if was != is => Some((field, was.clone(), is.clone())),
                _ => None,
            });
            if let Some((field, was, is)) = changed {
                return Judgement::contradicted(
                    NAME,
                    format!(
                        "Job {} was over when {} was told so, and yet its {field} changed from {was} to {is} ({}).",
                        short(job),
                        first.step,
                        request.step
                    ),
                    [first, request].into_iter().filter_map(|r| r.end.as_ref().map(|end| end.seq)).collect(),
                );
            }
        }
    }
    Judgement::held(NAME)
}

/// No intent is lost: whoever submitted and was not refused for the request's own sake has a job after the storm.
#[must_use]
pub(super) fn no_lost_intent(view: &View) -> Judgement {
    const NAME: &str = "no-lost-intent";
    for intent in view.intents() {
        if !view.jobs_of(intent).is_empty() {
            continue;
        }
        let submits: Vec<_> = view.submits_of(intent).collect();
        let statuses: Vec<u16> =
            submits.iter().filter_map(|r| r.answer().map(|answer| answer.status)).collect();
        // 409 says that somebody else has the key; 5xx blames the server. Other refusals are about the request itself.
        let promised = statuses.iter().any(|status| *status < 400 || *status == 409);
        let all_in = statuses.len() == submits.len() && !statuses.is_empty();
        if promised && all_in && view.is_whole() {
            return Judgement::broke(
                NAME,
                format!("{} requests for key {} of {} and no job at all.", submits.len(), intent.1, intent.0),
                submits.iter().filter_map(|r| r.end.as_ref().map(|end| end.seq)).collect(),
            );
        }
    }
    Judgement::held(NAME)
}

/// A call that the scenario forbids is a violation in itself.
#[must_use]
pub(super) fn no_forbidden_call(view: &View) -> Judgement {
    const NAME: &str = "no-forbidden-call";
    let forbidden: Vec<_> = view.calls.iter().filter(|call| call.reply == "forbid").collect();
    if forbidden.is_empty() {
        return Judgement::held(NAME);
    }
    let names: Vec<_> = forbidden.iter().map(|call| call.name.as_str()).collect();
    Judgement::broke(
        NAME,
        format!("The provider was called when no call was allowed any more: {}.", listed(&names)),
        forbidden.iter().map(|call| call.called).collect(),
    )
}

/// An error tells nobody a secret. Nothing where none does: whoever has told no secret has proven nothing.
#[must_use]
pub(super) fn secret_told(view: &View) -> Option<Judgement> {
    let told = |request: &&Request| request.answer().is_some_and(|answer| answer.fields.contains_key(LEAKED));
    let request = view.requests.iter().find(told)?;
    let status = request.answer().map_or(0, |answer| answer.status);
    Some(Judgement::broke(
        "no-secret-told",
        format!(
            "{} was answered with {status}, and the answer holds a secret of the target file.",
            request.step
        ),
        request.end.iter().map(|end| end.seq).collect(),
    ))
}

/// All of them, in the order in which a reader wants them. `effects_bounded` leaves out the first: the scenario gave a
/// bound of its own.
#[must_use]
pub(super) fn all(view: &View, effects_bounded: bool, expected: &[u16]) -> Vec<Judgement> {
    let mut judgements =
        vec![one_job(view), no_lost_intent(view), no_server_error(view, expected), final_state(view)];
    judgements.push(no_forbidden_call(view));
    judgements.extend(secret_told(view));
    if !effects_bounded {
        judgements.insert(0, one_effect(view));
    }
    debug_assert!(judgements.iter().all(|j| j.outcome != Outcome::Broke || !j.sentence.is_empty()));
    judgements
}

/// The end of an id: two of them made in the same millisecond begin alike.
pub(super) fn short(id: &str) -> String {
    let length = id.chars().count();
    if length <= 12 {
        id.to_owned()
    } else {
        format!("…{}", id.chars().skip(length - 8).collect::<String>())
    }
}
