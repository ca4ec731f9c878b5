//! A JSON reader that refuses what a canonical form would lose: duplicate member names, lone surrogates and numbers
//! that a double can't carry. Ordinary readers accept all three silently, and then two intents look like one.

use std::collections::HashSet;

/// How deep arrays and objects may nest. Bounds the stack that a request can ask for.
const DEEPEST: usize = 64;

/// A JSON value as it was received.
#[derive(Debug, Clone, PartialEq)]
pub enum Json {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number that survives the round trip through a double.
    Number(f64),
    /// A string without lone surrogates.
    String(String),
    /// An array, in its order.
    Array(Vec<Json>),
    /// Members with distinct names, in the order received.
    Object(Vec<(String, Json)>),
}

/// Why a text is refused. Offsets count bytes from 0.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JsonRefusal {
    /// Not JSON (RFC 8259).
    #[error("not JSON: {what} at byte {at}")]
    Syntax {
        /// What was wrong.
        what: &'static str,
        /// Where.
        at: usize,
    },
    /// Deeper than the service reads.
    #[error("nested deeper than {DEEPEST} levels at byte {at}; flatten the document")]
    TooDeep {
        /// Where.
        at: usize,
    },
    /// Two members of one object have the same name, so readers disagree on which counts.
    #[error("the member `{name}` appears twice in one object (the second ends at byte {at}); send it once")]
    DuplicateMember {
        /// The name.
        name: String,
        /// Where the second name ends.
        at: usize,
    },
    /// An escape that is half of a surrogate pair: no Unicode text.
    #[error("a lone surrogate escape at byte {at}; send both halves of the pair, or the character itself")]
    LoneSurrogate {
        /// Where.
        at: usize,
    },
    /// A number that reads differently after a trip through a double.
    #[error("the number {text} at byte {at} does not survive a double; send it as a string")]
    NumberLosesPrecision {
        /// The number as received.
        text: String,
        /// Where.
        at: usize,
    },
}

/// What a reader lets pass. The honest service refuses all of it; see [`Leniency::default`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Leniency {
    /// The last of several members with one name counts.
    duplicate_members: bool,
    /// A number becomes the nearest double.
    rounded_numbers: bool,
}

/// Reads one JSON text.
pub fn parse(text: &[u8]) -> Result<Json, JsonRefusal> {
    parse_leniently(text, Leniency::default())
}

/// Reads the last of several members with one name.
pub(crate) fn parse_with_duplicates(text: &[u8]) -> Result<Json, JsonRefusal> {
    parse_leniently(text, Leniency { duplicate_members: true, ..Leniency::default() })
}

/// Reads the nearest double of each number.
pub(crate) fn parse_rounding(text: &[u8]) -> Result<Json, JsonRefusal> {
    parse_leniently(text, Leniency { rounded_numbers: true, ..Leniency::default() })
}

fn parse_leniently(text: &[u8], leniency: Leniency) -> Result<Json, JsonRefusal> {
    let text = std::str::from_utf8(text)
        .map_err(|error| JsonRefusal::Syntax { what: "not UTF-8", at: error.valid_up_to() })?;
    let mut reader = Reader { text, bytes: text.as_bytes(), at: 0, leniency };
    reader.skip_space();
    let value = reader.value(0)?;
    reader.skip_space();
    if reader.at < reader.bytes.len() {
        return Err(reader.syntax("text after the value"));
    }
    Ok(value)
}

struct Reader<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    leniency: Leniency,
}

impl Reader<'_> {
    fn syntax(&self, what: &'static str) -> JsonRefusal {
        JsonRefusal::Syntax { what, at: self.at }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn eat(&mut self, byte: u8) -> bool {
        let there = self.peek() == Some(byte);
        self.at += usize::from(there);
        there
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn value(&mut self, depth: usize) -> Result<Json, JsonRefusal> {
        if depth > DEEPEST {
            return Err(JsonRefusal::TooDeep { at: self.at });
        }
        match self.peek() {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'"') => self.string().map(Json::String),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word("true", Json::Bool(true)),
            Some(b'f') => self.word("false", Json::Bool(false)),
            Some(b'n') => self.word("null", Json::Null),
            Some(_) => Err(self.syntax("a value can't start like this")),
            None => Err(self.syntax("the text ends where a value should be")),
        }
    }

    fn word(&mut self, word: &str, value: Json) -> Result<Json, JsonRefusal> {
        if self.text[self.at..].starts_with(word) {
            self.at += word.len();
            Ok(value)
        } else {
            Err(self.syntax("an unknown word"))
        }
    }

    fn array(&mut self, depth: usize) -> Result<Json, JsonRefusal> {
        self.at += 1;
        let mut items = Vec::new();
        self.skip_space();
        if self.eat(b']') {
            return Ok(Json::Array(items));
        }
        loop {
            self.skip_space();
            items.push(self.value(depth + 1)?);
            self.skip_space();
            if self.eat(b']') {
                return Ok(Json::Array(items));
            }
            if !self.eat(b',') {
                return Err(self.syntax("expected `,` or `]`"));
            }
        }
    }

    fn object(&mut self, depth: usize) -> Result<Json, JsonRefusal> {
        self.at += 1;
        let mut members: Vec<(String, Json)> = Vec::new();
        let mut names = HashSet::new();
        self.skip_space();
        if self.eat(b'}') {
            return Ok(Json::Object(members));
        }
        loop {
            self.skip_space();
            if self.peek() != Some(b'"') {
                return Err(self.syntax("expected a member name"));
            }
            let name = self.string()?;
            if !names.insert(name.clone()) {
                if !self.leniency.duplicate_members {
                    return Err(JsonRefusal::DuplicateMember { name, at: self.at });
                }
                members.retain(|(earlier, _)| *earlier != name);
            }
            self.skip_space();
            if !self.eat(b':') {
                return Err(self.syntax("expected `:`"));
            }
            self.skip_space();
            let value = self.value(depth + 1)?;
            members.push((name, value));
            self.skip_space();
            if self.eat(b'}') {
                return Ok(Json::Object(members));
            }
            if !self.eat(b',') {
                return Err(self.syntax("expected `,` or `}`"));
            }
        }
    }

    fn string(&mut self) -> Result<String, JsonRefusal> {
        self.at += 1;
        let mut out = String::new();
        loop {
            let rest = &self.text[self.at..];
            let plain = rest.find(|c: char| c == '"' || c == '\\' || c < ' ').unwrap_or(rest.len());
            out.push_str(&rest[..plain]);
            self.at += plain;
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(out);
                }
                Some(b'\\') => out.push(self.escape()?),
                Some(_) => return Err(self.syntax("a control character in a string")),
                None => return Err(self.syntax("the text ends within a string")),
            }
        }
    }

    fn escape(&mut self) -> Result<char, JsonRefusal> {
        let start = self.at;
        self.at += 1;
        let letter = self.peek().ok_or_else(|| self.syntax("the text ends within a string"))?;
        self.at += 1;
        Ok(match letter {
            b'"' | b'\\' | b'/' => char::from(letter),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let first = self.hex4()?;
                let lone = JsonRefusal::LoneSurrogate { at: start };
                match first {
                    0xD800..=0xDBFF => {
                        if !(self.eat(b'\\') && self.eat(b'u')) {
                            return Err(lone);
                        }
                        let second = self.hex4()?;
                        if !(0xDC00..=0xDFFF).contains(&second) {
                            return Err(lone);
                        }
                        char::from_u32(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00)).ok_or(lone)?
                    }
                    _ => char::from_u32(first).ok_or(lone)?,
                }
            }
            _ => {
                self.at = start;
                return Err(self.syntax("an unknown escape"));
            }
        })
    }

    fn hex4(&mut self) -> Result<u32, JsonRefusal> {
        let digits =
            self.bytes.get(self.at..self.at + 4).filter(|four| four.iter().all(u8::is_ascii_hexdigit));
        let Some(digits) = digits else { return Err(self.syntax("expected four hexadecimal digits")) };
        self.at += 4;
        Ok(digits.iter().fold(0, |sum, &digit| sum * 16 + char::from(digit).to_digit(16).unwrap_or(0)))
    }

    fn digits(&mut self) -> Result<(), JsonRefusal> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at == start { Err(self.syntax("expected a digit")) } else { Ok(()) }
    }

    fn number(&mut self) -> Result<Json, JsonRefusal> {
        let start = self.at;
        self.eat(b'-');
        if !self.eat(b'0') {
            self.digits()?;
        }
        if self.eat(b'.') {
            self.digits()?;
        }
        if self.eat(b'e') || self.eat(b'E') {
            let _ = self.eat(b'+') || self.eat(b'-');
            self.digits()?;
        }
        let text = &self.text[start..self.at];
        let lossy = || JsonRefusal::NumberLosesPrecision { text: text.to_owned(), at: start };
        let number: f64 = text.parse().map_err(|_| lossy())?;
        if !number.is_finite() {
            return Err(lossy());
        }
        // As the canonical form prints it: where two decimals are equally short and near, printers differ.
        let mut buffer = ryu_js::Buffer::new();
        let printed = buffer.format(number);
        if !self.leniency.rounded_numbers && Decimal::of(text) != Decimal::of(printed) {
            return Err(lossy());
        }
        Ok(Json::Number(if number == 0.0 { 0.0 } else { number }))
    }
}

/// A decimal number as its significant digits and the power of ten behind them, so that `10`, `1e1` and `10.0` are
/// equal and nothing is rounded.
#[derive(PartialEq, Eq)]
struct Decimal {
    negative: bool,
    digits: String,
    exponent: Option<i64>,
}

impl Decimal {
    fn of(text: &str) -> Self {
        let (negative, text) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = format!("{whole}{fraction}");
        let significant = all.trim_start_matches('0');
        let digits = significant.trim_end_matches('0').to_owned();
        if digits.is_empty() {
            return Self { negative: false, digits, exponent: Some(0) };
        }
        let dropped = significant.len() - digits.len();
        // An exponent beyond i64 belongs to no finite double, so `None` equals nothing that was printed.
        let exponent = exponent
            .parse::<i64>()
            .ok()
            .and_then(|e| e.checked_sub(i64::try_from(fraction.len()).ok()?))
            .and_then(|e| e.checked_add(i64::try_from(dropped).ok()?));
        Self { negative, digits, exponent }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_canonical_form_would_lose_is_refused() {
        type Check = fn(&JsonRefusal) -> bool;
        let cases: [(&str, Check); 13] = [
            (r#"{"a":1,"a":1}"#, |r| matches!(r, JsonRefusal::DuplicateMember { .. })),
            (r#"{"a":1,"\u0061":2}"#, |r| matches!(r, JsonRefusal::DuplicateMember { .. })),
            (r#"[{"x":{"b":1,"b":2}}]"#, |r| matches!(r, JsonRefusal::DuplicateMember { .. })),
            (r#""\ud800""#, |r| matches!(r, JsonRefusal::LoneSurrogate { .. })),
            (r#""\udc00\ud800""#, |r| matches!(r, JsonRefusal::LoneSurrogate { .. })),
            (r#""\ud800A""#, |r| matches!(r, JsonRefusal::LoneSurrogate { .. })),
            ("-1570319468829408.3", |r| matches!(r, JsonRefusal::NumberLosesPrecision { .. })),
            ("9007199254740993", |r| matches!(r, JsonRefusal::NumberLosesPrecision { .. })),
            ("0.10000000000000001", |r| matches!(r, JsonRefusal::NumberLosesPrecision { .. })),
            ("1e400", |r| matches!(r, JsonRefusal::NumberLosesPrecision { .. })),
            ("1e-400", |r| matches!(r, JsonRefusal::NumberLosesPrecision { .. })),
            ("-1e-400", |r| matches!(r, JsonRefusal::NumberLosesPrecision { .. })),
            ("1e99999999999999999999", |r| matches!(r, JsonRefusal::NumberLosesPrecision { .. })),
        ];
        for (text, expected) in cases {
            let refusal = parse(text.as_bytes()).expect_err(text);
            assert!(expected(&refusal), "{text}: {refusal}");
        }
    }

    #[test]
    fn what_a_double_carries_is_accepted() {
        for text in
            ["9007199254740992", "0.1", "1.0", "1e0", "-0", "0e5", "5e-324", "1.7976931348623157e308", "100"]
        {
            assert!(parse(text.as_bytes()).is_ok(), "{text}");
        }
    }

    #[test]
    fn what_is_not_json_is_refused() {
        for text in [
            "",
            " ",
            "{",
            "[1,]",
            "{\"a\":1,}",
            "01",
            "1.",
            ".5",
            "+1",
            "1e",
            "nul",
            "'a'",
            "\"\n\"",
            "\"\\x\"",
            "[1] 2",
            "NaN",
            "{a:1}",
            "\u{feff}1",
            "\"\\u12\"",
            "-",
        ] {
            assert!(matches!(parse(text.as_bytes()), Err(JsonRefusal::Syntax { .. })), "{text:?}");
        }
        assert!(matches!(parse(b"\"\xff\""), Err(JsonRefusal::Syntax { what: "not UTF-8", at: 1 })));
    }

    #[test]
    fn depth_is_bounded() {
        let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert!(parse(deep(DEEPEST).as_bytes()).is_ok());
        assert!(matches!(parse(deep(100_000).as_bytes()), Err(JsonRefusal::TooDeep { .. })));
    }

    #[test]
    fn escapes_are_read() {
        let read = parse(br#""\u00e9\ud83d\ude00\n\/""#).expect("valid JSON");
        assert_eq!(read, Json::String("é😀\n/".to_owned()));
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_the_reader_panic(text: Vec<u8>) {
            let _ = parse(&text);
        }

        /// Fragments of JSON, so that much of what is tried is nearly valid.
        #[test]
        fn another_reader_agrees_on_what_is_json(
            parts in proptest::collection::vec(
                proptest::sample::select(vec![
                    "{", "}", "[", "]", ":", ",", " ", "\"a\"", "\"b\"", "\"\\u00e9\"", "\"\\ud83d\\ude00\"",
                    "\"\\ud83d\"", "0", "-1", "1.50", "2e3", "1e400", "9007199254740993", "true", "null", "\\", "\"",
                ]),
                0..12,
            ),
        ) {
            let text = parts.concat();
            let other = serde_json::from_str::<serde_json::Value>(&text);
            match parse(text.as_bytes()) {
                Ok(_) => proptest::prop_assert!(other.is_ok(), "{text}"),
                Err(JsonRefusal::Syntax { .. }) => proptest::prop_assert!(other.is_err(), "{text}"),
                // Refused for what would be lost, which the other reader does not mind or sees as syntax.
                Err(_) => {}
            }
        }
    }
}
