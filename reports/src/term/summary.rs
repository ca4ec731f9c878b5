use super::{
    Volume,
    paint::{Paint, Tone},
};
use crate::{
    headline::headline,
    model::{RunReport, Verdict},
    tally::{Tally, run_word, shortfall, slowest},
    text::{human, plain},
};

/// The end of the report; the verdict on the run is its last line.
pub(super) fn lines(report: &RunReport, width: usize, volume: Volume, paint: Paint) -> Vec<String> {
    let tally = Tally::of(report);
    let mut lines = Vec::new();
    let broken: Vec<_> = report
        .cells
        .iter()
        .filter(|cell| !matches!(cell.verdict, Verdict::Pass | Verdict::Skipped))
        .collect();
    // With one or two screens above, the reader has just seen them.
    if broken.len() > 2 {
        lines.push(String::new());
        for cell in &broken {
            let text = format!("{}: {}", cell.name(), headline(cell));
            let text = plain::fit(&plain::one_line(&text), width.saturating_sub(2)).into_owned();
            lines.push(format!("  {}", paint.text(cell.verdict.into(), &text)));
            lines.push(format!("    {}", plain::one_line(&cell.replay)));
        }
    }
    let mut facts: Vec<(&str, String)> = Vec::new();
    if volume > Volume::Quiet {
        facts.extend(tally.gate_words().map(|gates| ("gates", gates)));
        facts.extend(tally.sweeps.map(|sweeps| ("sweeps", sweeps.words())));
        let slow: Vec<String> = slowest(report, 3)
            .iter()
            .map(|cell| format!("{} {}", cell.name(), human::duration(cell.duration_us)))
            .collect();
        if !slow.is_empty() {
            facts.push(("slowest", slow.join(" · ")));
            facts.push((
                "time",
                format!(
                    "{} in cells, {} of it set-up and tear-down",
                    human::duration(tally.spent_us),
                    human::duration(tally.setup_us)
                ),
            ));
        }
        if !report.profile.widens.is_empty() {
            facts.push((
                "widened",
                format!("by profile {}: {}", report.profile.name, report.profile.widens.join("; ")),
            ));
        }
        if !report.defects.is_empty() {
            facts.push(("defects", report.defects.join(", ")));
        }
    }
    if tally.skipped > 0 {
        facts.push(("skipped", skipped_words(report, volume)));
    }
    facts.extend(shortfall(report).map(|text| ("missing", text)));
    if !facts.is_empty() {
        lines.push(String::new());
    }
    for (label, fact) in facts {
        let options = plain::wrapping(width).initial_indent("").subsequent_indent("         ");
        let text = format!("{label:<7}  {}", plain::one_line(&fact));
        for (index, line) in textwrap::wrap(&text, options).into_iter().enumerate() {
            let (label, rest) = line.split_at_checked(if index == 0 { 7 } else { 0 }).unwrap_or(("", &line));
            lines.push(format!("{}{rest}", paint.text(Tone::Faint, label)));
        }
    }
    lines.extend(verdict_of_run(report, &tally, width, paint));
    lines
}

fn verdict_of_run(report: &RunReport, tally: &Tally, width: usize, paint: Paint) -> Vec<String> {
    let word = run_word(report);
    let tone = match word {
        "pass" => Tone::Good,
        "FAIL" | "error" => Tone::Bad,
        _ => Tone::Doubt,
    };
    let padded = plain::pad(word, word.len().max(7));
    let text = format!("{} in {} · seed {}", tally.words(), human::duration(report.duration_us), report.seed);
    let options = plain::wrapping(width.saturating_sub(padded.len() + 2));
    textwrap::wrap(&text, options)
        .into_iter()
        .enumerate()
        .map(|(index, line)| match index {
            0 => format!("{}  {line}", paint.text(tone, &padded)),
            _ => format!("{:padding$}  {line}", "", padding = padded.len()),
        })
        .collect()
}

/// What was not verified and why, each reason once.
fn skipped_words(report: &RunReport, volume: Volume) -> String {
    let mut reasons: Vec<(String, Vec<String>)> = Vec::new();
    for cell in report.cells.iter().filter(|cell| cell.verdict == Verdict::Skipped) {
        let reason = headline(cell);
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, names)) => names.push(cell.name()),
            None => reasons.push((reason, vec![cell.name()])),
        }
    }
    let said: Vec<String> = reasons
        .into_iter()
        .map(|(reason, names)| {
            if names.len() <= 2 || volume == Volume::Verbose {
                format!("{} not verified: {reason}", names.join(", "))
            } else {
                format!("{} not verified: {reason}", human::count(names.len(), "cell"))
            }
        })
        .collect();
    said.join("; ")
}
