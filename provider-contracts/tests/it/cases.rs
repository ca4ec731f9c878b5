//! The faults that people met in public, each with its verdict, and each with a healthy counterpart that passes.

use std::sync::Arc;
use std::time::Duration;

use onejob_contracts::run::{CheckOptions, CheckReport, Silent, check};

use crate::support::{CaseFile, Run, Script, Workspace};
use crate::wire::Wire;

/// How many faults there are. A file that goes missing is noticed.
const FAULTS: usize = 59;

async fn carry_out(run: &Run) -> (Script2, CheckReport) {
    let workspace = Workspace::new(&run.contract, &run.provider);
    for (name, text) in &run.files {
        workspace.write(name, text);
    }
    let contract = workspace.contract().unwrap_or_else(|error| panic!("{error}"));
    let (provider, dialect) = workspace.provider("fallback");
    let wire = Wire::load(&provider.dialect);
    let stream = provider.stream;
    let envelope = move |content: &str| if stream { wire.streamed(content) } else { wire.success(content) };
    let script = Arc::new(Script::new(run.script(&envelope)));
    let report =
        check(&contract, &provider, &dialect, Arc::clone(&script) as _, CheckOptions::default(), &Silent)
            .await;
    (script, report.unwrap_or_else(|error| panic!("{error}")))
}

type Script2 = Arc<Script>;

/// `FAIL(schema)` also stands for `FAIL(schema:type)`; `INFRA` for an inconclusive run.
fn fits(expected: &str, found: &str) -> bool {
    let expected = expected.replace("INFRA(", "INCONCLUSIVE(");
    if expected == found {
        return true;
    }
    match (expected.strip_suffix(')'), expected.contains(':')) {
        (Some(start), false) => found.starts_with(&format!("{start}:")),
        _ => expected == "UNKNOWN" && found.starts_with("UNKNOWN("),
    }
}

fn problems(run: &Run, script: &Script, report: &CheckReport) -> Vec<String> {
    let mut problems = Vec::new();
    let found = report.verdict.to_string();
    if !fits(&run.expect, &found) {
        problems.push(format!("expected {} and got {found}: {}", run.expect, report.reason));
    }
    if run.expect.starts_with("BLOCK") && script.sends() != 0 {
        problems.push(format!("a BLOCK made {} calls", script.sends()));
    }
    if let Some(sample) = &run.sample {
        let verdicts: Vec<String> =
            report.failures.iter().map(|failure| failure.verdict.to_string()).collect();
        if !verdicts.iter().any(|verdict| fits(sample, verdict)) {
            problems.push(format!("expected a sample with {sample}, got {verdicts:?}"));
        }
    }
    for code in &run.notes {
        if !report.notes.iter().any(|note| note.code.as_str() == code) {
            problems.push(format!("the note {code} is missing: {:?}", report.notes));
        }
    }
    if run.sends.is_some_and(|sends| sends != script.sends()) {
        problems.push(format!("expected {:?} sends, got {}", run.sends, script.sends()));
    }
    if run.retries.is_some_and(|retries| retries != report.figures.retries) {
        problems.push(format!("expected {:?} retries, got {}", run.retries, report.figures.retries));
    }
    if let Some(least) = run.waits_ms {
        let times = script.times();
        let waited = times[times.len() - 1] - times[0];
        if waited < Duration::from_millis(least) {
            problems.push(format!("waited {waited:?} and should wait {least} ms"));
        }
    }
    if !report.verdict.is_pass() && report.reason.is_empty() {
        problems.push("a verdict without a reason".to_owned());
    }
    problems
}

#[tokio::test(start_paused = true)]
async fn every_fault_from_the_field_gets_its_verdict_and_its_healthy_counterpart_passes() {
    let files = CaseFile::all();
    let mut failed = Vec::new();
    let mut runs = 0;
    for file in &files {
        for run in &file.run {
            runs += 1;
            let (script, report) = carry_out(run).await;
            for problem in problems(run, &script, &report) {
                failed.push(format!("{} ({}): {problem}", file.id, run.shows));
            }
        }
        println!("{:<4} {:<40} {} runs", file.id, file.seen_in, file.run.len());
    }
    println!("{} faults, {runs} runs, {} problems", files.len(), failed.len());
    assert!(failed.is_empty(), "\n{}", failed.join("\n"));
    assert_eq!(files.len(), FAULTS);
}

#[test]
fn every_fault_has_a_run_that_shows_it_and_one_that_passes() {
    for file in CaseFile::all() {
        let passing = file.run.iter().filter(|run| run.expect == "PASS" && run.sample.is_none()).count();
        assert!(passing > 0, "{}: no healthy run, so nothing shows that the fault is what decides", file.id);
        assert!(passing < file.run.len(), "{}: no run shows the fault", file.id);
        assert!(!file.fault.is_empty() && file.seen_in.len() > 3, "{}", file.id);
    }
}
