//! What a scenario expects of single answers.

use super::{Judgement, View, always::short, judgement::listed, view::Request};
use crate::{
    history::Answer,
    scenario::{Check, Scenario, Step},
};

/// Judges the expectations of every step on a round.
#[must_use]
pub(super) fn all(view: &View, scenario: &Scenario) -> Vec<Judgement> {
    scenario
        .step
        .iter()
        .enumerate()
        .filter_map(|(index, step)| of_step(view, &step.name(index), step))
        .collect()
}

fn of_step(view: &View, name: &str, step: &Step) -> Option<Judgement> {
    let asks = step.expect.is_some()
        || step.expect_some.is_some()
        || step.expect_one.is_some()
        || step.until.is_some();
    if !asks {
        return None;
    }
    let promise = format!("expect:{name}");
    let mut requests = view.requests_of(name);
    if requests.is_empty() {
        return Some(Judgement::undecided(promise, format!("Step {name} was not reached.")));
    }
    if step.until.is_some() {
        // The looks before the last one only waited.
        requests.drain(..requests.len() - 1);
    }
    let wrong = until_wrong(name, step, &requests)
        .or_else(|| step.expect.as_ref().and_then(|check| each_wrong(view, check, &requests)))
        .or_else(|| {
            step.expect_some.as_ref().and_then(|check| count_wrong(view, check, &requests, name, false))
        })
        .or_else(|| {
            step.expect_one.as_ref().and_then(|check| count_wrong(view, check, &requests, name, true))
        });
    Some(match wrong {
        Some((sentence, evidence)) => Judgement::broke(promise, sentence, evidence),
        None => Judgement::held(promise),
    })
}

type Wrong = (String, Vec<u64>);

fn evidence_of(request: &Request) -> Vec<u64> {
    vec![request.end.as_ref().map_or(request.sent, |end| end.seq)]
}

fn until_wrong(name: &str, step: &Step, requests: &[&Request]) -> Option<Wrong> {
    let until = step.until?;
    let last = requests.last()?;
    let state = last.answer().and_then(|answer| answer.state.as_deref());
    if last.answer().is_some_and(|answer| until.is_seen_in(answer)) {
        return None;
    }
    let seen = state.unwrap_or("without a state");
    Some((
        format!("The job was to become {} ({name}), and was last seen {seen}.", until.word()),
        evidence_of(last),
    ))
}

fn each_wrong(view: &View, check: &Check, requests: &[&Request]) -> Option<Wrong> {
    requests.iter().find_map(|request| match &request.end {
        None => Some((format!("{} was never answered.", request.step), evidence_of(request))),
        Some(end) => match &end.answer {
            Err((how, detail)) => {
                let faulty = view.faults.values().min().is_some_and(|fault| *fault < end.seq);
                (!faulty).then(|| {
                    (format!("{} got no answer ({how:?}: {detail}).", request.step), evidence_of(request))
                })
            }
            Ok(answer) => wrong(view, check, request, answer)
                .map(|what| (format!("{} {what}.", request.step), evidence_of(request))),
        },
    })
}

fn count_wrong(view: &View, check: &Check, requests: &[&Request], name: &str, one: bool) -> Option<Wrong> {
    let mut last = None;
    let (fitting, others): (Vec<&Request>, Vec<&Request>) = requests.iter().copied().partition(|request| {
        let wrong =
            request.answer().map_or(Some("got no answer".to_owned()), |a| wrong(view, check, request, a));
        let fits = wrong.is_none();
        last = wrong.or(last.take());
        fits
    });
    let good = fitting.len();
    let fine = if one { good == 1 } else { good >= 1 };
    if fine {
        return None;
    }
    // With none that fits, each of the others is at fault; with too many that fit, those after the first.
    let mut evidence: Vec<u64> =
        if good == 0 { &others } else { &fitting }.iter().flat_map(|request| evidence_of(request)).collect();
    evidence.sort_unstable();
    evidence.drain(..usize::from(good > 0));
    let wanted = if one { "exactly one" } else { "at least one" };
    let why = last.filter(|_| good == 0).map(|why| format!(" (one of them {why})")).unwrap_or_default();
    Some((
        format!("Of the {} answers to {name}, {good} are as expected and not {wanted}{why}.", requests.len()),
        evidence,
    ))
}

/// What is wrong with an answer, as the end of a sentence whose subject is the request.
fn wrong(view: &View, check: &Check, request: &Request, answer: &Answer) -> Option<String> {
    if !check.status.is_empty() && !check.status.contains(&answer.status) {
        let wanted: Vec<_> = check.status.iter().map(u16::to_string).collect();
        return Some(format!("was answered with {}, not with {}", answer.status, wanted.join(" or ")));
    }
    if let Some(refused) = check.refused.filter(|refused| *refused != answer.refused) {
        let (is, not) = if refused { ("was accepted", "refused") } else { ("was refused", "accepted") };
        return Some(format!("{is} with {}, and had to be {not}", answer.status));
    }
    if let Some(replayed) = check.replayed.filter(|replayed| *replayed != answer.replayed) {
        let is = if replayed { "is not marked as a replay" } else { "is marked as a replay" };
        return Some(format!("{is} ({})", answer.status));
    }
    if !check.state.is_empty() {
        let state = answer.state.as_deref().unwrap_or("nothing");
        if !check.state.iter().any(|wanted| wanted == state || wanted == "terminal" && answer.is_terminal()) {
            return Some(format!("says {state}, not {}", check.state.join(" or ")));
        }
    }
    if let Some(field) = check.never.iter().find(|field| answer.field(field).is_some()) {
        let value = answer.field(field).unwrap_or_default();
        return Some(format!("must not tell {field}, and tells {}", short(&value)));
    }
    if let Some(field) = check.has.iter().find(|field| answer.field(field).is_none()) {
        return Some(format!("does not tell {field}"));
    }
    for (field, wanted) in &check.equals {
        let is = answer.field(field);
        if is.as_ref() != Some(wanted) {
            return Some(format!("tells {field} {}, not {wanted}", is.as_deref().unwrap_or("nothing")));
        }
    }
    for (name, wanted) in &check.headers {
        match answer.headers.get(&name.to_ascii_lowercase()) {
            None => return Some(format!("has no header {name}")),
            Some(is) if !wanted.is_empty() && is != wanted => {
                return Some(format!("has {name}: {is}, not {wanted}"));
            }
            Some(_) => {}
        }
    }
    if let Some(word) =
        check.says.iter().find(|word| !answer.body.to_lowercase().contains(&word.to_lowercase()))
    {
        return Some(format!("does not say \"{word}\""));
    }
    compared(view, check, request, answer)
}

fn compared(view: &View, check: &Check, request: &Request, answer: &Answer) -> Option<String> {
    let than = check.than.as_ref()?;
    let others: Vec<_> = view.requests_of(than).into_iter().filter(|other| other.id != request.id).collect();
    let told = |field: &str| -> Vec<String> {
        let mut values: Vec<_> =
            others.iter().filter_map(|other| other.answer().and_then(|answer| answer.field(field))).collect();
        // A step that looks again and again means its last look.
        if others.iter().all(|other| other.step == *than) && others.len() > 1 {
            values = values.pop().into_iter().collect();
        }
        values.sort();
        values.dedup();
        values
    };
    for field in &check.same {
        let theirs = told(field);
        match answer.field(field) {
            // A refusal needn't tell; what it tells must be right.
            None if answer.status >= 400 || theirs.is_empty() => {}
            None => return Some(format!("does not tell {field}, which {than} told")),
            Some(ours) if theirs.iter().all(|theirs| *theirs == ours) => {}
            Some(ours) => {
                let theirs: Vec<_> = theirs.iter().map(|value| short(value)).collect();
                return Some(format!("tells {field} {}, and {than} told {}", short(&ours), listed(&theirs)));
            }
        }
    }
    for field in &check.differ {
        if let Some(ours) = answer.field(field).filter(|ours| told(field).contains(ours)) {
            return Some(format!("tells the same {field} as {than}: {}", short(&ours)));
        }
    }
    None
}
