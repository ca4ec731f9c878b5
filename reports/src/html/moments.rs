//! A timeline in the page: the picture with its table, or a short list where the page would grow too long.

use std::fmt::Write as _;

use super::{
    draw::{draw, escaped, mark_class},
    lanes::lay_out,
};
use crate::{
    model::{Cell, Moment, Verdict},
    text::{human, lane_word, mark_word, plain},
    timeline::{Picked, Scale, evidence, pick, pick_folded},
};

/// A picture of more moments than this can't be read any more; those that tell most are drawn.
const DRAWN: usize = 160;

/// Moments of a short list.
const LISTED: usize = 8;

/// The picture and, for screen readers and for whoever wants exact figures, the same as a table.
pub(super) fn full(cell: &Cell, id: &str) -> String {
    let picked = pick(cell, DRAWN);
    let moments: Vec<&Moment> = picked
        .iter()
        .filter_map(|picked| match picked {
            Picked::Moment(moment, _) => Some(*moment),
            Picked::Omitted(_) => None,
        })
        .collect();
    if moments.is_empty() {
        return String::new();
    }
    let shown = evidence(cell);
    let scale = Scale::of(&moments);
    let name = format!(
        "Timeline of {}: {} in {}. The same stands in the table below.",
        cell.name(),
        human::count(moments.len(), "moment"),
        human::duration(scale.end())
    );
    let picture =
        draw(&lay_out(&moments, &scale), id, &plain::one_line(&name), |moment| shown.contains(&moment));
    let mut html = format!(
        "<figure><div class=\"pan\" role=\"group\" tabindex=\"0\" aria-label=\"Timeline, scrolls sideways\">{picture}</div>"
    );
    // A String takes whatever is written to it, so the results of `write!` are dropped.
    html.push_str("<figcaption>");
    html.push_str(&caption(cell, &scale, &picked, !shown.is_empty()));
    html.push_str("</figcaption></figure>");
    html.push_str("<details class=\"alt\"><summary>The timeline as a table</summary><table><thead><tr><th scope=\"col\">ms</th><th scope=\"col\">lane</th><th scope=\"col\">who</th><th scope=\"col\">what</th><th scope=\"col\">took</th><th scope=\"col\">mark</th></tr></thead><tbody>");
    for picked in &picked {
        match picked {
            Picked::Moment(moment, _) => table_row(moment, shown.contains(&moment.id), &mut html),
            Picked::Omitted(n) => {
                _ = write!(html, "<tr><td colspan=\"6\">{} not shown</td></tr>", human::count(*n, "moment"));
            }
        }
    }
    html.push_str("</tbody></table></details>");
    html
}

fn caption(cell: &Cell, scale: &Scale, picked: &[Picked<'_>], has_evidence: bool) -> String {
    let mut said: Vec<String> = Vec::new();
    if !scale.breaks().is_empty() {
        let gaps: Vec<String> = scale.breaks().iter().map(|gap| human::duration(gap.us)).collect();
        let gaps = if gaps.len() > 2 { format!("{} stretches are", gaps.len()) } else { gaps.join(" and ") };
        said.push(format!(
            "The order is exact, the distances are not: {gaps} drawn shorter where the axis is broken."
        ));
    }
    if has_evidence {
        said.push("Bold is what shows the broken promise.".to_owned());
    } else if cell.verdict == Verdict::Fail {
        said.push(
            "Something is missing that should be here, so no single moment shows the broken promise."
                .to_owned(),
        );
    }
    let omitted: usize = picked
        .iter()
        .map(|picked| match picked {
            Picked::Moment(..) => 0,
            Picked::Omitted(n) => *n,
        })
        .sum();
    if omitted > 0 {
        said.push(format!("{} not drawn; the JSON report has them.", human::count(omitted, "moment")));
    }
    if cell.moments_left_out > 0 {
        said.push(format!("After these came {}.", left_out(cell)));
    }
    escaped(&said.join(" "))
}

/// What no report holds.
fn left_out(cell: &Cell) -> String {
    let count = usize::try_from(cell.moments_left_out).unwrap_or(usize::MAX);
    format!("{} that the stored history has", human::count(count, "more moment"))
}

fn table_row(moment: &Moment, evidence: bool, html: &mut String) {
    let took =
        moment.until_us.map(|until| human::duration(until.saturating_sub(moment.at_us))).unwrap_or_default();
    let word = match (mark_word(moment.mark), evidence) {
        (Some(word), true) => format!("{word}, evidence"),
        (Some(word), false) => word.to_owned(),
        (None, true) => "evidence".to_owned(),
        (None, false) => String::new(),
    };
    _ = write!(
        html,
        "<tr class=\"{}\" data-i=\"{}\"><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{took}</td><td>{word}</td></tr>",
        mark_class(moment.mark),
        moment.id,
        human::millis(moment.at_us),
        lane_word(moment.lane),
        escaped(&plain::one_line(&moment.who)),
        escaped(&plain::one_line(&moment.what)),
    );
}

/// The moments that tell most, as a list.
pub(super) fn short(cell: &Cell) -> String {
    if cell.timeline.is_empty() {
        return String::new();
    }
    let mut html = String::from("<ol class=\"short\">");
    for picked in pick_folded(cell, LISTED) {
        match picked {
            Picked::Moment(moment, times) => {
                let times = if times > 1 { format!(" ({times} times)") } else { String::new() };
                let word = mark_word(moment.mark).map(|word| format!(" <b>{word}</b>")).unwrap_or_default();
                _ = write!(
                    html,
                    "<li>{} {}: {}{times}{word}</li>",
                    human::millis(moment.at_us),
                    escaped(&plain::one_line(&moment.who)),
                    escaped(&plain::short_ids(&plain::one_line(&moment.what)))
                );
            }
            Picked::Omitted(n) => _ = write!(html, "<li>… {n} more</li>"),
        }
    }
    if cell.moments_left_out > 0 {
        _ = write!(html, "<li>… {}</li>", left_out(cell));
    }
    html.push_str("</ol>");
    html
}
