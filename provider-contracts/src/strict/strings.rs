//! Strings and their escapes.

use super::trouble::{Trouble, TroubleKind};

/// Reads a string that starts with a quote at `*at`, leaves `*at` behind the closing quote, returns the content.
pub(super) fn string(text: &str, at: &mut usize) -> Result<String, Trouble> {
    let bytes = text.as_bytes();
    *at += 1;
    let mut out = String::new();
    let mut from = *at;
    loop {
        match bytes.get(*at) {
            None => return trouble(TroubleKind::UnexpectedEnd, *at, "the text ends inside a string"),
            Some(b'"') => {
                out.push_str(&text[from..*at]);
                *at += 1;
                return Ok(out);
            }
            Some(b'\\') => {
                out.push_str(&text[from..*at]);
                out.push(escape(text, at)?);
                from = *at;
            }
            Some(byte) if *byte < 0x20 => {
                let what = format!("raw byte 0x{byte:02x} inside a string");
                return trouble(TroubleKind::ControlCharacter, *at, &what);
            }
            Some(_) => *at += 1,
        }
    }
}

fn escape(text: &str, at: &mut usize) -> Result<char, Trouble> {
    let start = *at;
    let Some(kind) = text.as_bytes().get(start + 1) else {
        return trouble(TroubleKind::UnexpectedEnd, start, "the text ends inside an escape");
    };
    *at += 2;
    let plain = match kind {
        b'"' => '"',
        b'\\' => '\\',
        b'/' => '/',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => return unicode(text, start, at),
        _ => {
            let shown: String = text[start..].chars().take(2).collect();
            return trouble(TroubleKind::Escape, start, &format!("`{shown}` is no JSON escape"));
        }
    };
    Ok(plain)
}

fn unicode(text: &str, start: usize, at: &mut usize) -> Result<char, Trouble> {
    let first = hex(text, start, at)?;
    if (0xDC00..0xE000).contains(&first) {
        return lone(text, start);
    }
    if !(0xD800..0xDC00).contains(&first) {
        return char::from_u32(first).map_or_else(|| lone(text, start), Ok);
    }
    if text.as_bytes().get(*at..*at + 2) != Some(b"\\u") {
        return lone(text, start);
    }
    *at += 2;
    let second = hex(text, start, at)?;
    if !(0xDC00..0xE000).contains(&second) {
        return lone(text, start);
    }
    let scalar = 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
    char::from_u32(scalar).map_or_else(|| lone(text, start), Ok)
}

fn hex(text: &str, start: usize, at: &mut usize) -> Result<u32, Trouble> {
    let Some(digits) = text.as_bytes().get(*at..*at + 4) else {
        return trouble(TroubleKind::UnexpectedEnd, start, "the text ends inside an escape");
    };
    let mut value = 0;
    for digit in digits {
        let Some(nibble) = char::from(*digit).to_digit(16) else {
            return trouble(TroubleKind::Escape, start, "\\u needs four hexadecimal digits");
        };
        value = value * 16 + nibble;
    }
    *at += 4;
    Ok(value)
}

fn lone<T>(text: &str, start: usize) -> Result<T, Trouble> {
    let shown: String = text[start..].chars().take(6).collect();
    trouble(TroubleKind::LoneSurrogate, start, &format!("`{shown}` is half of a surrogate pair"))
}

pub(super) fn trouble<T>(kind: TroubleKind, offset: usize, detail: &str) -> Result<T, Trouble> {
    Err(Trouble { kind, offset, detail: detail.to_owned() })
}
