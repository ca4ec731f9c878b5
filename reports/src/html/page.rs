use std::{
    io::{self, Write},
    sync::LazyLock,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use minijinja::{Environment, Value, context, syntax::SyntaxConfig, value::Serde};
use sha2::{Digest, Sha256};

use super::{budget, draw::escaped, view};
use crate::{model::RunReport, text::human};

const STYLE: &str = include_str!("assets/style.css");
const SCRIPT: &str = include_str!("assets/script.js");
const PAGE: &str = include_str!("assets/page.html");
const CELL: &str = include_str!("assets/cell.html");

/// Stands in a cell's markup where its timeline goes.
const TIMELINE: &str = "<!--timeline-->";

/// Why a page could not be written.
#[derive(Debug, thiserror::Error)]
pub enum HtmlError {
    /// The writer failed.
    #[error("the HTML report can't be written: {0}")]
    Io(#[from] io::Error),
    /// A template of onejob's own is at fault.
    #[error("the HTML report can't be rendered, which is a bug in onejob: {0:#}")]
    Template(#[from] minijinja::Error),
}

static TEMPLATES: LazyLock<Result<Environment<'static>, String>> = LazyLock::new(|| {
    let mut environment = Environment::new();
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    environment.set_syntax(syntax.map_err(|error| format!("{error:#}"))?);
    environment.add_filter("prose", |text: &str| Value::from_safe_string(prose(text)));
    // Both names end in .html, so that everything is escaped that isn't marked as safe.
    let added = environment
        .add_template("page.html", PAGE)
        .and_then(|()| environment.add_template("cell.html", CELL))
        .map_err(|error| format!("{error:#}"));
    added.map(|()| environment)
});

/// Writes the report as one HTML file that loads nothing.
///
/// The page forbids itself every connection and every script and style but its own (a content security policy with
/// their hashes): what a target answered stays text even if an escape were forgotten.
pub fn render(report: &RunReport, out: &mut dyn Write) -> Result<(), HtmlError> {
    let templates = TEMPLATES
        .as_ref()
        .map_err(|error| minijinja::Error::new(minijinja::ErrorKind::SyntaxError, error.clone()))?;
    let ids = view::ids(report);
    let template = templates.get_template("cell.html")?;
    let mut cells = Vec::with_capacity(report.cells.len());
    for (cell, id) in report.cells.iter().zip(&ids) {
        cells.push(template.render(context! { cell => Serde(view::cell(cell, id)) })?);
    }
    let page = view::page(report, &ids);
    let used =
        cells.iter().map(String::len).sum::<usize>() + STYLE.len() + SCRIPT.len() + overview_size(&page);
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
             so has a report of fewer cells.",
            human::count(timelines.shortened, "cell")
        )
    });
    let html = templates.get_template("page.html")?.render(context! {
        page => Serde(page),
        cells => Value::from_safe_string(body),
        shortened => shortened,
        policy => policy(),
        style => Value::from_safe_string(STYLE.to_owned()),
        script => Value::from_safe_string(SCRIPT.to_owned()),
    })?;
    Ok(out.write_all(html.as_bytes())?)
}

/// Escaped text in which what stands between two backticks is code, as the writers of messages mean it.
fn prose(text: &str) -> String {
    let mut html = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some((before, inside, after)) = code_span(rest) {
        html.push_str(&escaped(before));
        html.push_str("<code>");
        html.push_str(&escaped(inside));
        html.push_str("</code>");
        rest = after;
    }
    html.push_str(&escaped(rest));
    html
}

fn code_span(text: &str) -> Option<(&str, &str, &str)> {
    let (before, after) = text.split_once('`')?;
    let (inside, after) = after.split_once('`')?;
    Some((before, inside, after))
}

/// About what the parts of the page before the cells take.
fn overview_size(page: &view::PageView) -> usize {
    let squares: usize =
        page.matrix.rows.iter().map(|row| row.outcomes.len() * 60 + row.cells.len() * 130 + 300).sum();
    let troubles: usize =
        page.troubles.iter().take(40).map(|t| t.cell.headline.len() + t.cell.replay.len() + 2_000).sum();
    squares + troubles + 16_000
}

fn policy() -> String {
    let hash = |text: &str| STANDARD.encode(Sha256::digest(text));
    format!(
        "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; base-uri 'none'; form-action 'none'",
        hash(STYLE),
        hash(SCRIPT)
    )
}
