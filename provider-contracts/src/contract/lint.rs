//! Whether a contract can be decided at all.

use crate::file::Excerpt;
use crate::schema::Checker;
use crate::statistics::{failures_allowed, samples_needed};
use crate::verdict::{Code, Finding, Note, Verdict};

use super::Contract;

/// Calls that one check makes at once, at most.
const MOST_AT_ONCE: usize = 1024;
/// Ten years.
const LONGEST_PROOF_HOURS: u32 = 10 * 366 * 24;
/// A day.
const LONGEST_CALL_MS: u64 = 24 * 60 * 60 * 1000;

/// What is wrong with a contract before any provider is looked at, and what is worth knowing.
#[must_use]
pub fn lint(contract: &Contract) -> (Vec<Finding>, Vec<Note>) {
    let mut findings = Vec::new();
    let mut notes = Vec::new();
    cases(contract, &mut findings);
    bar(contract, &mut findings, &mut notes);
    schema(contract, &mut findings, &mut notes);
    rules(contract, &mut findings, &mut notes);
    parity(contract, &mut findings);
    budget(contract, &mut findings);
    latency(contract, &mut findings);
    triggers(contract, &mut findings, &mut notes);
    tolerances(contract, &mut findings);
    (findings, notes)
}

fn block(code: &'static str, message: impl Into<String>) -> Finding {
    Finding::at_rest(Verdict::block(code), message)
}

fn line(contract: &Contract, span: std::ops::Range<usize>) -> String {
    let excerpt = Excerpt::of(&contract.path.display().to_string(), &contract.source, span);
    format!("{}:{}", excerpt.file, excerpt.line)
}

fn cases(contract: &Contract, findings: &mut Vec<Finding>) {
    if contract.cases.is_empty() {
        findings.push(block(
            "lint:no_cases",
            "there is no case: add [[case]] tables or `cases = \"inputs.jsonl\"` with real inputs",
        ));
    }
    for case in &contract.cases {
        for expectation in &case.expect {
            if !expectation.is_decidable() {
                let message = format!(
                    "case `{}`: the expectation at {} must say exactly one of equals, absent, present",
                    case.name,
                    expectation.select.as_str()
                );
                findings.push(block("lint:expectation", message));
            }
        }
    }
    if contract.spec.prompt.conversation {
        let own = user_turns(&contract.spec.prompt.messages);
        if !contract.cases.iter().any(|case| own + user_turns(&case.turns) >= 2) {
            findings.push(block(
                "needs_two_turns",
                "the job is a conversation and no case has two turns of the user: some providers reject only the second. \
                 Add `turns` to a case",
            ));
        }
    }
}

fn user_turns(turns: &[super::Turn]) -> usize {
    turns.iter().filter(|turn| turn.role == "user").count()
}

fn bar(contract: &Contract, findings: &mut Vec<Finding>, notes: &mut Vec<Note>) {
    let bar = &contract.spec.thresholds.pass_rate;
    let wanted = *bar.get_ref();
    let total = contract.sample_count();
    let place = line(contract, bar.span());
    if !(0.0..=1.0).contains(&wanted) {
        findings.push(block("lint:bar", format!("a pass rate of {wanted} is no share of 1")).at(place));
        return;
    }
    match samples_needed(wanted) {
        None => findings.push(
            block(
                "needs_more_samples",
                "no number of samples proves a pass rate of 1: ask for less, such as 0.99",
            )
            .at(place),
        ),
        Some(needed) if needed > total && !contract.cases.is_empty() => {
            let cases = u32::try_from(contract.cases.len()).unwrap_or(u32::MAX);
            let message = format!(
                "{total} samples can't prove a pass rate of {wanted}, even if all of them pass: that takes {needed}. \
                 Set per_case to {} or lower the bar",
                needed.div_ceil(cases)
            );
            findings.push(
                block("needs_more_samples", message)
                    .at(line(contract, contract.spec.samples.per_case.span())),
            );
        }
        Some(_) => {
            let allowed = failures_allowed(total, wanted).unwrap_or(0);
            notes
                .push(Note::new("lint:bar", format!("{total} samples, of which at most {allowed} may fail")));
        }
    }
    match contract.spec.samples.concurrency {
        0 => {
            findings.push(block("lint:concurrency", "a concurrency of 0 takes no samples: write at least 1"));
        }
        1..=MOST_AT_ONCE => {}
        more => findings.push(block(
            "lint:concurrency",
            format!("{more} calls at once is more than the {MOST_AT_ONCE} that one check makes"),
        )),
    }
    for (name, share) in [
        ("thresholds.max_refusal_rate", Some(contract.spec.thresholds.max_refusal_rate)),
        ("thresholds.agreement", contract.spec.thresholds.agreement),
        ("determinism.at_least", Some(contract.spec.determinism.at_least)),
    ] {
        if share.is_some_and(|share| !(0.0..=1.0).contains(&share)) {
            findings.push(block("lint:bar", format!("{name} must be a share between 0 and 1")));
        }
    }
}

fn schema(contract: &Contract, findings: &mut Vec<Finding>, notes: &mut Vec<Note>) {
    let Some(schema) = &contract.schema else {
        notes.push(Note::new(
            "lint:no_schema",
            "there is no output schema: only rules and expectations decide",
        ));
        if contract.spec.rule.is_empty() && contract.cases.iter().all(|case| case.expect.is_empty()) {
            findings.push(block(
                "lint:undecidable",
                "no schema, no rule and no expectation: any answer would pass. Add one of them",
            ));
        }
        return;
    };
    if let Err(problem) = Checker::new(schema) {
        let place = contract
            .spec
            .output
            .schema
            .as_ref()
            .map_or("inline_schema".into(), |path| path.display().to_string());
        findings.push(block("lint:schema", format!("the output schema is not usable: {problem}")).at(place));
    }
    let properties = schema.get("properties").and_then(serde_json::Value::as_object);
    for name in &contract.spec.output.null_equals_missing {
        if properties.is_some_and(|properties| !properties.contains_key(name)) {
            let message = format!("null_equals_missing names `{name}`, which the schema does not have");
            findings.push(block("lint:null_equals_missing", message));
        }
    }
}

fn rules(contract: &Contract, findings: &mut Vec<Finding>, notes: &mut Vec<Note>) {
    let mut seen = std::collections::BTreeSet::new();
    for rule in &contract.spec.rule {
        if !seen.insert(&rule.name) {
            findings.push(block("lint:rule", format!("two rules are called `{}`", rule.name)));
        }
        let unknown = rule.cel.unknown_variables();
        if !unknown.is_empty() {
            let message = format!(
                "rule `{}` speaks of {}: a rule sees input, output, primary and meta",
                rule.name,
                unknown.join(", ")
            );
            findings.push(block("lint:rule", message));
        }
        if !rule.cel.reads("output") && !rule.cel.reads("meta") {
            let message =
                format!("rule `{}` reads neither output nor meta: it says nothing of the answer", rule.name);
            findings.push(Finding::at_rest(Verdict::Block(Code::new("lint:rule")), message));
        }
    }
    if contract.spec.rule.is_empty()
        && contract.cases.iter().all(|case| case.expect.is_empty())
        && contract.spec.agree.is_empty()
    {
        notes.push(Note::new(
            "lint:schema_only",
            "only the shape is checked: a fallback that answers well-formed nonsense would pass. Add expectations, rules or agree fields",
        ));
    }
}

/// Every number that says how far apart two may be: TOML knows `nan` and `inf`, and with either every answer would pass.
fn tolerances(contract: &Contract, findings: &mut Vec<Finding>) {
    let agree = contract.spec.agree.iter().map(|agree| (agree.select.as_str(), agree.tolerance));
    let expect = contract.cases.iter().flat_map(|case| &case.expect);
    for (place, tolerance) in agree.chain(expect.map(|one| (one.select.as_str(), one.tolerance))) {
        if !(tolerance.is_finite() && tolerance >= 0.0) {
            let message =
                format!("{place}: a tolerance of {tolerance} decides nothing: write a number from 0 on");
            findings.push(block("lint:tolerance", message));
        }
    }
}

fn parity(contract: &Contract, findings: &mut Vec<Finding>) {
    for agree in &contract.spec.agree {
        if let Some(bar) = agree.at_least.filter(|bar| !(0.0..=1.0).contains(bar)) {
            let message = format!("{}: at_least is {bar}, which is no share of 1", agree.select.as_str());
            findings.push(block("lint:agree", message));
            continue;
        }
        let Some(bar) = agree.at_least.or(contract.spec.thresholds.agreement) else {
            let message = format!("{}: no bar; set at_least or thresholds.agreement", agree.select.as_str());
            findings.push(block("lint:agree", message));
            continue;
        };
        let total = contract.sample_count();
        match samples_needed(bar) {
            Some(needed) if needed <= total => {}
            needed => {
                let takes =
                    needed.map_or("no number of samples".to_owned(), |needed| format!("{needed} samples"));
                let message = format!(
                    "{}: {total} samples can't prove an agreement of {bar}; that takes {takes}",
                    agree.select.as_str()
                );
                findings.push(block("needs_more_samples", message));
            }
        }
    }
}

fn budget(contract: &Contract, findings: &mut Vec<Finding>) {
    let calls = u64::from(contract.sample_count()) + contract.cases.len() as u64;
    if contract.spec.budget.calls.is_some_and(|cap| cap < calls) {
        let message = format!(
            "the budget allows {} calls, and the samples take {calls}",
            contract.spec.budget.calls.unwrap_or(0)
        );
        findings.push(block("lint:budget", message));
    }
    let budget = contract.spec.budget;
    if budget.usd.is_some_and(|usd| !(usd.is_finite() && usd > 0.0)) || budget.tokens == Some(0) {
        let message = "a budget must be a number above 0: anything else ends no run, or lets none begin";
        findings.push(block("lint:budget", message));
    }
    match contract.spec.expires_after_hours {
        0 => findings.push(block(
            "lint:expiry",
            "an attestation that expires at once allows nothing: raise expires_after_hours",
        )),
        1..=LONGEST_PROOF_HOURS => {}
        hours => findings.push(block(
            "lint:expiry",
            format!("an attestation that holds for {hours} hours proves nothing about tomorrow: {LONGEST_PROOF_HOURS} (ten years) at most"),
        )),
    }
}

fn latency(contract: &Contract, findings: &mut Vec<Finding>) {
    let latency = contract.spec.latency;
    if latency.deadline_ms == 0 {
        findings.push(block("lint:latency", "no call is answered within 0 ms: raise deadline_ms"));
    }
    if latency.deadline_ms > LONGEST_CALL_MS {
        let message =
            format!("deadline_ms is {}, and no call is waited for longer than a day", latency.deadline_ms);
        findings.push(block("lint:latency", message));
    }
    if let Some(p95) = latency.p95_ms.filter(|p95| *p95 >= latency.deadline_ms && latency.deadline_ms > 0) {
        let message = format!(
            "p95_ms is {p95}, and no call waits longer than deadline_ms, which is {}: it says nothing",
            latency.deadline_ms
        );
        findings.push(block("lint:latency", message));
    }
}

fn triggers(contract: &Contract, findings: &mut Vec<Finding>, notes: &mut Vec<Note>) {
    if contract.spec.failover_on.is_empty() {
        let message = "failover_on is empty: only a request that never left lets a job move";
        notes.push(Note::new("lint:failover_on", message));
    }
    for class in &contract.spec.failover_on {
        if !class.is_definite() {
            let message = format!(
                "failover_on names `{}`, after which nobody knows whether the work was done: only definite failures may move a job",
                class.as_str()
            );
            findings.push(block("lint:failover_on", message));
        }
    }
}
