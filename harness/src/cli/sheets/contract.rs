//! Contract checks as sheets.

use onejob_contracts::{
    parity::Comparison,
    run::{CheckReport, SampleFailure},
    verdict::{Code, Verdict, explain},
};
use onejob_reports::sheet::{Compare, Entry, Section, Sheet, Table, Tone};
use serde_json::Value;

/// Failed samples that are shown whole.
const SAMPLES: usize = 5;

/// A check of one provider.
pub(in crate::cli) fn check(report: &CheckReport) -> Sheet {
    let sheet = Sheet::new(
        "onejob contract check",
        tone(&report.verdict),
        report.verdict.to_string(),
        &report.reason,
    )
    .fact("contract", &report.contract)
    .fact("provider", of_whom(report));
    let sheet = common(sheet, report);
    let sheet = sheet.section("Pass rate", |section| section.table(rates(&[("provider", report)])));
    samples(findings(sheet, "provider", report), "provider", report)
}

/// A fallback against its primary.
pub(in crate::cli) fn comparison(both: &Comparison) -> Sheet {
    let (primary, fallback) = (&both.primary, &both.fallback);
    let sheet =
        Sheet::new("onejob contract compare", tone(&both.verdict), both.verdict.to_string(), &both.reason)
            .fact("contract", &fallback.contract)
            .fact("primary", of_whom(primary))
            .fact("fallback", of_whom(fallback));
    let mut sheet = common(sheet, fallback).section("Pass rates", |section| {
        section.table(rates(&[("primary", primary), ("fallback", fallback)]))
    });
    if !both.fields.is_empty() || !both.rules.is_empty() {
        sheet = sheet.section("Agreement", |section| section.table(agreement(both)));
    }
    let differing: Vec<Compare> = differing(primary, fallback).collect();
    if !differing.is_empty() {
        sheet = sheet.section("Answers that differ", |section| {
            section
                .prose("To one and the same input: what the primary answers most often, and what the fallback does.")
                .blocks(differing)
        });
    }
    let sheet = findings(findings(sheet, "primary", primary), "fallback", fallback);
    samples(sheet, "fallback", fallback)
}

fn tone(verdict: &Verdict) -> Tone {
    match verdict.exit_code() {
        0 => Tone::Good,
        1 => Tone::Bad,
        _ => Tone::Doubt,
    }
}

fn of_whom(report: &CheckReport) -> String {
    let provider = &report.provider;
    format!("{} ({}, {})", provider.name, provider.model, provider.dialect)
}

fn common(sheet: Sheet, report: &CheckReport) -> Sheet {
    let ended = report.ended.parse::<jiff::Timestamp>();
    let ended =
        ended.map_or_else(|_| report.ended.clone(), |at| at.strftime("%Y-%m-%d %H:%M:%S UTC").to_string());
    let sheet = sheet.fact("checked", ended).fact("onejob", &report.tool);
    if report.replayed { sheet.fact("answers", "replayed from a cassette") } else { sheet }
}

/// A figure of a check, by the name of its row.
type Row = (&'static str, fn(&CheckReport) -> Entry);

fn rates(reports: &[(&str, &CheckReport)]) -> Table {
    let rows: [Row; 9] = [
        ("samples", |r| r.figures.samples.to_string().into()),
        ("passed", |r| r.figures.passed.to_string().into()),
        ("lower bound", |r| {
            let met = r.figures.samples > 0 && r.figures.lower_bound >= r.figures.bar;
            Entry::new(percent(r.figures.lower_bound), if met { Tone::Good } else { Tone::Bad })
        }),
        ("upper bound", |r| percent(r.figures.upper_bound).into()),
        ("bar", |r| percent(r.figures.bar).into()),
        ("refused, unknown", |r| format!("{}, {}", r.figures.refused, r.figures.unknown).into()),
        ("latency p50, p95", |r| format!("{} ms, {} ms", r.figures.p50_ms, r.figures.p95_ms).into()),
        ("calls, retries", |r| format!("{}, {}", r.figures.spent.calls, r.figures.retries).into()),
        ("tokens in, out", |r| {
            format!("{}, {}", r.figures.spent.input_tokens, r.figures.spent.output_tokens).into()
        }),
    ];
    let head = std::iter::once("").chain(reports.iter().map(|(name, _)| *name));
    let table = Table::new("Wilson interval at 95 %: the lower bound must reach the bar", head);
    rows.iter().fold(table, |table, (name, figure)| {
        table.row(std::iter::once(Entry::from(*name)).chain(reports.iter().map(|(_, report)| figure(report))))
    })
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

fn agreement(both: &Comparison) -> Table {
    let head = ["field or rule", "agree", "of", "lower bound", "bar", "for example"];
    let table = Table::new("Samples of the fallback that agree with what the primary usually answers", head);
    let table = both.fields.iter().fold(table, |table, field| {
        table.row([
            Entry::from(format!("`{}`", field.select)),
            field.agreed.to_string().into(),
            field.samples.to_string().into(),
            Entry::new(percent(field.lower_bound), if field.holds() { Tone::Good } else { Tone::Bad }),
            percent(field.bar).into(),
            field.example.clone().unwrap_or_default().into(),
        ])
    });
    both.rules.iter().fold(table, |table, rule| {
        table.row([
            Entry::from(format!("rule `{}`", rule.rule)),
            rule.held.to_string().into(),
            rule.samples.to_string().into(),
            percent(rule.lower_bound).into(),
            Entry::default(),
            rule.example.clone().unwrap_or_default().into(),
        ])
    })
}

/// The cases in which the two answer differently, a few of them.
fn differing<'a>(primary: &'a CheckReport, fallback: &'a CheckReport) -> impl Iterator<Item = Compare> + 'a {
    let pairs = primary.outcomes.iter().filter_map(|(case, ours)| {
        let (left, times) = ours.commonest()?;
        let theirs = fallback.outcomes.get(case)?;
        let (right, count) = theirs.commonest()?;
        (left != right).then(|| {
            Compare::new(
                format!("primary, case {case}: {times} of {} samples", ours.total()),
                pretty(left),
                format!("fallback, case {case}: {count} of {} samples", theirs.total()),
                pretty(right),
            )
        })
    });
    pairs.take(SAMPLES)
}

/// With its members in one order, so that only differences differ.
fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}

fn findings(sheet: Sheet, who: &str, report: &CheckReport) -> Sheet {
    if report.findings.is_empty()
        && report.figures.failed.is_empty()
        && report.figures.inconclusive.is_empty()
    {
        return sheet;
    }
    sheet.section(format!("What speaks against the {who}"), |section| {
        let section = report.findings.iter().fold(section, |section, finding| {
            let place = finding.place.as_deref().map(|place| format!(" (`{place}`)")).unwrap_or_default();
            helped(
                section.warning(format!("{}: {}{place}", finding.verdict, finding.message)),
                finding.verdict.code(),
            )
        });
        let counts = report.figures.failed.iter().chain(&report.figures.inconclusive);
        let table = counts
            .fold(Table::new("Samples by what was wrong", ["code", "samples"]), |table, (code, n)| {
                table.row([Entry::from(format!("`{code}`")), n.to_string().into()])
            });
        if table.rows.is_empty() { section } else { section.table(table) }
    })
}

fn helped(section: Section, code: Option<&Code>) -> Section {
    match code.and_then(|code| explain(code.family())) {
        Some(help) => section.prose(help),
        None => section,
    }
}

fn samples(sheet: Sheet, who: &str, report: &CheckReport) -> Sheet {
    if report.failures.is_empty() {
        return sheet;
    }
    let shown = report.failures.iter().take(SAMPLES);
    sheet.section(format!("Failed samples of the {who}"), |section| shown.fold(section, sample))
}

fn sample(section: Section, failure: &SampleFailure) -> Section {
    let section = section.warning(format!(
        "Case {}, sample {}: {}: {}",
        failure.case, failure.sample, failure.verdict, failure.message
    ));
    let section = failure.more.iter().fold(section, Section::prose);
    section
        .fold("The answer", |section| section.command(failure.answer.trim_end()))
        .fold("The request", |section| section.command(pretty(&failure.request)))
}
