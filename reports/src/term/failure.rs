use super::paint::{Paint, Tone};
use crate::{
    headline::{broken, details, first_broken, headline},
    model::{Cell, Promise, Verdict},
    text::plain,
    timeline::TextTimeline,
};

/// Lines of a timeline that leave room on one screen for what stands around it.
const ROWS: usize = 16;

/// Further broken promises that are told with their sentences; of more, the last line has the names.
const OTHERS: usize = 3;

/// The screen for a cell that isn't green: what broke in one sentence, what happened, how to see it again.
pub(super) fn screen(cell: &Cell, width: usize, all: bool, paint: Paint) -> Vec<String> {
    let mut lines = Vec::new();
    let tone = Tone::from(cell.verdict);
    for line in wrapped(&headline(cell), width, "  ", "  ") {
        lines.push(paint.text(tone, &line));
    }
    if cell.verdict == Verdict::Error {
        let said: Vec<&str> = cell.error.iter().flat_map(details).collect();
        // The end of what a program printed is where it says why it ended.
        let shown = if all { 0 } else { said.len().saturating_sub(ROWS) };
        let said = said[shown..]
            .iter()
            .map(|line| plain::fit(&plain::one_line(line), width.saturating_sub(2)).into_owned());
        lines.extend(said.map(|line| format!("  {}", paint.text(Tone::Faint, &line))));
    }
    if let Some(first) = first_broken(cell) {
        lines.extend(where_asked(cell, first, width, paint));
        let others: Vec<&Promise> = broken(cell).skip(1).collect();
        let told = if all || others.len() <= OTHERS { others.len() } else { OTHERS - 1 };
        for other in &others[..told] {
            let text = format!("also broken: {}: {}", other.name, other.sentence);
            lines.extend(wrapped(&text, width, "  ", "    "));
        }
        if told < others.len() {
            let names: Vec<&str> = others[told..].iter().map(|other| other.name.as_str()).collect();
            lines.extend(wrapped(&format!("also broken: {}", names.join(", ")), width, "  ", "    "));
        }
    }
    if let Some(timeline) =
        TextTimeline::lay_out(cell, width.saturating_sub(2), if all { usize::MAX } else { ROWS })
    {
        lines.push(String::new());
        lines.push(format!("  {}", paint.text(Tone::Faint, &timeline.heading)));
        for line in &timeline.lines {
            let tone = Tone::from(line.mark);
            let what = if line.evidence { paint.text(Tone::Strong, &line.what) } else { line.what.clone() };
            let text = format!(
                "  {}{}{}{what}",
                line.head,
                paint.text(tone, &line.bar),
                paint.text(tone, &line.word)
            );
            lines.push(text.trim_end().to_owned());
        }
        lines.extend(timeline.note.iter().map(|note| format!("  {}", paint.text(Tone::Faint, note))));
    }
    lines.push(String::new());
    if let Some(error) = &cell.error {
        if cell.verdict == Verdict::Fail {
            lines.extend(labelled("error", &format!("{}: {}", error.code, error.message), width, paint));
        }
        lines.extend(labelled("help", &error.help, width, paint));
        lines.extend(labelled("more", &format!("onejob explain {}", error.code), width, paint));
    }
    if cell.verdict == Verdict::Fail {
        lines.extend(labelled("why", &cell.why, width, paint));
    }
    // A command is never wrapped: it has to survive being copied.
    let replay = plain::one_line(&cell.replay);
    lines.push(format!("  {}{}", paint.text(Tone::Faint, "again  "), paint.text(Tone::Strong, &replay)));
    lines
}

fn where_asked(cell: &Cell, promise: &Promise, width: usize, paint: Paint) -> Vec<String> {
    let line = promise.line.unwrap_or(cell.source.line);
    let name = plain::one_line(&promise.name);
    let place = format!("{}:{line}", plain::one_line(&cell.source.file));
    let rounds = match promise.broken_rounds.as_slice() {
        [] => String::new(),
        [only] => format!("round {only} of {}", cell.rounds),
        [first, ..] => format!("{} of {} rounds, first in {first}", promise.broken_rounds.len(), cell.rounds),
    };
    let one_line = 2 + plain::width(&name) + 2 + plain::width(&place) + 2 + plain::width(&rounds) <= width;
    let linked = paint.file(&cell.source.file, &plain::fit(&place, width.saturating_sub(2)));
    if one_line {
        return vec![format!("  {name}  {linked}  {rounds}").trim_end().to_owned()];
    }
    let mut lines = vec![format!("  {}", plain::fit(&name, width.saturating_sub(2))), format!("  {linked}")];
    if !rounds.is_empty() {
        lines.push(format!("  {}", plain::fit(&rounds, width.saturating_sub(2))));
    }
    lines
}

fn labelled(label: &str, text: &str, width: usize, paint: Paint) -> Vec<String> {
    if text.is_empty() {
        return Vec::new();
    }
    let lines = wrapped(text, width, &format!("  {label:<5}  "), "         ");
    lines
        .into_iter()
        .enumerate()
        .map(|(index, line)| {
            if index > 0 {
                return line;
            }
            let (label, rest) = line.split_at_checked(9).unwrap_or((&line, ""));
            format!("{}{rest}", paint.text(Tone::Faint, label))
        })
        .collect()
}

fn wrapped(text: &str, width: usize, first: &str, later: &str) -> Vec<String> {
    let text = plain::one_line(text);
    let options = plain::wrapping(width).initial_indent(first).subsequent_indent(later);
    textwrap::wrap(&text, options).into_iter().map(std::borrow::Cow::into_owned).collect()
}
