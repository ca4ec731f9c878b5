use std::{fmt::Write as _, io::Write};

use minijinja::{Value, context, value::Serde};
use serde::Serialize;

use super::{Block, Compare, Grid, Plot, Sheet, Table, axis::figure, compare::Side, plot::draw};
use crate::{
    html::{HtmlError, Page, escaped, prose, render_page},
    text::plain,
};

#[derive(Serialize)]
struct View {
    title: String,
    class: &'static str,
    symbol: &'static str,
    word: String,
    summary: String,
    facts: Vec<(String, String)>,
}

/// Writes the sheet as one HTML file that loads nothing, in the look of the run's report.
pub fn html(sheet: &Sheet, out: &mut dyn Write) -> Result<(), HtmlError> {
    let mut body = String::new();
    let mut ids = 0;
    for (index, section) in sheet.sections.iter().enumerate() {
        // A String takes whatever is written to it, so the results of `write!` are dropped.
        _ = write!(
            body,
            "<section aria-labelledby=\"h{index}\"><h2 id=\"h{index}\">{}</h2>",
            prose(&plain::one_line(&section.heading))
        );
        section.blocks.iter().for_each(|one| block(one, &mut ids, &mut body));
        body.push_str("</section>");
    }
    let shown = |text: &str| plain::one_line(text).into_owned();
    let view = View {
        title: shown(&sheet.title),
        class: sheet.tone.class(),
        symbol: sheet.tone.symbol(),
        word: shown(&sheet.word),
        summary: shown(&sheet.summary),
        facts: sheet.facts.iter().map(|fact| (shown(&fact.name), shown(&fact.value))).collect(),
    };
    let html =
        render_page(Page::Sheet, context! { page => Serde(view), body => Value::from_safe_string(body) })?;
    Ok(out.write_all(html.as_bytes())?)
}

fn block(block: &Block, ids: &mut usize, html: &mut String) {
    match block {
        Block::Prose(text) => _ = write!(html, "<p class=\"text\">{}</p>", prose(&plain::one_line(text))),
        Block::Warning(text) => {
            _ = write!(html, "<p class=\"note warn\" role=\"note\">{}</p>", prose(&plain::one_line(text)));
        }
        Block::Command(text) => _ = write!(html, "<pre class=\"cmd\">{}</pre>", escaped(&plain::lines(text))),
        Block::Table(table) => self::table(table, ids, html),
        Block::Grid(grid) => self::grid(grid, ids, html),
        Block::Plot(plot) => self::plot(plot, ids, html),
        Block::Compare(compare) => self::compare(compare, html),
        Block::Fold { summary, blocks } => {
            _ = write!(
                html,
                "<details class=\"alt\"><summary>{}</summary>",
                prose(&plain::one_line(summary))
            );
            for inner in blocks {
                self::block(inner, ids, html);
            }
            html.push_str("</details>");
        }
    }
}

fn next(ids: &mut usize) -> String {
    *ids += 1;
    format!("b{ids}")
}

/// A frame that scrolls sideways where its table is too wide, named by the caption.
fn framed(caption: &str, class: &str, ids: &mut usize, html: &mut String, inside: impl FnOnce(&mut String)) {
    let id = next(ids);
    _ = write!(
        html,
        "<div class=\"wide\" role=\"group\" tabindex=\"0\" aria-labelledby=\"{id}\"><table class=\"{class}\"><caption id=\"{id}\">{}</caption>",
        prose(&plain::one_line(caption))
    );
    inside(html);
    html.push_str("</table></div>");
}

fn table(table: &Table, ids: &mut usize, html: &mut String) {
    framed(&table.caption, "data", ids, html, |html| {
        html.push_str("<thead><tr>");
        for name in &table.head {
            _ = write!(html, "<th scope=\"col\">{}</th>", prose(&plain::one_line(name)));
        }
        html.push_str("</tr></thead><tbody>");
        for row in &table.rows {
            html.push_str("<tr>");
            for (index, entry) in row.iter().enumerate() {
                let text = prose(&plain::one_line(&entry.text));
                let class = entry.tone.class();
                let symbol =
                    if class == "none" { String::new() } else { format!("{} ", entry.tone.symbol()) };
                _ = if index == 0 {
                    write!(html, "<th scope=\"row\">{symbol}{text}</th>")
                } else {
                    write!(html, "<td class=\"{class}\">{symbol}{text}</td>")
                };
            }
            html.push_str("</tr>");
        }
        html.push_str("</tbody>");
    });
}

fn grid(grid: &Grid, ids: &mut usize, html: &mut String) {
    framed(&grid.caption, "matrix", ids, html, |html| {
        _ = write!(html, "<thead><tr><th scope=\"col\">{}</th>", escaped(&plain::one_line(&grid.row_title)));
        for column in &grid.columns {
            _ = write!(
                html,
                "<th scope=\"col\" class=\"up\"><span>{}</span></th>",
                escaped(&plain::one_line(column))
            );
        }
        html.push_str("</tr></thead><tbody>");
        for row in &grid.rows {
            _ = write!(
                html,
                "<tr><th scope=\"row\" title=\"{}\"><span class=\"sq {}\">{}</span> {}</th>",
                escaped(&plain::one_line(&row.note)),
                row.tone.class(),
                row.tone.symbol(),
                escaped(&plain::one_line(&row.name))
            );
            for square in &row.squares {
                let class = if square.word.is_empty() { "none" } else { square.tone.class() };
                _ = write!(
                    html,
                    "<td class=\"sq {class}\" title=\"{}\">{}<i>{}</i></td>",
                    escaped(&plain::one_line(&square.detail)),
                    square.symbol(),
                    escaped(&plain::one_line(if square.word.is_empty() {
                        "not tried"
                    } else {
                        &square.word
                    }))
                );
            }
            html.push_str("</tr>");
        }
        html.push_str("</tbody>");
    });
    grid_in_words(grid, html);
}

/// What a pointer finds by resting on a square, for everybody else.
fn grid_in_words(grid: &Grid, html: &mut String) {
    html.push_str("<details class=\"alt\"><summary>The same in words</summary><dl class=\"words\">");
    for row in &grid.rows {
        _ = write!(
            html,
            "<div><dt>{}</dt><dd>{}<ul>",
            escaped(&plain::one_line(&row.name)),
            prose(&plain::one_line(&row.note))
        );
        for (column, square) in
            grid.columns.iter().zip(&row.squares).filter(|(_, square)| !square.word.is_empty())
        {
            let detail =
                if square.detail.is_empty() { String::new() } else { format!(": {}", square.detail) };
            _ = write!(
                html,
                "<li>{} {} {}{}</li>",
                square.symbol(),
                escaped(&plain::one_line(column)),
                escaped(&plain::one_line(&square.word)),
                prose(&plain::one_line(&detail))
            );
        }
        html.push_str("</ul></dd></div>");
    }
    html.push_str("</dl></details>");
}

fn plot(plot: &Plot, ids: &mut usize, html: &mut String) {
    let id = next(ids);
    _ = write!(
        html,
        "<figure class=\"plotted\"><div class=\"pan\" role=\"group\" tabindex=\"0\" aria-label=\"Plot, scrolls sideways\">{}</div><figcaption>{}</figcaption></figure>",
        draw(plot, &id),
        prose(&plain::one_line(&plot.caption))
    );
    html.push_str("<details class=\"alt\"><summary>The figures</summary>");
    let mut figures = Table::new(
        format!("{} by {}", plot.y.label, plot.x.label),
        ["line", plot.x.label.as_str(), plot.y.label.as_str(), "range"],
    );
    for series in &plot.series {
        for point in &series.points {
            let range = point.range.map(|(low, high)| format!("{} to {}", figure(low), figure(high)));
            figures = figures.row([
                series.name.as_str().into(),
                figure(point.x).into(),
                figure(point.y).into(),
                range.unwrap_or_default().into(),
            ]);
        }
    }
    table(&figures, ids, html);
    html.push_str("</details>");
}

fn compare(compare: &Compare, html: &mut String) {
    let lines = compare.lines();
    _ = write!(
        html,
        "<div class=\"diff\"><p><b>-</b> {} <b>+</b> {}</p>",
        prose(&plain::one_line(&compare.left_title)),
        prose(&plain::one_line(&compare.right_title))
    );
    if lines.is_empty() {
        html.push_str("<p>No difference.</p></div>");
        return;
    }
    html.push_str("<pre tabindex=\"0\">");
    for (side, line) in lines {
        let text = format!("{} {}\n", side.sign(), plain::lines(&line));
        let text = escaped(&text);
        match side {
            Side::Left => _ = write!(html, "<del>{text}</del>"),
            Side::Right => _ = write!(html, "<ins>{text}</ins>"),
            Side::Both | Side::Gap => html.push_str(&text),
        }
    }
    html.push_str("</pre></div>");
}
