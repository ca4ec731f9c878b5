//! Faults as people read them.

use std::fmt::Write as _;

use miette::{GraphicalReportHandler, GraphicalTheme, ThemeCharacters, ThemeStyles};

use super::Fault;

/// How a fault is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// ANSI colours.
    pub color: bool,
    /// Lines and arrows beyond ASCII.
    pub unicode: bool,
    /// Columns.
    pub width: usize,
}

impl Default for Look {
    fn default() -> Self {
        Self { color: false, unicode: true, width: 100 }
    }
}

/// The fault with its code, excerpt, causes and advice, then the same for each that was found with it. Ends with a
/// line break.
#[must_use]
pub fn render(fault: &Fault, look: Look) -> String {
    let theme = GraphicalTheme {
        characters: if look.unicode { ThemeCharacters::unicode() } else { ThemeCharacters::ascii() },
        styles: if look.color { ThemeStyles::ansi() } else { ThemeStyles::none() },
    };
    let handler = GraphicalReportHandler::new_themed(theme)
        .with_width(look.width)
        .with_links(false)
        .with_context_lines(1)
        .without_syntax_highlighting();
    let mut page = String::new();
    if handler.render_report(&mut page, fault).is_err() {
        // Only an unreadable excerpt can get here; the words still have to reach the reader.
        page = format!("{}: {fault}\n  help: {}", fault.code(), fault.advice());
    }
    let mut lines: String = page.lines().map(|line| line.trim_end().to_owned() + "\n").collect();
    let codes = std::iter::once(fault).chain(fault.others()).map(Fault::code);
    let mut seen: Vec<_> = codes.collect();
    seen.sort_unstable();
    seen.dedup();
    let more: Vec<_> = seen.iter().map(|code| format!("onejob explain {code}")).collect();
    // Writing to a String can't fail.
    let _ = writeln!(lines, "\nmore: {}", more.join(", "));
    lines
}
