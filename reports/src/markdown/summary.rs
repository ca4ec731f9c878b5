// A String takes whatever is written to it, so the results of `write!` are dropped.
use std::{
    fmt::Write as _,
    io::{self, Write},
};

use super::escape::{block, code, text};
use crate::{
    headline::{broken, details, headline, sentence_of},
    model::{Cell, RunReport, Verdict},
    tally::{Tally, run_word, shortfall, slowest},
    text::{human, verdict_word},
    timeline::TextTimeline,
};

/// GitHub drops a step summary of more than 1 MiB whole.
const LIMIT: usize = 900 << 10;

/// Writes the summary: the verdict, what broke and how to see it again, then a table of every scenario.
///
/// Details that would make it longer than GitHub takes are left out, and it says so.
pub fn render(report: &RunReport, out: &mut dyn Write) -> io::Result<()> {
    let tally = Tally::of(report);
    let mut page = format!("## onejob: {} {}\n\n", symbol_of_run(report), run_word(report));
    _ = write!(
        page,
        "{} in {} against {}",
        tally.words(),
        human::duration(report.duration_us),
        code(&report.target)
    );
    if let Some(database) = &report.database {
        _ = write!(page, " on {}", text(database));
    }
    _ = writeln!(page, ", seed {}.", report.seed);
    if let Some(missing) = shortfall(report) {
        _ = write!(page, "\n> [!WARNING]\n> {}\n", text(&missing));
    }
    if !report.defects.is_empty() {
        _ = write!(page, "\nDefects switched on: {}.\n", text(&report.defects.join(", ")));
    }
    if !report.profile.widens.is_empty() {
        let widens = text(&report.profile.widens.join("; "));
        _ = write!(page, "\nProfile {} widens: {widens}.\n", code(&report.profile.name));
    }
    let table = table(report);
    let ending = ending(report, &tally);
    let mut left_out = 0;
    let mut room = LIMIT.saturating_sub(page.len() + table.len() + ending.len());
    for cell in report.cells.iter().filter(|cell| !matches!(cell.verdict, Verdict::Pass | Verdict::Skipped)) {
        let section = section(cell);
        if section.len() > room {
            left_out += 1;
            continue;
        }
        room -= section.len();
        page.push_str(&section);
    }
    if left_out > 0 {
        _ = write!(
            page,
            "\n{} left out here for length; the other reports have them all.\n",
            human::count(left_out, "failure")
        );
    }
    if page.len() + table.len() + ending.len() <= LIMIT + 1024 {
        page.push_str(&table);
    }
    page.push_str(&ending);
    out.write_all(page.as_bytes())
}

fn symbol(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "✅",
        Verdict::Skipped => "⬜",
        Verdict::Inconclusive => "❔",
        Verdict::Error => "💥",
        Verdict::Fail => "❌",
    }
}

fn symbol_of_run(report: &RunReport) -> &'static str {
    match run_word(report) {
        "pass" => "✅",
        "FAIL" => "❌",
        "error" => "💥",
        "nothing verified" => "⬜",
        _ => "❔",
    }
}

fn section(cell: &Cell) -> String {
    let mut section = format!(
        "\n### {} {} {}\n\n**{}**\n",
        symbol(cell.verdict),
        verdict_word(cell.verdict),
        code(&cell.name()),
        text(&headline(cell))
    );
    let promises: Vec<String> = broken(cell)
        .map(|promise| {
            let line = promise.line.unwrap_or(cell.source.line);
            let place = code(&format!("{}:{line}", cell.source.file));
            format!("- {} ({place}): {}\n", code(&promise.name), text(&sentence_of(promise)))
        })
        .collect();
    if !promises.is_empty() {
        section.push('\n');
        section.push_str(&promises.concat());
    }
    if let Some(error) = &cell.error {
        let said: Vec<&str> = details(error).collect();
        if !said.is_empty() {
            _ = write!(section, "\n{}\n", block("text", &said.join("\n")));
        }
        _ = write!(section, "\n{}\n", text(&error.help));
    }
    if cell.verdict == Verdict::Fail && !cell.why.is_empty() {
        _ = write!(section, "\nWhy it matters: {}\n", text(&cell.why));
    }
    _ = write!(section, "\n{}\n", block("sh", &cell.replay));
    if let Some(timeline) = TextTimeline::lay_out(cell, 120, 60) {
        let timeline = block("text", &timeline.to_string());
        _ = write!(
            section,
            "\n<details><summary>What happened, in order</summary>\n\n{timeline}\n\n</details>\n"
        );
    }
    if !cell.curl.is_empty() {
        let curl = block("sh", &cell.curl.join("\n"));
        _ = write!(section, "\n<details><summary>The requests as curl</summary>\n\n{curl}\n\n</details>\n");
    }
    section
}

fn table(report: &RunReport) -> String {
    if report.cells.is_empty() {
        return String::new();
    }
    let green = report.cells.iter().all(|cell| cell.verdict == Verdict::Pass);
    let mut table = format!(
        "\n<details{}><summary>Every cell</summary>\n\n| | cell | gate | what was seen, or why not | time |\n",
        if green { "" } else { " open" }
    );
    table.push_str("|---|---|---|---|--:|\n");
    for cell in &report.cells {
        let flaky = if cell.flaky { " flaky" } else { "" };
        _ = writeln!(
            table,
            "| {} {}{flaky} | {} | {} | {} | {} |",
            symbol(cell.verdict),
            verdict_word(cell.verdict),
            code(&cell.name()),
            text(cell.gate.as_deref().unwrap_or("")),
            text(&headline(cell)),
            if cell.duration_us == 0 { String::new() } else { human::duration(cell.duration_us) }
        );
    }
    table.push_str("\n</details>\n");
    table
}

fn ending(report: &RunReport, tally: &Tally) -> String {
    let mut ending = String::new();
    let slow: Vec<String> = slowest(report, 3)
        .iter()
        .map(|cell| format!("{} {}", code(&cell.name()), human::duration(cell.duration_us)))
        .collect();
    if !slow.is_empty() {
        _ = write!(ending, "\nSlowest: {}.", slow.join(", "));
    }
    if let Some(gates) = tally.gate_words() {
        _ = write!(ending, " Gates: {}.", text(&gates));
    }
    if let Some(sweeps) = tally.sweeps {
        _ = write!(ending, " Sweeps: {}.", text(&sweeps.words()));
    }
    _ = write!(
        ending,
        "\n\n<sub>onejob {}, run {}</sub>\n",
        text(&report.tool_version),
        code(&report.run_id)
    );
    ending
}
