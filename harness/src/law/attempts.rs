//! What holds for attempts whatever the scenario: work that was acknowledged is begun, and what was given up stays so.

use super::{Judgement, View, always::short, view::Request};
use crate::{
    history::Answer,
    scenario::{Scenario, Verb},
};

/// A job that lies there untouched for so long while somebody waits for it, in microseconds, is stranded. Well above
/// what a busy machine takes to look into a queue.
const STRANDED_AFTER_US: u64 = 5_000_000;

/// Both of them.
#[must_use]
pub(super) fn all(view: &View, scenario: &Scenario) -> Vec<Judgement> {
    vec![given_up(view, scenario), carried_out(view)]
}

/// An attempt that was cancelled, or resolved as failed or never executed, does not win its job afterwards: its result
/// belongs to nobody.
fn given_up(view: &View, scenario: &Scenario) -> Judgement {
    const NAME: &str = "given-up-stays-given-up";
    for request in &view.requests {
        let Some(number) = gives_up(request, scenario) else { continue };
        let (Some(end), Some(answer)) = (&request.end, request.answer()) else { continue };
        let Some(job) = request.job() else { continue };
        if answer.refused || answer.status >= 300 {
            continue;
        }
        let won = |told: &Answer| told.winner.as_deref() == Some(number.as_str());
        let taken = view.told_of(job).into_iter().find(|(later, told)| later.sent > end.seq && won(told));
        if let Some((later, told)) = taken {
            let result = told.result.as_deref().map(|result| format!(" ({result})")).unwrap_or_default();
            return Judgement::broke(
                NAME,
                format!(
                    "Attempt {number} of job {} was given up ({}), and its result was taken all the same{result}.",
                    short(job),
                    request.step
                ),
                [request, later].into_iter().filter_map(|r| r.end.as_ref().map(|end| end.seq)).collect(),
            );
        }
    }
    Judgement::held(NAME)
}

/// The number of the attempt that a request gives up; none for any other request.
fn gives_up(request: &Request, scenario: &Scenario) -> Option<String> {
    if !matches!(request.verb.as_str(), "cancel-attempt" | "resolve") {
        return None;
    }
    let mut steps = scenario.step.iter().enumerate();
    let (_, step) = steps.find(|(index, step)| step.name(*index) == request.step_id())?;
    let gone = match step.act {
        Verb::CancelAttempt => true,
        Verb::Resolve => step.with.outcome.as_deref().is_some_and(|outcome| outcome != "succeeded"),
        _ => false,
    };
    gone.then(|| step.with.attempt.unwrap_or(1).to_string())
}

/// A job that was acknowledged is begun. It may fail, or be unknown; it may not be forgotten.
fn carried_out(view: &View) -> Judgement {
    const NAME: &str = "acknowledged-is-carried-out";
    for (step, _) in &view.missed {
        let looks: Vec<&Request> =
            view.requests_of(step).into_iter().filter(|request| request.verb == "read").collect();
        let told: Vec<&Answer> = looks.iter().filter_map(|look| look.answer()).collect();
        let (Some(first), Some(last)) = (looks.first(), looks.last().and_then(|last| last.end.as_ref()))
        else {
            continue;
        };
        let waits = |answer: &&Answer| {
            answer.state.as_deref() == Some("accepted") && !answer.fields.contains_key("attention")
        };
        let job = first.job().filter(|_| !told.is_empty() && told.iter().all(waits));
        let waited = last.at_us.saturating_sub(first.sent_us);
        let Some(job) = job.filter(|_| waited >= STRANDED_AFTER_US) else { continue };
        if view.calls.iter().any(|call| call.called > first.sent) {
            continue;
        }
        return Judgement::broke(
            NAME,
            format!(
                "Job {} was acknowledged, and nothing was begun in the {} s for which {step} waited.",
                short(job),
                waited / 1_000_000
            ),
            vec![first.sent, last.seq],
        );
    }
    Judgement::held(NAME)
}
