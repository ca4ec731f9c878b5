//! The picture of a timeline as SVG.

use std::fmt::Write as _;

use super::lanes::{GAP, Item, LEFT, Picture, RIGHT, Row, Side, TOP, WIDTH};
use crate::{
    model::Mark,
    text::{lane_word, mark_word, plain},
};

/// The picture as an `svg` element, named by its `title` and described by the table that follows it in the page.
///
/// Nothing is said by colour alone: each mark has a shape of its own and its word beside it. A script that zooms moves
/// whatever is translated.
pub(super) fn draw(picture: &Picture<'_>, id: &str, name: &str, evidence: impl Fn(u64) -> bool) -> String {
    let mut svg = String::with_capacity(4096);
    let height = picture.height;
    // A String takes whatever is written to it, so the results of `write!` are dropped.
    _ = write!(
        svg,
        "<svg class=\"tl\" role=\"img\" aria-labelledby=\"{id}-t\" width=\"{WIDTH}\" height=\"{h}\" viewBox=\"0 0 {WIDTH} {h}\" \
         data-left=\"{LEFT}\" data-right=\"{RIGHT}\"><title id=\"{id}-t\">{}</title>",
        escaped(name),
        h = number(height)
    );
    for band in &picture.lanes {
        let word = lane_word(band.lane);
        _ = write!(
            svg,
            "<g class=\"l {word}\"><rect class=\"b\" y=\"{}\" width=\"{WIDTH}\" height=\"{}\" rx=\"4\"/><text class=\"n\" x=\"10\" y=\"{}\">{word}</text></g>",
            number(band.top),
            number(band.height),
            number(band.top + 16.0)
        );
    }
    axis(picture, &mut svg);
    for band in &picture.lanes {
        _ = write!(svg, "<g class=\"{}\">", lane_word(band.lane));
        for row in &band.rows {
            draw_row(row, &evidence, &mut svg);
        }
        svg.push_str("</g>");
    }
    svg.push_str("</svg>");
    svg
}

fn axis(picture: &Picture<'_>, svg: &mut String) {
    let (bottom, base) = (number(picture.height - GAP), TOP - 8.0);
    _ = write!(svg, "<text class=\"u\" x=\"{}\" y=\"20\">ms</text>", LEFT - 34.0);
    _ = write!(
        svg,
        "<g class=\"t\" transform=\"translate({LEFT} 0)\"><rect y=\"{base}\" width=\"{w}\" height=\"1\"/></g>",
        w = RIGHT - LEFT
    );
    for tick in &picture.ticks {
        _ = write!(
            svg,
            "<g class=\"t\" transform=\"translate({x} 0)\"><path d=\"M0 {base}V{bottom}\"/><text y=\"20\" text-anchor=\"middle\">{}</text></g>",
            escaped(&tick.text),
            x = number(tick.x),
        );
    }
    for gap in &picture.breaks {
        _ = write!(
            svg,
            "<g class=\"k\" transform=\"translate({x} 0)\"><title>{}</title><rect x=\"-4\" y=\"{}\" width=\"8\" height=\"8\"/><path d=\"M-6 {d}l4 -9M2 {d}l4 -9\"/></g>",
            escaped(&gap.text),
            base - 4.0,
            x = number(gap.x),
            d = base + 5.0
        );
    }
    // What decided, through all lanes: who came before and who came after shows at a glance.
    let decided = picture.lanes.iter().flat_map(|band| &band.rows).flat_map(|row| &row.items);
    for item in decided.filter(|item| matches!(item.moment.mark, Mark::Won | Mark::Broke)) {
        let class = mark_class(item.moment.mark);
        _ = write!(
            svg,
            "<g class=\"v {class}\" transform=\"translate({x} 0)\"><path d=\"M0 {top}V{bottom}\"/></g>",
            x = number(item.x + item.width),
            top = base
        );
    }
}

fn draw_row(row: &Row<'_>, evidence: &impl Fn(u64) -> bool, svg: &mut String) {
    if let Some(who) = row.who {
        _ = write!(
            svg,
            "<text class=\"w\" x=\"82\" y=\"{}\">{}</text>",
            number(row.middle + 4.0),
            escaped(&plain::fit(&plain::one_line(who), 14))
        );
    }
    for item in &row.items {
        draw_item(item, row.middle, evidence(item.moment.id), svg);
    }
}

fn draw_item(item: &Item<'_>, middle: f64, evidence: bool, svg: &mut String) {
    let moment = item.moment;
    let class = mark_class(moment.mark);
    let width = number(item.width);
    _ = write!(
        svg,
        "<g class=\"m {class}{}\" data-i=\"{}\" transform=\"translate({} {})\">",
        if evidence { " ev" } else { "" },
        moment.id,
        number(item.x),
        number(middle)
    );
    if item.width > 0.0 {
        _ = write!(svg, "<rect y=\"-5\" width=\"{width}\" height=\"10\" rx=\"2\"/>");
    }
    _ = write!(svg, "<g class=\"e\" transform=\"translate({width} 0)\">");
    if moment.mark != Mark::Plain || item.width <= 0.0 {
        _ = write!(svg, "<use href=\"#s-{class}\" x=\"-7\" y=\"-7\" width=\"14\" height=\"14\"/>");
    }
    let Some(label) = &item.label else {
        svg.push_str("</g></g>");
        return;
    };
    let word = mark_word(moment.mark).map(|word| format!("<tspan>{word}</tspan> ")).unwrap_or_default();
    let text = format!("{word}{}", escaped(&label.text));
    match label.side {
        Side::Right => _ = write!(svg, "<text x=\"11\" y=\"4\">{text}</text></g></g>"),
        Side::Inside => _ = write!(svg, "</g><text class=\"in\" x=\"6\" y=\"4\">{text}</text></g>"),
        Side::Left => _ = write!(svg, "</g><text x=\"-11\" y=\"4\" text-anchor=\"end\">{text}</text></g>"),
    }
}

pub(super) fn mark_class(mark: Mark) -> &'static str {
    match mark {
        Mark::Plain => "plain",
        Mark::Won => "won",
        Mark::Discarded => "discarded",
        Mark::Refused => "refused",
        Mark::Unknown => "unknown",
        Mark::Effect => "effect",
        Mark::Broke => "broke",
    }
}

/// Text for HTML and SVG, in elements and in quoted attributes.
pub(crate) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            _ => escaped.push(c),
        }
    }
    escaped
}

/// A number with one decimal at most: a tenth of a pixel can't be seen, and a page of 500 cells has many numbers.
fn number(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or_else(|| text.clone(), ToOwned::to_owned)
}
