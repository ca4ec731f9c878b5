//! Reading the user's files, and saying where one is wrong.

use std::fmt;
use std::io::Read as _;
use std::ops::Range;
use std::path::Path;

/// A place in a file, with the line that it is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// The file's name.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1, in characters.
    pub column: usize,
    /// The line's text.
    pub text: String,
    /// How many characters are meant.
    pub width: usize,
}

impl Excerpt {
    /// The place that `span` (bytes) means in `text`.
    #[must_use]
    pub fn of(file: &str, text: &str, span: Range<usize>) -> Self {
        let mut start = span.start.min(text.len());
        while !text.is_char_boundary(start) {
            start -= 1;
        }
        let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |at| start + at);
        let mut end = span.end.clamp(start, line_end);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        Self {
            file: file.to_owned(),
            line: text[..line_start].matches('\n').count() + 1,
            column: text[line_start..start].chars().count() + 1,
            text: text[line_start..line_end].to_owned(),
            width: text[start..end.max(start)].chars().count().max(1),
        }
    }
}

impl fmt::Display for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.line.to_string();
        let margin = " ".repeat(number.len());
        writeln!(f, "{margin}--> {}:{}:{}", self.file, self.line, self.column)?;
        writeln!(f, "{margin} |")?;
        // A line may be a whole file: what is around the place is shown.
        let skipped = (self.column - 1).saturating_sub(SHOWN / 2);
        let shown: String = self.text.chars().skip(skipped).take(SHOWN).collect();
        let (before, after) = (skipped > 0, self.text.chars().nth(skipped + SHOWN).is_some());
        let (head, tail) = (if before { "… " } else { "" }, if after { " …" } else { "" });
        writeln!(f, "{number} | {head}{shown}{tail}")?;
        let indent = self.column - 1 - skipped + if before { 2 } else { 0 };
        write!(f, "{margin} | {}{}", " ".repeat(indent), "^".repeat(self.width.min(SHOWN)))
    }
}

/// Characters of a line that are shown.
const SHOWN: usize = 160;

/// A file of the user's can't be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FileError {
    /// It can't be read or written.
    #[error("OJ7001: can't use {file}: {reason}\nhelp: check the path and its permissions")]
    Io {
        /// The file's name.
        file: String,
        /// What the system says.
        reason: String,
    },
    /// It says something that is not allowed.
    #[error("OJ7002: {problem}\n{excerpt}\nhelp: {help}")]
    Invalid {
        /// Where.
        excerpt: Excerpt,
        /// What is wrong.
        problem: String,
        /// What to do.
        help: String,
    },
}

impl FileError {
    /// The file can't be read or written.
    #[must_use]
    pub fn read(path: &Path, error: &std::io::Error) -> Self {
        Self::Io { file: path.display().to_string(), reason: error.to_string() }
    }

    /// The file says something that is not allowed.
    #[must_use]
    pub fn invalid(excerpt: Excerpt, problem: impl Into<String>, help: impl Into<String>) -> Self {
        Self::Invalid { excerpt, problem: problem.into(), help: help.into() }
    }

    /// The file is not the TOML that was expected.
    #[must_use]
    pub fn toml(file: &str, text: &str, error: &toml::de::Error) -> Self {
        let span = error.span().unwrap_or(0..0);
        let help = if error.message().starts_with("unknown field") {
            "check the spelling; the names that fit are listed above"
        } else {
            "`onejob schema contract` and `onejob schema providers` print what such a file may hold"
        };
        Self::invalid(Excerpt::of(file, text, span), error.message().trim(), help)
    }

    /// The file is not the JSON that was expected.
    #[must_use]
    pub fn json(file: &str, text: &str, error: &serde_json::Error) -> Self {
        let line_start: usize =
            text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
        let at = (line_start + error.column().saturating_sub(1)).min(text.len());
        let help = if error.is_data() {
            "this is JSON, and not of the kind that is wanted here: check which file is named"
        } else {
            "the file must be valid JSON"
        };
        let help = if text.starts_with('\u{feff}') {
            "the file begins with a byte order mark, which JSON does not have: save it as UTF-8 without one"
        } else {
            help
        };
        Self::invalid(Excerpt::of(file, text, at..at + 1), error.to_string(), help)
    }
}

/// No file that a person writes is longer.
const LONGEST: u64 = 256 << 20;

/// The text of a file that a person wrote. What has no end, as a device has none, is not read to it.
pub(crate) fn read_text(path: &Path) -> Result<String, FileError> {
    let failed = |error| FileError::read(path, &error);
    let mut text = String::new();
    let file = std::fs::File::open(path).map_err(failed)?;
    file.take(LONGEST + 1).read_to_string(&mut text).map_err(failed)?;
    if text.len() as u64 > LONGEST {
        return Err(failed(std::io::Error::other(format!("it is longer than {} MiB", LONGEST >> 20))));
    }
    Ok(text)
}

/// The text of a recording, however long the run was.
pub(crate) fn read_recording(path: &Path) -> Result<String, FileError> {
    std::fs::read_to_string(path).map_err(|error| FileError::read(path, &error))
}

/// Writes a file whole or not at all: a reader never sees half of it.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let failed = |error| FileError::read(path, &error);
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    let part = path.with_file_name(name);
    std::fs::write(&part, bytes).map_err(failed)?;
    std::fs::rename(&part, path).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_shows_line_column_and_width() {
        let shown = Excerpt::of("c.toml", "a = 1\nb = tru\n", 10..13).to_string();
        assert_eq!(shown, " --> c.toml:2:5\n  |\n2 | b = tru\n  |     ^^^");
    }

    #[test]
    fn an_excerpt_counts_characters_and_never_splits_one() {
        let excerpt = Excerpt::of("c.toml", "ä = ö", 5..6);
        assert_eq!((excerpt.column, excerpt.width), (5, 1));
    }

    #[test]
    fn of_an_endless_line_the_place_is_shown() {
        let text = format!("{}bad{}", "a".repeat(1_000_000), "b".repeat(1_000_000));
        let shown = Excerpt::of("c.jsonl", &text, 1_000_000..1_000_003).to_string();
        assert!(shown.len() < 1000, "{}", shown.len());
        let lines: Vec<&str> = shown.lines().collect();
        let at = lines[3].find('^').unwrap();
        assert_eq!(lines[2].chars().skip(at).take(3).collect::<String>(), "bad");
    }

    #[test]
    fn a_span_beyond_the_end_is_the_end() {
        assert_eq!(Excerpt::of("f", "x", 90..91).line, 1);
    }
}
