//! References: to steps, to calls, to what was seen of them.

use super::{
    super::{
        Scenario, Step, Verb,
        document::{self, nearest},
        order,
    },
    finding::Findings,
    rules,
};
use crate::fail::Code;

/// What can have been seen of a call.
const OF_CALL: [&str; 5] = ["arrived", "answered", "gone", "probed", "hit"];

/// The names of a scenario.
pub(super) struct Names<'a>(&'a Scenario);

/// What a reference means.
#[derive(Debug, Clone, Copy)]
pub(super) enum Found {
    /// Nothing has that name.
    Nothing,
    /// There is one of that name, but not the n-th.
    TooMany(u32),
    /// It is there: its position.
    At(usize),
}

impl<'a> Names<'a> {
    pub(super) fn of(scenario: &'a Scenario) -> Self {
        Self(scenario)
    }

    /// A step, or one of its requests, by `STEP` or `STEP.n`; only among the first `among` steps.
    pub(super) fn step(&self, name: &str, among: usize) -> Found {
        let (base, number) = split(name);
        let steps = self.0.step.iter().take(among);
        let Some(index) = steps.into_iter().position(|step| step.id.as_deref() == Some(base)) else {
            return Found::Nothing;
        };
        let times = self.0.step[index].times.unwrap_or(1);
        match number {
            Some(number) if number == 0 || number > times || times == 1 => Found::TooMany(times),
            _ => Found::At(index),
        }
    }

    /// The rule that takes the call of this name.
    pub(super) fn call(&self, name: &str) -> Found {
        let (base, number) = split(name);
        let Some(index) = self.0.provider.iter().position(|rule| rule.call == base) else {
            return Found::Nothing;
        };
        let times = if base == "rest" { u32::MAX } else { self.0.provider[index].times.unwrap_or(1) };
        match number {
            // The first has no number of its own.
            Some(number) if number < 2 || number > times => Found::TooMany(times),
            _ => Found::At(index),
        }
    }

    pub(super) fn steps(&self, among: usize) -> Vec<&'a str> {
        self.0.step.iter().take(among).filter_map(|step| step.id.as_deref()).collect()
    }

    pub(super) fn calls(&self) -> Vec<&'a str> {
        self.0.provider.iter().map(|rule| rule.call.as_str()).collect()
    }

    /// Reports a reference to a step that isn't there. Returns its position where it is.
    pub(super) fn want_step(
        &self,
        name: &str,
        among: usize,
        path: &[document::Step<'static>],
        findings: &mut Findings,
    ) -> Option<usize> {
        match self.step(name, among) {
            Found::At(index) => Some(index),
            Found::TooMany(times) => {
                let message = format!("there is no request `{name}`: the step sends {times}");
                let help = "requests of a step with `times` are counted from 1; a single one has no number";
                findings.add(Code::ScenarioReference, path, message, help);
                None
            }
            Found::Nothing => {
                let later = matches!(self.step(name, usize::MAX), Found::At(_));
                let message = if later {
                    format!("the step `{name}` comes later, so nothing is known of it here")
                } else {
                    format!("no step has the id `{name}`")
                };
                findings.add(Code::ScenarioReference, path, message, {
                    let what = if among == usize::MAX { "steps" } else { "steps with an id before it" };
                    there(name, &self.steps(among), what)
                });
                None
            }
        }
    }

    /// Reports a reference to a call that isn't there. Returns the rule's position where it is.
    pub(super) fn want_call(
        &self,
        name: &str,
        path: &[document::Step<'static>],
        findings: &mut Findings,
    ) -> Option<usize> {
        match self.call(name) {
            Found::At(index) => Some(index),
            Found::TooMany(times) => {
                let message = format!("there is no call `{name}`: the rule takes {times}");
                let help = "a rule with `times = 3` takes CALL, CALL.2 and CALL.3";
                findings.add(Code::ScenarioReference, path, message, help);
                None
            }
            Found::Nothing => {
                let message = format!("no rule of the provider is called `{name}`");
                findings.add(Code::ScenarioReference, path, message, there(name, &self.calls(), "calls"));
                None
            }
        }
    }
}

pub(super) fn check(scenario: &Scenario, findings: &mut Findings) {
    let names = Names::of(scenario);
    for (index, step) in scenario.step.iter().enumerate() {
        let path = |field: &'static str| vec!["step".into(), index.into(), field.into()];
        if let Some(job) = &step.job
            && let Some(found) = names.want_step(job, index, &path("job"), findings)
            && !matches!(scenario.step[found].act, Verb::Submit | Verb::Lookup)
        {
            let message = format!("the step `{job}` makes no job");
            let help = "name the `submit` whose job is meant, or a `lookup`";
            findings.add(Code::ScenarioReference, &path("job"), message, help);
        }
        if let Some(job) = step.with.fault.get("job") {
            let path = ["step".into(), index.into(), "with".into(), "fault".into(), "job".into()];
            names.want_step(job, index, &path, findings);
        }
        if let Some(version) = step.with.version.as_deref().filter(|word| !["current", "none"].contains(word))
        {
            let path = ["step".into(), index.into(), "with".into(), "version".into()];
            names.want_step(version, index, &path, findings);
        }
        for (number, event) in step.after.iter().enumerate() {
            let path = ["step".into(), index.into(), "after".into(), number.into()];
            after(scenario, &names, event, index, &path, findings);
        }
        calls(scenario, &names, index, step, findings);
        if step.act == Verb::Heal {
            let applied = scenario
                .step
                .iter()
                .take(index)
                .any(|other| other.act == Verb::Fault && other.fault == step.fault);
            if let Some(fault) = step.fault.as_ref().filter(|_| !applied) {
                let message = format!("the fault `{fault}` was not applied before it is healed");
                findings.add(
                    Code::ScenarioReference,
                    &path("fault"),
                    message,
                    "apply it in an earlier `fault` step",
                );
            }
        }
    }
}

fn calls(scenario: &Scenario, names: &Names<'_>, index: usize, step: &Step, findings: &mut Findings) {
    let single = step.call.iter().map(|call| (call, vec!["step".into(), index.into(), "call".into()]));
    let several = step.calls.iter().enumerate();
    let several = several
        .map(|(number, call)| (call, vec!["step".into(), index.into(), "calls".into(), number.into()]));
    for (call, path) in single.chain(several) {
        let Some(rule) = names.want_call(call, &path, findings) else { continue };
        let reply = scenario.provider[rule].reply;
        if step.act == Verb::Release && !rules::is_held(reply) {
            let message = format!(
                "`{call}` is not held, so there is nothing to release: its reply is `{}`",
                rules::word(reply)
            );
            findings.add(Code::ScenarioReference, &path, message, "let its rule say `hold` or `hold-fail`");
        }
    }
    if let Some(text) = &step.order {
        let path = ["step".into(), index.into(), "order".into()];
        if let Err(wrong) = order::parse(text, &step.calls) {
            let help = "write `A B` for one after the other, `A+B` for both together; each call once";
            findings.add(Code::ScenarioReference, &path, wrong.to_string(), help);
        }
    }
}

fn after(
    scenario: &Scenario,
    names: &Names<'_>,
    event: &str,
    index: usize,
    path: &[document::Step<'static>],
    findings: &mut Findings,
) {
    let Some((name, seen)) = event.rsplit_once('.').filter(|(_, seen)| OF_CALL.contains(seen)) else {
        let message = format!("`{event}` is nothing that can be seen");
        let help = "write CALL.arrived, CALL.answered, CALL.gone, CALL.probed, FAULT.hit or STEP.answered";
        findings.add(Code::ScenarioReference, path, message, help);
        return;
    };
    if seen == "hit" {
        let applied = scenario.step.iter().take(index + 1).any(|step| step.fault.as_deref() == Some(name));
        if !applied {
            let message = format!("no step before this one applies a fault `{name}`");
            findings.add(Code::ScenarioReference, path, message, "apply it first, with `do = \"fault\"`");
        }
        return;
    }
    let call = !matches!(names.call(name), Found::Nothing);
    let step = !matches!(names.step(name, usize::MAX), Found::Nothing);
    match (call, step, seen) {
        (true, true, "answered") => {
            let message = format!("`{event}` may mean the step or the call: both are named `{name}`");
            findings.add(Code::ScenarioReference, path, message, "rename one of them");
        }
        (true, _, _) => {
            names.want_call(name, path, findings);
        }
        (false, true, "answered") => {
            names.want_step(name, index, path, findings);
        }
        (false, true, _) => {
            let message = format!("`{name}` is a step, and only its answers can be seen");
            findings.add(
                Code::ScenarioReference,
                path,
                message,
                format!("write `{name}.answered`, or name a call"),
            );
        }
        (false, false, _) => {
            let mut all = names.calls();
            all.extend(names.steps(index));
            let message = format!("no call and no step is named `{name}`");
            findings.add(Code::ScenarioReference, path, message, there(name, &all, "names"));
        }
    }
}

/// `click.3` is the third request of `click`.
fn split(name: &str) -> (&str, Option<u32>) {
    match name.rsplit_once('.').map(|(base, number)| (base, number.parse())) {
        Some((base, Ok(number))) => (base, Some(number)),
        _ => (name, None),
    }
}

/// What to say to somebody who wrote a name that isn't there.
pub(super) fn there(name: &str, names: &[&str], what: &str) -> String {
    match (nearest(name, names.iter().copied()), names.is_empty()) {
        (Some(meant), _) => format!("did you mean `{meant}`?"),
        (None, true) => format!("there are no {what}"),
        (None, false) => format!("{what}: {}", names.join(", ")),
    }
}
