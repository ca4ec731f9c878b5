//! Places in files that people wrote.

use std::{ops::Range, sync::Arc};

use miette::NamedSource;

/// A file's name and content, shared by all places in it.
#[derive(Debug, Clone)]
pub struct Text(Arc<NamedSource<String>>);

impl Text {
    /// A text under the name that messages give it: a path, or `embedded:NAME`.
    #[must_use]
    pub fn new(name: &str, content: &str) -> Self {
        Self(Arc::new(NamedSource::new(name, content.to_owned())))
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.0.name()
    }

    /// The content.
    #[must_use]
    pub fn content(&self) -> &str {
        self.0.inner()
    }

    /// The place of these bytes. A range beyond the end is cut to it.
    #[must_use]
    pub fn place(&self, span: Range<usize>) -> Place {
        let end = self.content().len();
        Place { text: self.clone(), span: span.start.min(end)..span.end.min(end) }
    }

    /// The line of a byte, from 1.
    #[must_use]
    pub fn line(&self, offset: usize) -> u32 {
        let before = &self.content().as_bytes()[..offset.min(self.content().len())];
        let breaks = before.split(|byte| *byte == b'\n').count();
        u32::try_from(breaks).unwrap_or(u32::MAX)
    }

    pub(super) fn source(&self) -> &NamedSource<String> {
        &self.0
    }
}

/// A range of bytes in a [`Text`].
#[derive(Debug, Clone)]
pub struct Place {
    text: Text,
    span: Range<usize>,
}

impl Place {
    /// The file.
    #[must_use]
    pub fn text(&self) -> &Text {
        &self.text
    }

    /// The bytes.
    #[must_use]
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// Line of the beginning, from 1.
    #[must_use]
    pub fn line(&self) -> u32 {
        self.text.line(self.span.start)
    }

    /// Column of the beginning in characters, from 1.
    #[must_use]
    pub fn column(&self) -> u32 {
        let before = self.text.content().get(..self.span.start).unwrap_or_default();
        let line = before.rsplit('\n').next().unwrap_or_default();
        u32::try_from(line.chars().count() + 1).unwrap_or(u32::MAX)
    }
}

/// Longer lines are cut to what stands around the place.
const LONGEST_LINE: usize = 400;
/// So much of a long line is shown before its place.
const BEFORE: usize = 60;

impl Place {
    /// What an excerpt shows instead of the file, where that can't be shown as it is: a line that is too long for any
    /// terminal, or characters that a terminal would obey. Lines keep their numbers.
    pub(super) fn excerpt(&self) -> Option<(NamedSource<String>, Range<usize>)> {
        let content = self.text.content();
        let tame = |line: &str| line.len() <= LONGEST_LINE && !line.chars().any(obeyed);
        if content.lines().all(tame) {
            return None;
        }
        let (mut shown, mut span, mut offset) = (String::new(), None, 0);
        for line in content.split_inclusive('\n') {
            let (end, text) = (offset + line.len(), line.trim_end_matches(['\n', '\r']));
            let here =
                (offset..end).contains(&self.span.start) || self.span.start == end && end == content.len();
            let place = here.then(|| {
                let start = (self.span.start - offset).min(text.len());
                start..(self.span.end - offset).clamp(start, text.len())
            });
            if let Some(found) = tamed(text, place, &mut shown) {
                span = Some(found);
            }
            shown.push('\n');
            offset = end;
        }
        let span = span.unwrap_or(shown.len()..shown.len());
        Some((NamedSource::new(self.text.name(), shown), span))
    }
}

/// Appends a line as a terminal may see it, and gives the place's bytes there.
fn tamed(line: &str, place: Option<Range<usize>>, shown: &mut String) -> Option<Range<usize>> {
    let around = place.clone().unwrap_or(0..0);
    let window = if line.len() <= LONGEST_LINE {
        0..line.len()
    } else {
        let start = line.floor_char_boundary(around.start.saturating_sub(BEFORE));
        start..line.floor_char_boundary((start + LONGEST_LINE).min(line.len()))
    };
    if window.start > 0 {
        shown.push('…');
    }
    let (mut start, mut end) = (None, shown.len());
    for (index, char) in line[window.clone()].char_indices() {
        if index + window.start >= around.start && start.is_none() {
            start = Some(shown.len());
        }
        shown.push(if obeyed(char) { char::REPLACEMENT_CHARACTER } else { char });
        if index + window.start < around.end {
            end = shown.len();
        }
    }
    let start = start.unwrap_or(shown.len());
    if window.end < line.len() {
        shown.push('…');
    }
    place.map(|_| start..end.max(start))
}

/// Whether a terminal does something else with it than to show it.
fn obeyed(char: char) -> bool {
    char.is_control() && !matches!(char, '\t' | '\r' | '\n')
}

impl std::fmt::Display for Place {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}:{}:{}", self.text.name(), self.line(), self.column())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_count_from_one_and_columns_in_characters() {
        let text = Text::new("a.toml", "x = 1\nöü = 2\n");
        assert_eq!(text.place(0..1).to_string(), "a.toml:1:1");
        let two = text.content().find('2').expect("it is there");
        assert_eq!(text.place(two..two + 1).to_string(), "a.toml:2:6");
    }

    #[test]
    fn an_excerpt_of_a_long_line_is_what_stands_around_the_place() {
        let long = format!("a = 1\nx = \"{}HERE{}\"\n", "é".repeat(40_000), "z".repeat(40_000));
        let text = Text::new("a.toml", &long);
        let at = long.find("HERE").expect("it is there");
        let (shown, span) = text.place(at..at + 4).excerpt().expect("the line is too long");
        assert_eq!(&shown.inner()[span], "HERE");
        assert!(shown.inner().len() < 600, "{} bytes", shown.inner().len());
        assert_eq!(shown.inner().lines().count(), 2, "lines keep their numbers");
        // A span over the whole line is cut to what is shown.
        let (shown, span) = text.place(10..long.len()).excerpt().expect("the line is too long");
        assert!(shown.inner().get(span).is_some());
    }

    #[test]
    fn an_excerpt_has_nothing_that_a_terminal_obeys() {
        let text = Text::new("a.toml", "a = \"\u{1b}[2J\u{7}\u{9b}\" = 2\r\nb = 1");
        let at = text.content().rfind("= 2").expect("it is there");
        let (shown, span) = text.place(at..at + 1).excerpt().expect("there are control characters");
        assert_eq!(&shown.inner()[span], "=");
        assert!(!shown.inner().chars().any(obeyed));
        let end = text.content().len();
        assert!(text.place(end..end).excerpt().is_some());
        assert!(Text::new("a.toml", "a = 1\n\tb = 2\r\n").place(0..1).excerpt().is_none());
    }

    #[test]
    fn a_place_beyond_the_end_is_the_end() {
        let text = Text::new("a.toml", "x = 1\n");
        assert_eq!(text.place(90..99).span(), 6..6);
        assert_eq!(text.place(90..99).line(), 2);
    }
}
