use std::{
    io::{self, Write},
    str::FromStr,
};

use super::{Sheet, html, markdown};
use crate::html::HtmlError;

/// A format that a sheet can be written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SheetFormat {
    /// One self-contained HTML file.
    Html,
    /// GitHub's Markdown, for a job summary.
    Markdown,
}

/// A name that is none of a sheet's formats.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no format of this report; there are html and markdown")]
pub struct UnknownSheetFormat(String);

impl FromStr for SheetFormat {
    type Err = UnknownSheetFormat;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "html" => Ok(Self::Html),
            "markdown" => Ok(Self::Markdown),
            other => Err(UnknownSheetFormat(other.to_owned())),
        }
    }
}

/// Writes the sheet in a format.
pub fn render(sheet: &Sheet, format: SheetFormat, out: &mut dyn Write) -> Result<(), HtmlError> {
    match format {
        SheetFormat::Html => html(sheet, out),
        SheetFormat::Markdown => markdown(sheet, out).map_err(io::Error::into),
    }
}
