//! The formats by name, and one way to render them all.

use std::{
    fmt,
    io::{self, Write},
    str::FromStr,
};

use crate::{
    annotations, html, json, junit, markdown,
    model::RunReport,
    sarif, tap,
    term::{self, TermOptions},
};

/// A format that a report can be written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// Text for people, 100 columns wide, without colours.
    Term,
    /// `JUnit` XML.
    Junit,
    /// One JSON document.
    Json,
    /// One JSON line a cell.
    Ndjson,
    /// A summary in GitHub's Markdown.
    Markdown,
    /// GitHub's workflow commands.
    Annotations,
    /// SARIF 2.1.0.
    Sarif,
    /// TAP version 14.
    Tap,
    /// One self-contained HTML file.
    Html,
}

/// A name that is none of a format.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` is no report format; there are {}", names())]
pub struct UnknownFormat {
    /// What was asked for.
    pub name: String,
}

/// Why a report could not be rendered.
#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    /// The writer failed.
    #[error("the report can't be written: {0}")]
    Io(#[from] io::Error),
    /// The `JUnit` writer failed.
    #[error(transparent)]
    Junit(#[from] junit::JunitError),
    /// The HTML writer failed.
    #[error(transparent)]
    Html(#[from] html::HtmlError),
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 9] = [
        Self::Term,
        Self::Junit,
        Self::Json,
        Self::Ndjson,
        Self::Markdown,
        Self::Annotations,
        Self::Sarif,
        Self::Tap,
        Self::Html,
    ];

    /// The name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Term => "term",
            Self::Junit => "junit",
            Self::Json => "json",
            Self::Ndjson => "ndjson",
            Self::Markdown => "markdown",
            Self::Annotations => "annotations",
            Self::Sarif => "sarif",
            Self::Tap => "tap",
            Self::Html => "html",
        }
    }

    /// The usual extension of a file, without a dot.
    #[must_use]
    pub fn extension(self) -> &'static str {
        match self {
            Self::Term | Self::Annotations => "txt",
            Self::Junit => "xml",
            Self::Json => "json",
            Self::Ndjson => "ndjson",
            Self::Markdown => "md",
            Self::Sarif => "sarif",
            Self::Tap => "tap",
            Self::Html => "html",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|format| format.name() == text)
            .ok_or_else(|| UnknownFormat { name: text.to_owned() })
    }
}

fn names() -> String {
    let names: Vec<&str> = Format::ALL.iter().map(|format| format.name()).collect();
    names.join(", ")
}

/// Writes the report in a format.
pub fn render(report: &RunReport, format: Format, out: &mut dyn Write) -> Result<(), RenderError> {
    match format {
        Format::Term => term::render(report, TermOptions::default(), out)?,
        Format::Junit => junit::render(report, out)?,
        Format::Json => json::render(report, out)?,
        Format::Ndjson => json::render_lines(report, out)?,
        Format::Markdown => markdown::render(report, out)?,
        Format::Annotations => annotations::render(report, out)?,
        Format::Sarif => sarif::render(report, out)?,
        Format::Tap => tap::render(report, out)?,
        Format::Html => html::render(report, out)?,
    }
    Ok(())
}
