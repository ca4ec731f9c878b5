//! Reports for people.

use std::io::Write;

use crate::parity::Comparison;
use crate::run::{CheckReport, Plan};
use crate::verdict::{Finding, Note, explain};

type Written = std::io::Result<()>;

/// One finding, with what to do.
pub(super) fn finding(out: &mut (dyn Write + Send), finding: &Finding) -> Written {
    writeln!(out, "{} {} {}", finding.stage.short(), finding.verdict, finding.message)?;
    if let Some(place) = &finding.place {
        writeln!(out, "   at {place}")?;
    }
    if let Some(help) = finding.verdict.code().and_then(|code| explain(code.family())) {
        writeln!(out, "   {help}")?;
    }
    Ok(())
}

/// Notes, each kind once.
pub(super) fn notes(out: &mut (dyn Write + Send), notes: &[Note]) -> Written {
    for note in notes {
        writeln!(out, "note {}: {}", note.code, note.message)?;
    }
    Ok(())
}

/// A check.
pub(super) fn report(out: &mut (dyn Write + Send), report: &CheckReport) -> Written {
    let provider = &report.provider;
    writeln!(out, "{} · {} ({}, {})", report.contract, provider.name, provider.dialect, provider.model)?;
    for one in &report.findings {
        finding(out, one)?;
    }
    let figures = &report.figures;
    if figures.samples > 0 {
        writeln!(
            out,
            "samples {}, passed {} ({:.1} %), 95 % interval {:.1} to {:.1} %, bar {:.1} %",
            figures.samples,
            figures.passed,
            100.0 * f64::from(figures.passed) / f64::from(figures.samples),
            100.0 * figures.lower_bound,
            100.0 * figures.upper_bound,
            100.0 * figures.bar,
        )?;
        if figures.recovered != figures.passed {
            writeln!(out, "a consumer that strips fences could use {} of them", figures.recovered)?;
        }
        if figures.refused + figures.unknown > 0 {
            writeln!(out, "refused {}, unknown {}", figures.refused, figures.unknown)?;
        }
        for (code, count) in figures.failed.iter().chain(&figures.inconclusive) {
            writeln!(out, "  {count:>5} × {code}")?;
        }
        writeln!(out, "latency p50 {} ms, p95 {} ms", figures.p50_ms, figures.p95_ms)?;
    }
    let spent = &figures.spent;
    writeln!(
        out,
        "calls {}, retries {}, tokens {} in and {} out, {:.4} USD{}",
        spent.calls,
        figures.retries,
        spent.input_tokens,
        spent.output_tokens,
        spent.usd,
        if report.replayed { ", replayed" } else { "" }
    )?;
    if let Some(failure) = report.failures.first() {
        writeln!(
            out,
            "first failure: case {}, sample {}: {}",
            failure.case, failure.sample, failure.verdict
        )?;
        writeln!(out, "  {}", failure.message)?;
        for more in &failure.more {
            writeln!(out, "  {more}")?;
        }
        writeln!(out, "  request {}", failure.request)?;
        writeln!(out, "  answer  {}", failure.answer.trim_end())?;
        if let Some(help) = failure.verdict.code().and_then(|code| explain(code.family())) {
            writeln!(out, "  {help}")?;
        }
    }
    notes(out, &report.notes)?;
    writeln!(out, "{}: {}", report.verdict, report.reason)
}

/// A comparison.
pub(super) fn comparison(out: &mut (dyn Write + Send), comparison: &Comparison) -> Written {
    writeln!(out, "primary:")?;
    report(out, &comparison.primary)?;
    writeln!(out, "\nfallback:")?;
    report(out, &comparison.fallback)?;
    writeln!(out)?;
    for field in &comparison.fields {
        writeln!(
            out,
            "{} {}: {} of {} agree, lower bound {:.1} %, bar {:.1} %",
            if field.holds() { "agrees " } else { "differs" },
            field.select,
            field.agreed,
            field.samples,
            100.0 * field.lower_bound,
            100.0 * field.bar
        )?;
        if let Some(example) = &field.example {
            writeln!(out, "   {example}")?;
        }
    }
    for rule in &comparison.rules {
        writeln!(out, "rule {}: holds for {} of {}", rule.rule, rule.held, rule.samples)?;
    }
    writeln!(out, "{}: {}", comparison.verdict, comparison.reason)
}

/// A plan.
pub(super) fn plan(out: &mut (dyn Write + Send), plan: &Plan) -> Written {
    writeln!(
        out,
        "would send {} canaries and {} samples to {}",
        plan.canary_calls, plan.sample_calls, plan.endpoint
    )?;
    let needed = plan.samples_needed.map_or("no number".to_owned(), |needed| needed.to_string());
    writeln!(
        out,
        "the bar needs {needed} samples that all pass; all passing, the lower bound is {:.4}",
        plan.best_bound
    )?;
    if let Some(allowed) = plan.failures_allowed {
        writeln!(out, "at most {allowed} may fail")?;
    }
    let output = plan
        .output_tokens
        .map_or("no limit on output".to_owned(), |tokens| format!("at most {tokens} tokens out"));
    let usd = plan.usd.map_or(String::new(), |usd| format!(", at most {usd:.4} USD"));
    writeln!(out, "about {} tokens in, {output}{usd}", plan.input_tokens)?;
    if !plan.capped.is_empty() {
        writeln!(out, "the spend cap would end the run early: {}", plan.capped.join(", "))?;
    }
    Ok(())
}

/// Anything as JSON.
pub(super) fn json(out: &mut (dyn Write + Send), value: &impl serde::Serialize) -> Written {
    serde_json::to_writer_pretty(&mut *out, value)?;
    writeln!(out)
}
