use std::io::Write;

use minijinja::{Value, context, value::Serde};

use super::{
    budget,
    shell::{HtmlError, Page, render_page, templates},
    view, view_cell,
};
use crate::{model::RunReport, text::human};

/// In a run of more cells than this, green ones are shown without what the scenario's file or the JSON report also tells.
const MANY: usize = 200;

/// Stands in a cell's markup where its timeline goes.
const TIMELINE: &str = "<!--timeline-->";

/// Writes the report as one HTML file that loads nothing.
pub fn render(report: &RunReport, out: &mut dyn Write) -> Result<(), HtmlError> {
    let ids = view::ids(report);
    let template = templates()?.get_template("cell.html")?;
    let mut cells = Vec::with_capacity(report.cells.len());
    for (cell, id) in report.cells.iter().zip(&ids) {
        let lean = report.cells.len() > MANY;
        cells.push(template.render(context! { cell => Serde(view_cell::cell(cell, id, lean)) })?);
    }
    let page = view::page(report, &ids);
    let used = cells.iter().map(String::len).sum::<usize>() + Page::Run.weight() + overview_size(&page);
    let timelines = budget::deal(report.cells.iter().zip(ids.iter().map(String::as_str)), used);
    let mut body = String::with_capacity(used);
    for (cell, timeline) in cells.iter().zip(&timelines.html) {
        let (before, after) = cell.split_once(TIMELINE).unwrap_or((cell, ""));
        body.push_str(before);
        body.push_str(timeline);
        body.push_str(after);
    }
    let shortened = (timelines.shortened > 0).then(|| {
        format!(
            "To keep this file small, the timelines of {} are shortened or left out. The JSON report has them whole, and \
             so has the report of a run of fewer cells.",
            human::count(timelines.shortened, "cell")
        )
    });
    let content = context! {
        page => Serde(page),
        cells => Value::from_safe_string(body),
        shortened => shortened,
    };
    Ok(out.write_all(render_page(Page::Run, content)?.as_bytes())?)
}

/// About what the parts of the page before the cells take.
fn overview_size(page: &view::PageView) -> usize {
    let squares: usize =
        page.matrix.rows.iter().map(|row| row.outcomes.len() * 45 + row.cells.len() * 170 + 250).sum();
    let troubles: usize =
        page.troubles.iter().take(40).map(|t| t.cell.headline.len() + t.cell.replay.len() + 2_000).sum();
    squares + troubles + 16_000
}
