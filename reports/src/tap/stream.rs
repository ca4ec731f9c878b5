use std::io::{self, Write};

use crate::{
    headline::{broken, headline, sentence_of},
    model::{Cell, RunReport, Verdict},
    tally::shortfall,
    text::{human, plain, verdict_word},
};

/// Writes the report as TAP 14: one test point a cell, in the order of the plan, with what went wrong as a YAML
/// diagnostic.
///
/// A missing witness is `not ok`: TAP's `TODO` would let it pass. The plan counts what was planned, and a run that was
/// interrupted bails out, so that no consumer takes the part for the whole.
pub fn render(report: &RunReport, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "TAP version 14")?;
    let planned = report.planned.max(report.cells.len());
    if planned == 0 {
        return writeln!(out, "1..0 # SKIP nothing was selected");
    }
    writeln!(out, "1..{planned}")?;
    for (number, cell) in (1..).zip(&report.cells) {
        point(number, cell, out)?;
    }
    match shortfall(report) {
        Some(text) => writeln!(out, "Bail out! {}", plain::one_line(&text)),
        None => Ok(()),
    }
}

fn point(number: usize, cell: &Cell, out: &mut dyn Write) -> io::Result<()> {
    let ok = if matches!(cell.verdict, Verdict::Pass | Verdict::Skipped) { "ok" } else { "not ok" };
    write!(out, "{ok} {number} - {}", escaped(&cell.name()))?;
    if cell.verdict == Verdict::Skipped {
        return writeln!(out, " # SKIP not verified: {}", escaped(&headline(cell)));
    }
    writeln!(out)?;
    if cell.verdict != Verdict::Pass || cell.flaky {
        diagnostic(cell, out)?;
    }
    Ok(())
}

fn diagnostic(cell: &Cell, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "  ---")?;
    let line = |out: &mut dyn Write, name: &str, value: &str| writeln!(out, "  {name}: {}", quoted(value));
    line(out, "verdict", &verdict_word(cell.verdict).to_lowercase())?;
    line(out, "message", &headline(cell))?;
    let mut promises = broken(cell).peekable();
    if promises.peek().is_some() {
        writeln!(out, "  broken:")?;
        for promise in promises {
            writeln!(out, "    - promise: {}", quoted(&promise.name))?;
            writeln!(out, "      sentence: {}", quoted(&sentence_of(promise)))?;
            let place = format!("{}:{}", cell.source.file, promise.line.unwrap_or(cell.source.line));
            writeln!(out, "      at: {}", quoted(&place))?;
        }
    }
    if let Some(error) = &cell.error {
        line(out, "help", &error.help)?;
    }
    if cell.flaky {
        let repeats: Vec<String> =
            cell.repeats.iter().map(|verdict| quoted(&verdict_word(*verdict).to_lowercase())).collect();
        writeln!(out, "  repeats: [{}]", repeats.join(", "))?;
    }
    line(out, "again", &cell.replay)?;
    writeln!(out, "  duration_ms: {}", human::millis(cell.duration_us))?;
    writeln!(out, "  ...")
}

/// A description without what TAP would read as a directive.
fn escaped(text: &str) -> String {
    plain::one_line(text).replace('\\', "\\\\").replace('#', "\\#")
}

/// A YAML scalar in double quotes; every JSON string is one.
fn quoted(text: &str) -> String {
    serde_json::Value::from(plain::one_line(text).into_owned()).to_string()
}
