//! Placeholders in texts: `{name}`.

/// A piece of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Piece<'a> {
    /// As it is.
    Plain(&'a str),
    /// The name between braces.
    Name(&'a str),
}

/// The pieces of a text. A name is letters, digits, `_`, `-` and `.`, a letter first; braces around anything else are
/// plain text, so JSON needs no escapes.
pub(crate) fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut plain_from = 0;
    let mut search_from = 0;
    while let Some(found) = text[search_from..].find('{') {
        let open = search_from + found;
        let name = text[open + 1..].find('}').map(|close| &text[open + 1..open + 1 + close]);
        match name {
            Some(name) if is_name(name) => {
                if plain_from < open {
                    pieces.push(Piece::Plain(&text[plain_from..open]));
                }
                pieces.push(Piece::Name(name));
                plain_from = open + name.len() + 2;
                search_from = plain_from;
            }
            _ => search_from = open + 1,
        }
    }
    if plain_from < text.len() {
        pieces.push(Piece::Plain(&text[plain_from..]));
    }
    pieces
}

/// The name, where the text is exactly one placeholder.
pub(crate) fn only(text: &str) -> Option<&str> {
    match pieces(text)[..] {
        [Piece::Name(name)] => Some(name),
        _ => None,
    }
}

/// The names in a text.
pub(crate) fn names(text: &str) -> impl Iterator<Item = &str> {
    pieces(text).into_iter().filter_map(|piece| match piece {
        Piece::Name(name) => Some(name),
        Piece::Plain(_) => None,
    })
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
}

#[cfg(test)]
mod tests {
    use super::{Piece::*, *};

    #[test]
    fn names_and_plain_text_take_turns() {
        assert_eq!(pieces("a{b}c{d.e}"), [Plain("a"), Name("b"), Plain("c"), Name("d.e")]);
        assert_eq!(pieces("{b}"), [Name("b")]);
        assert_eq!(pieces(""), []);
    }

    #[test]
    fn braces_of_json_are_plain() {
        let json = r#"{"a": {"b": 1}, "p": {payload}}"#;
        assert_eq!(names(json).collect::<Vec<_>>(), ["payload"]);
        assert_eq!(pieces("{"), [Plain("{")]);
        assert_eq!(pieces("{{x}}"), [Plain("{"), Name("x"), Plain("}")]);
    }

    #[test]
    fn pieces_put_together_are_the_text() {
        for text in ["{x", "x}", "{}", "{a}{b}", "{ä}", "é{a}é", "{a{b}c}"] {
            let again: String = pieces(text)
                .into_iter()
                .map(|piece| match piece {
                    Plain(plain) => plain.to_owned(),
                    Name(name) => format!("{{{name}}}"),
                })
                .collect();
            assert_eq!(again, text);
        }
    }
}
