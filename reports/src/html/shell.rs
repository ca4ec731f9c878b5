//! What every page has in common: the templates, the look, and the policy that forbids the page to load anything.

use std::{io, sync::LazyLock};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use minijinja::{Environment, Value, context, syntax::SyntaxConfig};
use sha2::{Digest, Sha256};

use super::draw::escaped;

const STYLE: &str = include_str!("assets/style.css");
const RUN_SCRIPT: &str = concat!(include_str!("assets/common.js"), include_str!("assets/script.js"));
const SHEET_SCRIPT: &str = concat!(include_str!("assets/common.js"), include_str!("assets/sheet.js"));

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

/// The kinds of page.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Page {
    /// The report of a run.
    Run,
    /// Anything else.
    Sheet,
}

impl Page {
    fn template(self) -> &'static str {
        match self {
            Self::Run => "page.html",
            Self::Sheet => "sheet.html",
        }
    }

    fn script(self) -> &'static str {
        match self {
            Self::Run => RUN_SCRIPT,
            Self::Sheet => SHEET_SCRIPT,
        }
    }

    /// What style and script add to a page, in bytes.
    pub(super) fn weight(self) -> usize {
        STYLE.len() + self.script().len()
    }
}

static TEMPLATES: LazyLock<Result<Environment<'static>, String>> = LazyLock::new(|| {
    let mut environment = Environment::new();
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    environment.set_syntax(syntax.map_err(|error| format!("{error:#}"))?);
    environment.add_filter("prose", |text: &str| Value::from_safe_string(prose(text)));
    // All names end in .html, so that everything is escaped that isn't marked as safe.
    let templates = [
        ("base.html", include_str!("assets/base.html")),
        ("page.html", include_str!("assets/page.html")),
        ("sheet.html", include_str!("assets/sheet.html")),
        ("cell.html", include_str!("assets/cell.html")),
    ];
    for (name, text) in templates {
        environment.add_template(name, text).map_err(|error| format!("{error:#}"))?;
    }
    Ok(environment)
});

pub(super) fn templates() -> Result<&'static Environment<'static>, HtmlError> {
    let broken = |error: &String| minijinja::Error::new(minijinja::ErrorKind::SyntaxError, error.clone());
    Ok(TEMPLATES.as_ref().map_err(broken)?)
}

/// Renders a page with what it needs beside its own look.
///
/// The page forbids itself every connection and every script and style but its own (a content security policy with
/// their hashes): what a target answered stays text even if an escape were forgotten.
pub(crate) fn render_page(page: Page, given: Value) -> Result<String, HtmlError> {
    let script = page.script();
    let context = context! {
        policy => policy(script),
        style => Value::from_safe_string(STYLE.to_owned()),
        script => Value::from_safe_string(script.to_owned()),
        ..given
    };
    Ok(templates()?.get_template(page.template())?.render(context)?)
}

fn policy(script: &str) -> String {
    let hash = |text: &str| STANDARD.encode(Sha256::digest(text));
    format!(
        "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; base-uri 'none'; form-action 'none'",
        hash(STYLE),
        hash(script)
    )
}

/// Escaped text in which what stands between two backticks is code, as the writers of messages mean it.
pub(crate) fn prose(text: &str) -> String {
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
