//! Invariants and witnesses: bounds that can be met, and references that mean something.

use super::{
    super::{Bounds, Invariants, Scenario, Until, Verb, document::Step, document::nearest},
    finding::Findings,
    references::{Names, there},
    rules,
};
use crate::fail::Code;

pub(super) fn check(scenario: &Scenario, findings: &mut Findings) {
    if scenario.rounds == 0 {
        let message = "`rounds` is 0: nothing would be tried";
        findings.add(Code::ScenarioContradiction, &["rounds".into()], message, "write 1 or more");
    }
    if scenario.within.0.is_zero() {
        let message = "`within` is nothing at all";
        findings.add(
            Code::ScenarioContradiction,
            &["within".into()],
            message,
            "write how long a round may take",
        );
    }
    let judged = &scenario.invariants;
    let counts = [
        ("jobs", &judged.jobs),
        ("calls", &judged.calls),
        ("effects", &judged.effects),
        ("winners", &judged.winners),
    ];
    for (name, bounds) in counts {
        if let Some(bounds) = bounds {
            self::bounds(name, bounds, findings);
        }
    }
    references(scenario, judged, findings);
    witnesses(scenario, findings);
}

fn bounds(name: &'static str, bounds: &Bounds, findings: &mut Findings) {
    let path: [Step<'static>; 2] = ["invariants".into(), name.into()];
    let Bounds { exactly, min, max, per: _ } = bounds;
    match (exactly, min, max) {
        (None, None, None) => {
            let message = format!("`{name}` has no bound");
            findings.add(Code::ScenarioProvesNothing, &path, message, "add `exactly`, `min` or `max`");
        }
        (Some(_), Some(_), _) | (Some(_), _, Some(_)) => {
            let message = format!("`{name}` has `exactly` and another bound");
            findings.add(Code::ScenarioContradiction, &path, message, "keep `exactly`, or `min` and `max`");
        }
        (None, Some(min), Some(max)) if min > max => {
            let message = format!("`{name}` must be at least {min} and at most {max}");
            findings.add(Code::ScenarioContradiction, &path, message, "swap them, or correct one");
        }
        (None, Some(0), None) => {
            let message = format!("`{name}` is always at least 0");
            findings.add(Code::ScenarioProvesNothing, &path, message, "write a bound that can be missed");
        }
        _ => {}
    }
}

fn references(scenario: &Scenario, judged: &Invariants, findings: &mut Findings) {
    let path = |name: &'static str, index: usize| [Step::from("invariants"), name.into(), index.into()];
    let payloads: Vec<_> = scenario.step.iter().filter_map(|step| step.with.payload.as_deref()).collect();
    for (index, payload) in judged.payloads.iter().flatten().enumerate() {
        if !payloads.contains(&payload.as_str()) {
            let message = format!("no step submits the payload `{payload}`");
            let help = there(payload, &payloads, "payloads");
            findings.add(Code::ScenarioReference, &path("payloads", index), message, help);
        }
    }
    for (index, state) in judged.path.iter().enumerate() {
        let word = state.strip_suffix('?').unwrap_or(state);
        if !Until::ALL.iter().any(|known| known.word() == word) {
            let words: Vec<_> = Until::ALL.iter().map(|known| known.word()).collect();
            let help = nearest(word, words.iter().copied()).map_or_else(
                || format!("there are: {}", words.join(", ")),
                |meant| format!("did you mean `{meant}`?"),
            );
            findings.add(
                Code::ScenarioReference,
                &path("path", index),
                format!("`{word}` is no state of a job"),
                help,
            );
        }
    }
    if !judged.path.is_empty() && judged.path.iter().all(|state| state.ends_with('?')) {
        let message = "every state of `path` may be missing";
        let help = "take the `?` from one that must be seen";
        findings.add(Code::ScenarioProvesNothing, &path("path", 0)[..2], message, help);
    }
    let told: Vec<String> = scenario
        .provider
        .iter()
        .filter(|rule| rules::has_answer(rule.reply))
        .flat_map(|rule| {
            let own = rule.answer.clone().unwrap_or_else(|| format!("answer-{}", rule.call));
            let further = (2..=rule.times.unwrap_or(1)).map(|n| format!("answer-{}.{n}", rule.call));
            std::iter::once(own).chain(further).collect::<Vec<_>>()
        })
        .collect();
    for (index, text) in judged.kept.iter().enumerate() {
        if !told.contains(text) {
            let told: Vec<_> = told.iter().map(String::as_str).collect();
            let message = format!("no call ever tells \"{text}\", so it can't be kept");
            findings.add(Code::ScenarioReference, &path("kept", index), message, there(text, &told, "texts"));
        }
    }
    for (index, step) in judged.may_lose.iter().enumerate() {
        Names::of(scenario).want_step(step, usize::MAX, &path("may_lose", index), findings);
    }
    if let Some(alike) = &judged.alike {
        if !scenario.matrix.contains_key(&alike.across) {
            let dimensions: Vec<_> = scenario.matrix.keys().map(String::as_str).collect();
            let path = ["invariants".into(), "alike".into(), "across".into()];
            let message = format!("`{}` is no dimension of [matrix]", alike.across);
            findings.add(
                Code::ScenarioReference,
                &path,
                message,
                there(&alike.across, &dimensions, "dimensions"),
            );
        }
        let path = ["invariants".into(), "alike".into(), "until".into()];
        Names::of(scenario).want_step(&alike.until, usize::MAX, &path, findings);
    }
}

fn witnesses(scenario: &Scenario, findings: &mut Findings) {
    let names = Names::of(scenario);
    let seen = &scenario.witness;
    let path = |name: &'static str, index: usize| [Step::from("witness"), name.into(), index.into()];
    let steps = [
        ("raced", &seen.raced),
        ("overlap", &seen.overlap),
        ("answered", &seen.answered),
        ("lost", &seen.lost),
    ];
    for (key, steps) in steps {
        for (index, name) in steps.iter().enumerate() {
            let Some(step) = names.want_step(name, usize::MAX, &path(key, index), findings) else { continue };
            let step = &scenario.step[step];
            if matches!(step.act, Verb::Await | Verb::Release | Verb::Fault | Verb::Heal) {
                let message = format!("`{name}` sends no request, so it has no answer and races nothing");
                findings.add(
                    Code::ScenarioReference,
                    &path(key, index),
                    message,
                    "name a step that asks the target",
                );
            } else if key == "raced" && !step.together {
                let message = format!("`{name}` is not sent `together`, so it can't be seen to race");
                findings.add(
                    Code::ScenarioReference,
                    &path(key, index),
                    message,
                    "add `together = true` to the step",
                );
            }
        }
    }
    if let [only] = &seen.overlap[..] {
        let several = names.steps(usize::MAX).contains(&only.as_str())
            && scenario.step.iter().any(|step| step.id.as_ref() == Some(only) && step.times.unwrap_or(1) > 1);
        if !several {
            let message = "one request can't overlap with itself";
            findings.add(Code::ScenarioContradiction, &path("overlap", 0)[..2], message, "name another one");
        }
    }
    let calls = [
        ("both_out", &seen.both_out),
        ("timed_out", &seen.timed_out),
        ("late", &seen.late),
        ("hidden_effect", &seen.hidden_effect),
    ];
    for (key, calls) in calls {
        for (index, name) in calls.iter().enumerate() {
            names.want_call(name, &path(key, index), findings);
        }
    }
    if seen.both_out.len() == 1 {
        let message = "`both_out` needs at least two calls";
        findings.add(Code::ScenarioContradiction, &path("both_out", 0)[..2], message, "name the other one");
    }
    let faults: Vec<_> = scenario.step.iter().filter(|step| step.act == Verb::Fault).collect();
    let faults: Vec<_> = faults.iter().filter_map(|step| step.fault.as_deref()).collect();
    for (index, name) in seen.hit.iter().enumerate() {
        if !faults.contains(&name.as_str()) {
            let message = format!("no step applies the fault `{name}`");
            findings.add(
                Code::ScenarioReference,
                &path("hit", index),
                message,
                there(name, &faults, "faults"),
            );
        }
    }
}
