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
    fn a_place_beyond_the_end_is_the_end() {
        let text = Text::new("a.toml", "x = 1\n");
        assert_eq!(text.place(90..99).span(), 6..6);
        assert_eq!(text.place(90..99).line(), 2);
    }
}
