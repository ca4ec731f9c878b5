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

/// Carries out every run of a fault: its own, and its healthy counterpart.
async fn fault(id: &str, verdict: &str) {
    let file = CaseFile::load(id);
    assert_eq!(file.id, id);
    assert_eq!(shown(&file), verdict, "{}", file.fault);
    let mut failed = Vec::new();
    for run in &file.run {
        let (script, report) = carry_out(run).await;
        failed.extend(
            problems(run, &script, &report).into_iter().map(|problem| format!("{}: {problem}", run.shows)),
        );
    }
    println!("{:<4} {:<48} {:<40} {} runs", file.id, verdict, file.seen_in, file.run.len());
    assert!(failed.is_empty(), "{id}, {}:\n{}", file.fault, failed.join("\n"));
}

/// The verdict that its first run shows.
fn shown(file: &CaseFile) -> String {
    let run = file
        .run
        .iter()
        .find(|run| run.expect != "PASS" || run.sample.is_some())
        .expect("a run that shows it");
    match &run.sample {
        Some(sample) if run.expect == "PASS" => format!("PASS with a sample {sample}"),
        _ => run.expect.clone(),
    }
}

macro_rules! faults {
    ($($name:ident, $id:literal, $verdict:literal;)*) => {
        $(
            #[tokio::test(start_paused = true)]
            async fn $name() {
                fault($id, $verdict).await;
            }
        )*

        /// Every fault that has a test here.
        const TESTED: &[&str] = &[$($id),*];
    };
}

faults! {
    a1, "A1", "FAIL(extra_top_level_key)";
    a2, "A2", "FAIL(schema:type)";
    a3, "A3", "FAIL(not_json)";
    a4, "A4", "FAIL(schema)";
    a5, "A5", "BLOCK(param_dropped)";
    a6, "A6", "FAIL(fenced)";
    a8, "A8", "FAIL(prose_around)";
    a9, "A9", "FAIL(not_json)";
    a11, "A11", "FAIL(invalid_json:escape)";
    a12, "A12", "FAIL(invalid_unicode)";
    a13, "A13", "FAIL(duplicate_key)";
    a15, "A15", "FAIL(value_mismatch)";
    a17, "A17", "FAIL(format:date)";
    a18, "A18", "FAIL(format:date)";
    a19, "A19", "FAIL(missing)";
    a21, "A21", "BLOCK(schema_rewrite_changed_language)";
    a22, "A22", "FAIL(fabricated_value)";
    a23, "A23", "FAIL(null_when_present)";
    a25, "A25", "FAIL(trailing_data)";
    a26, "A26", "FAIL(truncated)";
    a28, "A28", "FAIL(schema:pattern)";
    a29, "A29", "BLOCK(schema_subset)";
    a30, "A30", "FAIL(empty_content)";
    a32, "A32", "FAIL(empty_content)";
    a33, "A33", "FAIL(provider_rejected_output)";
    b2, "B2", "FAIL(finish_mismatch)";
    b3, "B3", "REFUSED";
    b4, "B4", "REFUSED";
    b5, "B5", "REFUSED";
    b7, "B7", "FAIL(provider_filter:prompt)";
    b8, "B8", "INFRA(upstream_in_band_error)";
    b10, "B10", "FAIL(finish_missing)";
    b12, "B12", "FAIL(stream_truncated)";
    b14, "B14", "INFRA(in_band)";
    b15, "B15", "INFRA(infrastructure:throttled)";
    c1, "C1", "BLOCK(template_rejects_roles)";
    c3, "C3", "FAIL(render_mismatch)";
    c4, "C4", "BLOCK(system_position)";
    c5, "C5", "FAIL(render_mismatch)";
    c7, "C7", "FAIL(double_bos)";
    c8, "C8", "FAIL(missing_bos)";
    c9, "C9", "FAIL(special_token_injection)";
    c11, "C11", "FAIL(injected_system)";
    c13, "C13", "FAIL(prompt_truncated)";
    c14, "C14", "FAIL(window_smaller_than_declared)";
    c15, "C15", "FAIL(budget_unsafe)";
    c16, "C16", "BLOCK(over_budget_on_fallback)";
    c18, "C18", "BLOCK(needs_two_turns)";
    d1, "D1", "BLOCK(over_budget_on_fallback)";
    d2, "D2", "FAIL(param_not_allowed)";
    d4, "D4", "FAIL(wrong_surface)";
    d5, "D5", "FAIL(duplicated_prefix)";
    d7, "D7", "UNKNOWN";
    d8, "D8", "UNKNOWN";
    d10, "D10", "FAIL(not_json)";
    d11, "D11", "FAIL(other_provider)";
    d12, "D12", "BLOCK(config)";
    d14, "D14", "FAIL(unstable)";
    d15, "D15", "BLOCK(param_unsupported)";
}

#[test]
fn no_fault_is_missing() {
    let mut files: Vec<String> = CaseFile::all().into_iter().map(|file| file.id).collect();
    let mut tested: Vec<String> = TESTED.iter().map(|id| (*id).to_owned()).collect();
    files.sort();
    tested.sort();
    println!("{} faults on file, {} tests", files.len(), tested.len());
    assert_eq!(files, tested, "a file without a test, or a test without its file");
    assert_eq!(tested.len(), FAULTS);
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
