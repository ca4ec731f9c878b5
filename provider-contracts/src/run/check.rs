//! The whole check, stage by stage.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures::StreamExt as _;

use super::canary::canaries;
use super::ledger::Ledger;
use super::pace::Pace;
use super::progress::Progress;
use super::report::{CheckReport, Figures, ProviderFacts};
use super::sample::Caller;
use super::tally::Tally;
use super::verdict::decide;
use crate::answer::Judge;
use crate::contract::{Contract, lint};
use crate::dialect::Dialect;
use crate::file::FileError;
use crate::provider::{Provider, StaticReport, static_check};
use crate::statistics::{lower_bound, upper_bound};
use crate::transport::{RunId, Transport};
use crate::verdict::{Finding, Stage, Verdict};

/// How a check is to be carried out.
#[derive(Clone, Copy, Debug, Default)]
pub struct CheckOptions {
    /// Take this many samples of each case instead of the contract's number; the bar stays.
    pub per_case: Option<u32>,
    /// Answers come from a cassette.
    pub replayed: bool,
    /// What the calls are known by. One for each run, or a provider that recognises them answers from memory.
    pub run: RunId,
}

/// A check can't be carried out.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// A file can't be used.
    #[error(transparent)]
    File(#[from] FileError),
    /// The transport failed, such as a cassette without a call.
    #[error("{0}")]
    Transport(String),
}

/// Carries the check out.
///
/// # Errors
/// When it can't be carried out at all. Everything that a provider does is in the report.
pub async fn check(
    contract: &Contract,
    provider: &Provider,
    dialect: &Dialect,
    transport: Arc<dyn Transport>,
    options: CheckOptions,
    progress: &dyn Progress,
) -> Result<CheckReport, CheckError> {
    let started = jiff::Timestamp::now().to_string();
    progress.stage(Stage::Static, 0);
    let report = static_check(contract, provider, dialect)?;
    let (mut findings, mut notes) = lint(contract);
    // A reduced run can't reach the contract's bar, and says so by its bound.
    if options.per_case.is_some() {
        findings.retain(|finding| finding.verdict != Verdict::block("needs_more_samples"));
    }
    findings.extend(report.findings.iter().cloned());
    notes.extend(report.notes.iter().cloned());
    let ledger = Ledger::new(contract.spec.budget, provider.price);
    let mut tally = Tally::default();
    if findings.is_empty() {
        let judge = match Judge::new(contract) {
            Ok(judge) => judge,
            Err(problem) => return Err(CheckError::Transport(problem)),
        };
        let pace = Pace::default();
        let caller = Caller {
            contract,
            provider,
            dialect,
            judge: &judge,
            transport,
            ledger: &ledger,
            pace: &pace,
            progress,
            run: options.run,
        };
        findings.extend(live(&caller, &report, options, &mut tally).await?);
    }
    let (verdict, reason) = match findings.first() {
        Some(first) => (first.verdict.clone(), first.message.clone()),
        None => decide(contract, &tally),
    };
    let facts = facts(provider, &report, &tally);
    notes.extend(tally.notes.keys().cloned());
    notes.extend(wire_notes(provider, &facts, &tally));
    Ok(CheckReport {
        format: 1,
        tool: env!("CARGO_PKG_VERSION").to_owned(),
        contract: contract.name().to_owned(),
        digests: report.digests,
        provider: facts,
        verdict,
        reason,
        findings,
        notes,
        figures: figures(contract, &tally, &ledger),
        failures: tally.failures,
        outcomes: merged(tally.concurrent, tally.serial),
        started,
        ended: jiff::Timestamp::now().to_string(),
        replayed: options.replayed,
    })
}

/// Canaries, then samples. Findings of the canaries stop the check.
async fn live(
    caller: &Caller<'_>,
    report: &StaticReport,
    options: CheckOptions,
    tally: &mut Tally,
) -> Result<Vec<Finding>, CheckError> {
    let cases = u32::try_from(caller.contract.cases.len()).unwrap_or(u32::MAX);
    if caller.contract.spec.canary.cases {
        caller.progress.stage(Stage::Canary, cases);
        let (findings, results) = canaries(caller, report).await;
        if let Some(problem) = results.iter().find_map(|result| result.broken.clone()) {
            return Err(CheckError::Transport(problem));
        }
        if !findings.is_empty() {
            for result in results {
                caller.progress.sample(&result);
                tally.models.extend(result.model.clone());
                tally.served_by.extend(result.served_by.clone());
                if !result.judgement.verdict.is_pass() {
                    tally.retries += result.sends.saturating_sub(1);
                    tally.failures.push(super::report::SampleFailure::of(result));
                }
            }
            return Ok(findings);
        }
    }
    let per_case = options.per_case.unwrap_or(*caller.contract.spec.samples.per_case.get_ref());
    let serial = caller.contract.spec.samples.serial;
    caller.progress.stage(Stage::Samples, cases.saturating_mul(per_case.saturating_add(serial)));
    samples(caller, report, per_case, tally).await;
    for number in 0..serial {
        for case in &caller.contract.cases {
            let (Some(conversation), Some(facts)) =
                (report.conversations.get(&case.name), report.facts.get(&case.name))
            else {
                continue;
            };
            let name = format!("serial-{number}");
            let result = caller.sample(case, conversation, facts, &name, caller.provider.stream).await;
            caller.progress.sample(&result);
            tally.add(result, true);
        }
    }
    match tally.broken.take() {
        Some(problem) => Err(CheckError::Transport(problem)),
        None => Ok(Vec::new()),
    }
}

async fn samples(caller: &Caller<'_>, report: &StaticReport, per_case: u32, tally: &mut Tally) {
    // Round by round over the cases: an early end has then seen all of them.
    let work = (0..per_case).flat_map(|number| caller.contract.cases.iter().map(move |case| (case, number)));
    let calls = work.filter_map(|(case, number)| {
        let conversation = report.conversations.get(&case.name)?;
        let facts = report.facts.get(&case.name)?;
        Some(async move {
            caller.sample(case, conversation, facts, &number.to_string(), caller.provider.stream).await
        })
    });
    let concurrency = caller.contract.spec.samples.concurrency.max(1);
    // Once it is over nothing more is sent, and what is out comes home: it costs money.
    let over = AtomicBool::new(false);
    let calls =
        futures::stream::iter(calls).take_while(|_| futures::future::ready(!over.load(Ordering::Relaxed)));
    let mut running = std::pin::pin!(calls.buffer_unordered(concurrency));
    while let Some(result) = running.next().await {
        let told = over.load(Ordering::Relaxed) && result.exhausted;
        over.fetch_or(result.broken.is_some() || result.exhausted, Ordering::Relaxed);
        if !told {
            caller.progress.sample(&result);
            tally.add(result, false);
        }
    }
}

fn facts(provider: &Provider, report: &StaticReport, tally: &Tally) -> ProviderFacts {
    ProviderFacts {
        name: provider.name.clone(),
        dialect: provider.dialect.clone(),
        endpoint: report.request.as_ref().map(|request| request.url.clone()).unwrap_or_default(),
        model: provider.model.clone(),
        models_reported: tally.models.iter().cloned().collect(),
        served_by: tally.served_by.iter().cloned().collect(),
        produced_by: tally.produced_by.iter().cloned().collect(),
        parameters: provider.parameters.clone(),
    }
}

fn wire_notes(provider: &Provider, facts: &ProviderFacts, tally: &Tally) -> Vec<crate::verdict::Note> {
    use crate::verdict::Note;
    let mut notes = Vec::new();
    for reported in facts.models_reported.iter().filter(|reported| **reported != provider.model) {
        notes.push(Note::new(
            "model_reported",
            format!("asked for {} and {reported} answered", provider.model),
        ));
    }
    let unparsed = ["not_json", "fenced", "prose_around", "schema", "missing", "extra_top_level_key"];
    let ignored =
        tally.failed.keys().any(|code| unparsed.contains(&crate::verdict::Code::from_text(code).family()));
    let asked = provider.structured != crate::provider::Structured::None;
    if ignored && asked {
        let message =
            "structured_output: claimed_not_enforced. The format was asked for and answers break it";
        notes.push(Note::new("structured_output", message));
    }
    notes
}

fn figures(contract: &Contract, tally: &Tally, ledger: &Ledger) -> Figures {
    let samples = tally.scored();
    Figures {
        samples,
        passed: tally.passed,
        lower_bound: lower_bound(tally.passed, samples),
        upper_bound: upper_bound(tally.passed, samples),
        bar: *contract.spec.thresholds.pass_rate.get_ref(),
        recovered: tally.recovered,
        refused: tally.refused,
        unknown: tally.unknown,
        failed: tally.failed.clone(),
        inconclusive: tally.inconclusive.clone(),
        retries: tally.retries,
        spent: ledger.spent(),
        p50_ms: tally.percentile(0.5),
        p95_ms: tally.percentile(0.95),
    }
}

type Outcomes = BTreeMap<String, super::CaseOutcomes>;

fn merged(mut concurrent: Outcomes, serial: Outcomes) -> Outcomes {
    for (case, outcomes) in serial {
        let into = concurrent.entry(case).or_default();
        for (output, count) in outcomes.outputs {
            for _ in 0..count {
                into.add(Some(&output));
            }
        }
        into.others += outcomes.others;
        into.without += outcomes.without;
    }
    concurrent
}
