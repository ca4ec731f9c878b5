//! Which fields each verb needs and which it has a use for.

use super::{
    super::{Check, Scenario, Step, Verb, Way, With, document},
    finding::Findings,
};
use crate::fail::Code;

/// What a verb does with the fields of a step.
struct Use {
    /// Of each of these groups one is needed.
    needs: &'static [&'static [&'static str]],
    /// These mean something besides those of the group that the verb belongs to.
    takes: &'static [&'static str],
    /// Whether requests are sent, whose answers can be judged.
    asks: bool,
}

/// What a step sends is prepared before any of it goes out.
const MOST_REQUESTS: u32 = 10_000;
/// Fields of every verb.
const ALWAYS: [&str; 4] = ["id", "when", "after", "within"];
/// Fields of every verb that sends requests.
const ASKING: [&str; 9] = [
    "times",
    "together",
    "gate",
    "open",
    "expect",
    "expect_some",
    "expect_one",
    "with.owner",
    "with.replica",
];
/// The outcomes of an attempt that `resolve` can tell.
const OUTCOMES: [&str; 3] = ["succeeded", "failed", "not_executed"];

const fn usage(verb: Verb) -> Use {
    let (needs, takes, asks): (&'static [&'static [&'static str]], &'static [&'static str], bool) = match verb
    {
        Verb::Submit => (
            &[&["with.payload", "with.body_raw"]],
            &[
                "with.key",
                "with.key_raw",
                "with.key_lines",
                "with.payload_text",
                "with.race",
                "with.through",
                "with.query",
                "with.run_in",
                "with.provider",
            ],
            true,
        ),
        Verb::Read => (&[&["job"]], &["until"], true),
        Verb::Lookup => (&[&["with.key", "with.key_raw"]], &["until"], true),
        Verb::Retry => (&[&["job"]], &["with.provider", "with.key", "with.race"], true),
        Verb::Cancel => (&[&["job"]], &["with.accept_unknown", "with.version"], true),
        Verb::CancelAttempt => {
            (&[&["job"]], &["with.attempt", "with.version", "with.evidence", "with.accept_unknown"], true)
        }
        Verb::Resolve => {
            (&[&["job"], &["with.outcome"]], &["with.attempt", "with.version", "with.evidence"], true)
        }
        Verb::Deliver => (&[&["call"]], &["with.signature"], true),
        Verb::Await => (&[&["call", "after"]], &[], false),
        Verb::Release => (&[&["call", "calls"]], &["order", "meet"], false),
        Verb::Fault => (&[&["fault"]], &["with.fault", "with.replica"], false),
        Verb::Heal => (&[&["fault"]], &["with.replica"], false),
    };
    Use { needs, takes, asks }
}

pub(super) fn check(scenario: &Scenario, findings: &mut Findings) {
    for (index, step) in scenario.step.iter().enumerate() {
        fields(index, step, findings);
        shape(index, step, findings);
    }
}

fn fields(index: usize, step: &Step, findings: &mut Findings) {
    let verb = step.act.word();
    let used = usage(step.act);
    let given = given(step);
    for group in used.needs {
        if !group.iter().any(|field| given.contains(field)) {
            let message = format!("`{verb}` needs {}", quoted(group, " or "));
            let help = format!("say {} in this step", quoted(group, " or "));
            findings.add(Code::ScenarioField, &["step".into(), index.into()], message, help);
        }
    }
    for field in given {
        let known = ALWAYS.contains(&field)
            || (used.asks && ASKING.contains(&field))
            || used.takes.contains(&field)
            || used.needs.iter().any(|group| group.contains(&field));
        if !known {
            let mut allowed: Vec<_> = used.needs.concat();
            allowed.extend(used.takes);
            allowed.extend(ALWAYS);
            if used.asks {
                allowed.extend(ASKING);
            }
            allowed.sort_unstable();
            let message = format!("`{verb}` has no use for `{field}`");
            let help = format!("take it out; `{verb}` takes {}", allowed.join(", "));
            findings.add(Code::ScenarioField, &path(index, field), message, help);
        }
    }
}

fn shape(index: usize, step: &Step, findings: &mut Findings) {
    let mut wrong = |field: &'static str, message: String, help: &str| {
        findings.add(Code::ScenarioField, &path(index, field), message, help);
    };
    if step.times == Some(0) {
        wrong(
            "times",
            "`times` is 0: the step would do nothing".into(),
            "write 1 or more, or take the step out",
        );
    }
    if step.times.is_some_and(|times| times > MOST_REQUESTS) {
        wrong(
            "times",
            format!("one step sends at most {MOST_REQUESTS} requests"),
            "use `rounds` for more tries: each begins anew",
        );
    }
    if step.together && step.times.is_none_or(|times| times < 2) {
        wrong("together", "`together` needs `times` of at least 2".into(), "one request can't race itself");
    }
    if step.gate.is_some() && !step.together {
        wrong("gate", "`gate` means nothing without `together = true`".into(), "add it, or take `gate` out");
    }
    if step.open && step.until.is_some() {
        wrong("open", "`until` waits for answers and `open` doesn't".into(), "take one of them out");
    }
    if step.together && step.until.is_some() {
        wrong(
            "until",
            "`until` asks again and again, `together` at one moment".into(),
            "take one of them out",
        );
    }
    if let Some(meet) = step.meet.filter(|meet| *meet < 2) {
        wrong(
            "meet",
            format!("`meet` is {meet}: nobody to meet"),
            "write how many decisions must wait at the lock",
        );
    }
    if step.meet.is_some() && step.calls.len() < 2 {
        wrong("meet", "`meet` needs several `calls`".into(), "name the calls whose answers must meet");
    }
    if step.within.is_some_and(|within| within.0.is_zero()) {
        wrong("within", "`within` is nothing at all".into(), "write how long the step may take");
    }
    if step.call.is_some() && !step.calls.is_empty() {
        wrong("call", "`call` and `calls` contradict each other".into(), "name all of them in `calls`");
    }
    let keys = [step.with.key_raw.is_some(), !step.with.key_lines.is_empty()];
    if keys.iter().all(|given| *given) {
        wrong(
            "with.key_raw",
            "`key_raw` and `key_lines` contradict each other".into(),
            "take one of them out",
        );
    }
    if step.with.payload_text.is_some() && step.with.body_raw.is_some() {
        wrong(
            "with.payload_text",
            "`payload_text` and `body_raw` contradict each other".into(),
            "take one of them out",
        );
    }
    if step.with.payload_text.is_some() && step.with.payload.is_none() {
        let help = "name the payload too: `payload = \"P\"`; `{marker}` is its mark";
        wrong("with.payload_text", "`payload_text` has no payload to be the text of".into(), help);
    }
    if let Some(outcome) = step.with.outcome.as_deref().filter(|word| !OUTCOMES.contains(word)) {
        let help = "write succeeded, failed or not_executed";
        wrong("with.outcome", format!("`{outcome}` is no outcome of an attempt"), help);
    }
    match (step.with.through, step.with.run_in) {
        (Some(Way::Schedule), None) => {
            let message = "`through = \"schedule\"` doesn't say when the job is to start".to_owned();
            wrong("with.through", message, "add `run_in = \"2s\"`");
        }
        (None | Some(Way::Batch), Some(_)) => {
            let message = "`run_in` means nothing without `through = \"schedule\"`".to_owned();
            wrong("with.run_in", message, "add it, or take `run_in` out");
        }
        _ => {}
    }
    if step.with.attempt == Some(0) {
        wrong("with.attempt", "attempts are counted from 1".into(), "write 1 or more");
    }
    if step.with.replica == Some(0) {
        wrong("with.replica", "replicas are counted from 1".into(), "write 1 or more");
    }
}

/// Fields that the step says something in.
fn given(step: &Step) -> Vec<&'static str> {
    // Taken apart without `..`, so that a new field can't be forgotten here.
    let Step {
        id,
        act: _,
        with,
        job,
        when,
        after,
        times,
        together,
        gate,
        open,
        until,
        within,
        call,
        calls,
        order,
        meet,
        fault,
        expect,
        expect_some,
        expect_one,
    } = step;
    let check = |check: &Option<Check>| check.is_some();
    let of_step = [
        ("id", id.is_some()),
        ("job", job.is_some()),
        ("when", !when.is_empty()),
        ("after", !after.is_empty()),
        ("times", times.is_some()),
        ("together", *together),
        ("gate", gate.is_some()),
        ("open", *open),
        ("until", until.is_some()),
        ("within", within.is_some()),
        ("call", call.is_some()),
        ("calls", !calls.is_empty()),
        ("order", order.is_some()),
        ("meet", meet.is_some()),
        ("fault", fault.is_some()),
        ("expect", check(expect)),
        ("expect_some", check(expect_some)),
        ("expect_one", check(expect_one)),
    ];
    let given = of_step.into_iter().filter(|(_, given)| *given).map(|(field, _)| field);
    given.chain(given_with(with)).collect()
}

fn given_with(with: &With) -> Vec<&'static str> {
    let With {
        key,
        key_raw,
        key_lines,
        payload,
        payload_text,
        body_raw,
        query,
        owner,
        race,
        through,
        run_in,
        signature,
        provider,
        attempt,
        outcome,
        evidence,
        accept_unknown,
        version,
        replica,
        fault,
    } = with;
    let of_with = [
        ("with.key", key.is_some()),
        ("with.key_raw", key_raw.is_some()),
        ("with.key_lines", !key_lines.is_empty()),
        ("with.payload", payload.is_some()),
        ("with.payload_text", payload_text.is_some()),
        ("with.body_raw", body_raw.is_some()),
        ("with.query", query.is_some()),
        ("with.owner", owner.is_some()),
        ("with.race", *race),
        ("with.through", through.is_some()),
        ("with.run_in", run_in.is_some()),
        ("with.signature", signature.is_some()),
        ("with.provider", provider.is_some()),
        ("with.attempt", attempt.is_some()),
        ("with.outcome", outcome.is_some()),
        ("with.evidence", evidence.is_some()),
        ("with.accept_unknown", *accept_unknown),
        ("with.version", version.is_some()),
        ("with.replica", replica.is_some()),
        ("with.fault", !fault.is_empty()),
    ];
    of_with.into_iter().filter(|(_, given)| *given).map(|(field, _)| field).collect()
}

fn path(index: usize, field: &'static str) -> Vec<document::Step<'static>> {
    let mut path: Vec<document::Step<'static>> = vec!["step".into(), index.into()];
    path.extend(field.split('.').map(document::Step::from));
    path
}

fn quoted(fields: &[&str], between: &str) -> String {
    fields.iter().map(|field| format!("`{field}`")).collect::<Vec<_>>().join(between)
}
