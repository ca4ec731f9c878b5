use std::{fmt::Write as _, path::Path};

use anstyle::{AnsiColor, Style};

use crate::model::{Mark, Verdict};

/// What a piece of text means; the colour follows from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tone {
    Good,
    Bad,
    Doubt,
    Note,
    Faint,
    Strong,
    Normal,
}

impl From<Verdict> for Tone {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Pass => Self::Good,
            Verdict::Skipped => Self::Note,
            Verdict::Inconclusive => Self::Doubt,
            Verdict::Error | Verdict::Fail => Self::Bad,
        }
    }
}

impl From<Mark> for Tone {
    fn from(mark: Mark) -> Self {
        match mark {
            Mark::Plain => Self::Normal,
            Mark::Won => Self::Good,
            Mark::Discarded => Self::Faint,
            Mark::Refused | Mark::Unknown => Self::Doubt,
            Mark::Effect => Self::Note,
            Mark::Broke => Self::Bad,
        }
    }
}

/// Puts colours and links into text, or leaves it alone.
#[derive(Debug, Clone, Copy)]
pub(super) struct Paint {
    pub(super) color: bool,
    pub(super) links: bool,
}

impl Paint {
    pub(super) fn text(self, tone: Tone, text: &str) -> String {
        let style = match tone {
            _ if !self.color || text.trim().is_empty() => return text.to_owned(),
            Tone::Normal => return text.to_owned(),
            Tone::Good => AnsiColor::Green.on_default().bold(),
            Tone::Bad => AnsiColor::Red.on_default().bold(),
            Tone::Doubt => AnsiColor::Yellow.on_default().bold(),
            Tone::Note => AnsiColor::Cyan.on_default(),
            Tone::Faint => Style::new().dimmed(),
            Tone::Strong => Style::new().bold(),
        };
        format!("{style}{text}{style:#}")
    }

    /// The text as a link to a file, where the terminal knows links and the file is a real one.
    pub(super) fn file(self, file: &str, text: &str) -> String {
        if !self.links || file.starts_with("embedded:") {
            return text.to_owned();
        }
        let Ok(path) = std::path::absolute(Path::new(file)) else { return text.to_owned() };
        format!("\u{1b}]8;;{}\u{1b}\\{text}\u{1b}]8;;\u{1b}\\", file_uri(&path))
    }
}

fn file_uri(path: &Path) -> String {
    let mut uri = String::from("file://");
    for byte in path.to_string_lossy().bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                uri.push(char::from(byte));
            }
            // A String takes whatever is written to it.
            _ => _ = write!(uri, "%{byte:02X}"),
        }
    }
    uri
}
