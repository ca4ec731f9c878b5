//! Text that others wrote, made safe to print, cut and pad.
//!
//! What a target answered travels into reports. A terminal would obey an escape sequence in it, and a reader would
//! believe a line that a right-to-left override turned around.

use std::{borrow::Cow, sync::LazyLock};

use regex::Regex;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The text with control and direction-changing characters spelled out (`\u{1b}`), line breaks included.
#[must_use]
pub fn one_line(text: &str) -> Cow<'_, str> {
    spelled_out(text, |_| false)
}

/// As [`one_line`], but line breaks and tabs stay.
#[must_use]
pub fn lines(text: &str) -> Cow<'_, str> {
    spelled_out(text, |c| c == '\n' || c == '\t')
}

fn spelled_out(text: &str, allowed: impl Fn(char) -> bool) -> Cow<'_, str> {
    if is_printable_ascii(text) || !text.chars().any(|c| is_unsafe(c) && !allowed(c)) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_unsafe(c) && !allowed(c) {
            safe.extend(c.escape_default());
        } else {
            safe.push(c);
        }
    }
    Cow::Owned(safe)
}

fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// Columns that the text takes in a terminal.
#[must_use]
pub fn width(text: &str) -> usize {
    if is_printable_ascii(text) { text.len() } else { text.width() }
}

/// Most texts are, and then nothing has to be looked up: a report of many cells has a hundred thousand of them.
fn is_printable_ascii(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

/// The text cut to `columns`, an ellipsis at its end where something was cut.
#[must_use]
pub fn fit(text: &str, columns: usize) -> Cow<'_, str> {
    if width(text) <= columns {
        return Cow::Borrowed(text);
    }
    let room = columns.saturating_sub(1);
    let mut used = 0;
    let mut cut = String::new();
    for c in text.chars() {
        let width = c.width().unwrap_or(0);
        if used + width > room {
            break;
        }
        used += width;
        cut.push(c);
    }
    if columns > 0 {
        cut.push('…');
    }
    Cow::Owned(cut)
}

/// The text cut or padded on its right to exactly `columns`.
#[must_use]
pub fn pad(text: &str, columns: usize) -> String {
    let mut padded = fit(text, columns).into_owned();
    padded.extend(std::iter::repeat_n(' ', columns.saturating_sub(width(&padded))));
    padded
}

/// How lines are broken: between words, and never within `reverse-finish`, which is one name.
pub(crate) fn wrapping<'a>(columns: usize) -> textwrap::Options<'a> {
    textwrap::Options::new(columns)
        .word_separator(textwrap::WordSeparator::AsciiSpace)
        .word_splitter(textwrap::WordSplitter::NoHyphenation)
}

/// The text with long ids cut to their ends: `01a2309b-17c6-715e-bddf-5dfac17c78a8` as `…7c78a8`. For where there is little
/// room and the whole id stands elsewhere.
#[must_use]
pub fn short_ids(text: &str) -> Cow<'_, str> {
    static UUID: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            "[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{6}([0-9a-fA-F]{6})",
        )
        .ok()
    });
    match &*UUID {
        Some(uuid) if text.bytes().filter(|byte| *byte == b'-').nth(3).is_some() => {
            uuid.replace_all(text, "…$1")
        }
        _ => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::{fit, lines, one_line, pad, short_ids, width};

    #[test]
    fn escape_sequences_and_direction_overrides_are_spelled_out() {
        assert_eq!(one_line("a\u{1b}[31mb"), "a\\u{1b}[31mb");
        assert_eq!(one_line("a\u{202e}b"), "a\\u{202e}b");
        assert_eq!(one_line("a\r\nb"), "a\\r\\nb");
        assert_eq!(lines("a\n\tb\u{7}"), "a\n\tb\\u{7}");
    }

    #[test]
    fn ids_are_cut_to_their_ends_and_nothing_else_is() {
        assert_eq!(
            short_ids("GET /v1/jobs/01a2309b-17c6-715e-bddf-5dfac17c78a8/x → 200 job …7c78a8"),
            "GET /v1/jobs/…7c78a8/x → 200 job …7c78a8"
        );
        let plain = "a text of more than thirty-six characters in all";
        assert!(matches!(short_ids(plain), std::borrow::Cow::Borrowed(_)));
    }

    #[test]
    fn harmless_text_is_not_copied() {
        assert!(matches!(one_line("grün → ja"), std::borrow::Cow::Borrowed(_)));
    }

    #[test]
    fn text_is_cut_by_columns_and_not_by_characters() {
        assert_eq!(fit("abcdef", 6), "abcdef");
        assert_eq!(fit("abcdefg", 6), "abcde…");
        assert_eq!(fit("日本語日本語", 6), "日本…");
        assert_eq!(fit("abc", 0), "");
        assert_eq!(width(&pad("日本語日本語", 6)), 6);
        assert_eq!(pad("ab", 4), "ab  ");
    }
}
