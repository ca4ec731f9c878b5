//! Comparisons and what is attested of them.

use std::sync::Arc;

use jiff::Timestamp;
use onejob_contracts::attest::{StatementError, attested, statement};
use onejob_contracts::contract::Contract;
use onejob_contracts::parity::compare;
use onejob_contracts::run::{CheckOptions, CheckReport, Silent, check};

use crate::support::{INVOICE, Run, Script, Scripted, Workspace};
use crate::wire::Wire;

fn workspace() -> Workspace {
    let contract = "[samples]\nper_case = 40\n[thresholds]\npass_rate = 0.9\nagreement = 0.9\n[[agree]]\nselect = \"$.total_cents\"\n[[rule]]\nname = \"same\"\ncel = \"output.vendor == primary.vendor\"\n";
    Workspace::new(&contract.parse().unwrap(), &toml::Table::new())
}

async fn report(workspace: &Workspace, name: &str, answers: &[(usize, &str)]) -> CheckReport {
    let contract = workspace.contract().unwrap();
    let (mut provider, dialect) = workspace.provider("fallback");
    provider.name = name.to_owned();
    let wire = Wire::load("openai-chat");
    let scripted = |(times, content): &(usize, &str)| Scripted {
        times: Some(*times),
        content: Some((*content).to_owned()),
        ..Scripted::default()
    };
    let run = Run::answering(answers.iter().map(scripted).collect());
    let script = Arc::new(Script::new(run.script(&|content| wire.success(content))));
    check(&contract, &provider, &dialect, script, CheckOptions::default(), &Silent).await.unwrap()
}

fn with_total(total: u32) -> String {
    INVOICE.replace("1250", &total.to_string())
}

fn verdict(contract: &Contract, primary: &CheckReport, fallback: &CheckReport) -> String {
    compare(contract, primary.clone(), fallback.clone()).verdict.to_string()
}

#[tokio::test(start_paused = true)]
async fn a_fallback_that_agrees_passes_and_one_that_does_not_fails_by_field() {
    let workspace = workspace();
    let contract = workspace.contract().unwrap();
    let primary = report(&workspace, "a", &[(1, INVOICE)]).await;
    let same = report(&workspace, "b", &[(1, INVOICE)]).await;
    assert_eq!(verdict(&contract, &primary, &same), "PASS");
    let other = report(&workspace, "b", &[(1, &with_total(12))]).await;
    assert!(other.verdict.is_pass(), "valid by itself");
    assert_eq!(verdict(&contract, &primary, &other), "FAIL(disagrees:$.total_cents)");
    let vendor = report(&workspace, "b", &[(1, &INVOICE.replace("ACME", "Acme"))]).await;
    assert_eq!(verdict(&contract, &primary, &vendor), "FAIL(rule:same)");
}

#[tokio::test(start_paused = true)]
async fn agreement_is_on_the_bound_and_not_on_the_rate() {
    let workspace = workspace();
    let contract = workspace.contract().unwrap();
    let primary = report(&workspace, "a", &[(1, INVOICE)]).await;
    // 39 of 40 is 97.5 %, and the bound is 87.1 %: below the bar of 90 %.
    let fallback = report(&workspace, "b", &[(40, INVOICE), (1, &with_total(12))]).await;
    let comparison = compare(&contract, primary, fallback);
    let field = &comparison.fields[0];
    assert_eq!((field.agreed, field.samples), (39, 40));
    assert!(!field.holds() && field.example.as_ref().unwrap().contains("1250"), "{field:?}");
}

#[tokio::test(start_paused = true)]
async fn a_primary_that_does_not_agree_with_itself_proves_nothing() {
    let workspace = workspace();
    let contract = workspace.contract().unwrap();
    let primary = report(&workspace, "a", &[(21, INVOICE), (20, &with_total(12))]).await;
    let fallback = report(&workspace, "b", &[(1, INVOICE)]).await;
    assert_eq!(verdict(&contract, &primary, &fallback), "INCONCLUSIVE(baseline_unstable)");
}

#[tokio::test(start_paused = true)]
async fn a_primary_that_fails_the_contract_is_no_baseline() {
    let workspace = workspace();
    let contract = workspace.contract().unwrap();
    let primary = report(&workspace, "a", &[(1, "prose")]).await;
    let fallback = report(&workspace, "b", &[(1, INVOICE)]).await;
    assert_eq!(verdict(&contract, &primary, &fallback), "FAIL(baseline:not_json)");
    assert_eq!(verdict(&contract, &fallback, &primary), "FAIL(not_json)");
}

#[tokio::test(start_paused = true)]
async fn reports_under_different_contracts_are_not_compared() {
    let workspace = workspace();
    let primary = report(&workspace, "a", &[(1, INVOICE)]).await;
    let text = std::fs::read_to_string(workspace.path("contract.toml")).unwrap();
    workspace.write("contract.toml", &text.replace("Add nothing.", "Add no keys."));
    let fallback = report(&workspace, "b", &[(1, INVOICE)]).await;
    assert_eq!(verdict(&workspace.contract().unwrap(), &primary, &fallback), "FAIL(other_contract)");
}

#[tokio::test(start_paused = true)]
async fn an_attestation_names_who_produced_the_bytes_and_reads_back_as_it_was() {
    let workspace = workspace();
    let contract = workspace.contract().unwrap();
    let primary = report(&workspace, "a", &[(1, INVOICE)]).await;
    let fallback = report(&workspace, "b", &[(1, INVOICE)]).await;
    let mut comparison = compare(&contract, primary, fallback);
    let now: Timestamp = "2026-03-01T12:00:00Z".parse().unwrap();
    let made = statement(&contract, &comparison, now).unwrap();
    let read = attested(&made).unwrap();
    assert_eq!((read.provider.name.as_str(), read.baseline.provider.name.as_str()), ("b", "a"));
    assert_eq!(read.expires.to_string(), "2026-03-31T12:00:00Z");
    assert_eq!(made["predicate"]["result"], "PASSED");
    assert_eq!(made["subject"][0]["name"], "contract");
    assert_eq!((read.figures.samples, read.figures.passed), (40, 40));

    // The log of a chain may call the failed provider the chosen one; the bytes decide.
    comparison.fallback.provider.produced_by = vec!["a".into()];
    assert!(matches!(statement(&contract, &comparison, now), Err(StatementError::OtherProducer { .. })));
}

#[tokio::test(start_paused = true)]
async fn a_verdict_that_its_own_figures_contradict_is_not_signed() {
    let workspace = workspace();
    let contract = workspace.contract().unwrap();
    let primary = report(&workspace, "a", &[(1, INVOICE)]).await;
    let fallback = report(&workspace, "b", &[(1, INVOICE)]).await;
    let good = compare(&contract, primary, fallback);
    for (passed, bound) in [(30, good.fallback.figures.lower_bound), (40, 0.5)] {
        let mut edited = good.clone();
        (edited.fallback.figures.passed, edited.fallback.figures.lower_bound) = (passed, bound);
        let refused = statement(&contract, &edited, Timestamp::now());
        assert!(matches!(refused, Err(StatementError::NotPassed { .. })), "{passed} {bound}: {refused:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_changed_between_check_and_signature_is_not_signed() {
    let workspace = workspace();
    let contract = workspace.contract().unwrap();
    let primary = report(&workspace, "a", &[(1, INVOICE)]).await;
    let fallback = report(&workspace, "b", &[(1, INVOICE)]).await;
    let comparison = compare(&contract, primary, fallback);
    let text = std::fs::read_to_string(workspace.path("contract.toml")).unwrap();
    workspace.write("contract.toml", &(text + "\n# a comment\n"));
    let changed = workspace.contract().unwrap();
    assert_eq!(
        statement(&changed, &comparison, Timestamp::now()),
        Err(StatementError::Changed("contract".into()))
    );
}

#[tokio::test(start_paused = true)]
async fn a_statement_whose_subjects_were_swapped_is_refused() {
    let workspace = workspace();
    let contract = workspace.contract().unwrap();
    let primary = report(&workspace, "a", &[(1, INVOICE)]).await;
    let fallback = report(&workspace, "b", &[(1, INVOICE)]).await;
    let made = statement(&contract, &compare(&contract, primary, fallback), Timestamp::now()).unwrap();
    let mut swapped = made.clone();
    swapped["subject"][0]["digest"]["sha256"] = "0".repeat(64).into();
    assert!(attested(&swapped).is_err());
    let mut failed = made;
    failed["predicate"]["result"] = "FAILED".into();
    assert!(attested(&failed).is_err());
}

#[tokio::test(start_paused = true)]
async fn drift_is_told_from_bad_luck_and_from_a_bad_network() {
    use onejob_contracts::drift::{Drift, drift};

    let workspace = workspace();
    let contract = workspace.contract().unwrap();
    let primary = report(&workspace, "a", &[(1, INVOICE)]).await;
    let fallback = report(&workspace, "b", &[(1, INVOICE)]).await;
    let comparison = compare(&contract, primary, fallback.clone());
    let now: Timestamp = "2026-03-01T12:00:00Z".parse().unwrap();
    let proven = attested(&statement(&contract, &comparison, now).unwrap()).unwrap();
    let told = |report: &CheckReport| match drift(&proven, report, now) {
        Drift::None => "none".to_owned(),
        Drift::Inconclusive(_) => "inconclusive".to_owned(),
        Drift::Drifted(suspension) => suspension.reason,
    };
    assert_eq!(told(&fallback), "none");

    // One of ten fails: the bar of 90 % is still within reach, so nothing is proven.
    let unlucky = |passed, samples| {
        let mut report = fallback.clone();
        (report.figures.passed, report.figures.samples) = (passed, samples);
        report
    };
    assert_eq!(told(&unlucky(9, 10)), "none");
    assert!(told(&unlucky(5, 10)).contains("5 of 10 samples pass now"));

    let mut network = fallback.clone();
    network.figures.inconclusive.insert("infrastructure:connect".into(), 3);
    assert_eq!(told(&network), "inconclusive");

    let mut model = fallback.clone();
    model.provider.models_reported = vec!["model-2".into()];
    assert!(told(&model).contains("model-2 answers"));

    let mut other = fallback;
    other.digests.add("prompt", b"another");
    assert!(told(&other).contains("prompt changed"));
}
