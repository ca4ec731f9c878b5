use super::paint::{Paint, Tone};
use crate::{
    headline::headline,
    model::{Cell, Outcome, Verdict},
    text::{human, outcome_word, plain, verdict_word},
};

/// The line of a cell: verdict, scenario, point of the matrix, how long it took; and, unless a screen with it follows,
/// what was seen or why not.
pub(super) fn line(cell: &Cell, width: usize, screen_follows: bool, paint: Paint) -> String {
    let word = plain::pad(verdict_word(cell.verdict), 12);
    let took = if cell.duration_us == 0 { String::new() } else { human::duration(cell.duration_us) };
    let room = width.saturating_sub(16 + plain::width(&took));
    let name = plain::fit(&plain::one_line(&cell.scenario), room).into_owned();
    let room = room.saturating_sub(plain::width(&name) + 2);
    let place = plain::fit(&plain::one_line(&point(cell)), room).into_owned();
    let room = room.saturating_sub(plain::width(&place) + 2);
    let said = if screen_follows || room < 12 { String::new() } else { said(cell) };
    let said = plain::fit(&plain::one_line(&said), room).into_owned();
    let mut line = format!("{}  {}", paint.text(cell.verdict.into(), &word), paint.text(Tone::Strong, &name));
    for (tone, piece) in [(Tone::Normal, place), (Tone::Faint, said), (Tone::Faint, took)] {
        if !piece.is_empty() {
            line.push_str("  ");
            line.push_str(&paint.text(tone, &piece));
        }
    }
    line
}

fn point(cell: &Cell) -> String {
    let mut point = cell.point();
    if let Some(gate) = cell.gate.as_ref().filter(|_| !cell.at.contains_key("gate")) {
        point = format!("{point} gate={gate}");
    }
    if cell.flaky {
        let repeats: Vec<&str> = cell.repeats.iter().map(|verdict| verdict_word(*verdict)).collect();
        point = format!("{point} FLAKY: {}", repeats.join(", "));
    }
    point.trim_start().to_owned()
}

fn said(cell: &Cell) -> String {
    let headline = headline(cell);
    if cell.verdict == Verdict::Pass && !headline.is_empty() {
        format!("witness: {headline}")
    } else {
        headline
    }
}

/// What `--verbose` adds: each promise and each witness on a line of its own.
pub(super) fn details(cell: &Cell, width: usize, paint: Paint) -> Vec<String> {
    let mut lines = Vec::new();
    for promise in &cell.promises {
        let tone = match promise.outcome {
            Outcome::Held => Tone::Good,
            Outcome::Broke => Tone::Bad,
            Outcome::Undecided => Tone::Doubt,
        };
        let text = format!("{}  {}", plain::one_line(&promise.name), plain::one_line(&promise.sentence));
        let text = plain::fit(text.trim_end(), width.saturating_sub(27)).into_owned();
        let word = plain::pad(outcome_word(promise.outcome), 9);
        lines.push(format!("              {}  {text}", paint.text(tone, &word)));
    }
    for witness in &cell.witnesses {
        let (tone, word) = if witness.seen { (Tone::Good, "seen     ") } else { (Tone::Doubt, "not seen ") };
        let text = format!("{}  {}", plain::one_line(&witness.name), plain::one_line(&witness.detail));
        let text = plain::fit(text.trim_end(), width.saturating_sub(27)).into_owned();
        lines.push(format!("              {}  {text}", paint.text(tone, word)));
    }
    lines
}
