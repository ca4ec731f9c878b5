//! The pass itself: one value, checked and kept.

use std::collections::HashSet;

use serde_json::{Map, Number, Value};

use super::strings::{string, trouble};
use super::trouble::{Trouble, TroubleKind};

/// Deeper than this and the answer is an attack or a loop, not a document.
const MAX_DEPTH: usize = 128;
/// The largest integer that every double holds exactly.
const EXACT: u64 = 1 << 53;

/// A text that passed.
#[derive(Clone, Debug, PartialEq)]
pub struct Scan {
    /// The value.
    pub value: Value,
    /// JSON pointers of integers beyond 2⁵³: some consumers will round them.
    pub big_integers: Vec<String>,
}

/// Reads exactly one JSON value from `text`.
///
/// # Errors
/// The first trouble met, with its byte offset.
pub fn scan(text: &str) -> Result<Scan, Trouble> {
    let mut reader = Reader { text, at: 0, path: Vec::new(), big: Vec::new() };
    reader.space();
    let value = reader.value(0)?;
    reader.space();
    if reader.at < text.len() {
        let rest: String = text[reader.at..].chars().take(24).collect();
        return trouble(TroubleKind::TrailingData, reader.at, &format!("`{rest}` after the value"));
    }
    Ok(Scan { value, big_integers: reader.big })
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    path: Vec<String>,
    big: Vec<String>,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn value(&mut self, depth: usize) -> Result<Value, Trouble> {
        if depth > MAX_DEPTH {
            return trouble(TroubleKind::Depth, self.at, &format!("nested deeper than {MAX_DEPTH} levels"));
        }
        match self.peek() {
            None => trouble(TroubleKind::UnexpectedEnd, self.at, "the text ends where a value was due"),
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'"') => Ok(Value::String(string(self.text, &mut self.at)?)),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(_) => self.word(),
        }
    }

    fn word(&mut self) -> Result<Value, Trouble> {
        for (word, value) in
            [("true", Value::Bool(true)), ("false", Value::Bool(false)), ("null", Value::Null)]
        {
            if self.text[self.at..].starts_with(word) {
                self.at += word.len();
                return Ok(value);
            }
        }
        let rest = &self.text[self.at..];
        if !rest.is_empty() && ["true", "false", "null"].iter().any(|word| word.starts_with(rest)) {
            return trouble(TroubleKind::UnexpectedEnd, self.text.len(), "the text ends inside a word");
        }
        let shown: String = rest.chars().take(16).collect();
        let kind = if rest.starts_with("NaN") || rest.starts_with("Infinity") {
            TroubleKind::Number
        } else {
            TroubleKind::Syntax
        };
        trouble(kind, self.at, &format!("`{shown}` where a value was due"))
    }

    fn object(&mut self, depth: usize) -> Result<Value, Trouble> {
        self.at += 1;
        let mut members = Map::new();
        let mut seen = HashSet::new();
        self.space();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Value::Object(members));
        }
        loop {
            self.space();
            let key_at = self.at;
            match self.peek() {
                Some(b'"') => {}
                None => {
                    return trouble(TroubleKind::UnexpectedEnd, self.at, "the text ends inside an object");
                }
                Some(_) => return trouble(TroubleKind::Syntax, self.at, "a key in double quotes was due"),
            }
            let key = string(self.text, &mut self.at)?;
            if !seen.insert(key.clone()) {
                return trouble(
                    TroubleKind::DuplicateKey,
                    key_at,
                    &format!("the key `{key}` is there twice"),
                );
            }
            self.space();
            self.expect(b':')?;
            self.space();
            self.path.push(key.clone());
            let value = self.value(depth + 1)?;
            self.path.pop();
            members.insert(key, value);
            self.space();
            if self.separator(b'}')? {
                return Ok(Value::Object(members));
            }
        }
    }

    fn array(&mut self, depth: usize) -> Result<Value, Trouble> {
        self.at += 1;
        let mut items = Vec::new();
        self.space();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Value::Array(items));
        }
        loop {
            self.space();
            self.path.push(items.len().to_string());
            let value = self.value(depth + 1)?;
            self.path.pop();
            items.push(value);
            self.space();
            if self.separator(b']')? {
                return Ok(Value::Array(items));
            }
        }
    }

    /// A comma (false) or the end of the container (true).
    fn separator(&mut self, end: u8) -> Result<bool, Trouble> {
        match self.peek() {
            Some(b',') => {
                self.at += 1;
                Ok(false)
            }
            Some(byte) if byte == end => {
                self.at += 1;
                Ok(true)
            }
            None => trouble(TroubleKind::UnexpectedEnd, self.at, "the text ends inside a container"),
            Some(_) => {
                let what = format!("`,` or `{}` was due", char::from(end));
                trouble(TroubleKind::Syntax, self.at, &what)
            }
        }
    }

    fn expect(&mut self, byte: u8) -> Result<(), Trouble> {
        match self.peek() {
            Some(found) if found == byte => {
                self.at += 1;
                Ok(())
            }
            None => trouble(TroubleKind::UnexpectedEnd, self.at, "the text ends inside an object"),
            Some(_) => trouble(TroubleKind::Syntax, self.at, &format!("`{}` was due", char::from(byte))),
        }
    }

    fn digits(&mut self) -> usize {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        self.at - start
    }

    fn number(&mut self) -> Result<Value, Trouble> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        let leading_zero = self.peek() == Some(b'0');
        let whole = self.digits();
        if whole == 0 {
            return self.bad_number(start);
        }
        if leading_zero && whole > 1 {
            return trouble(TroubleKind::Number, start, "a number must not start with 0");
        }
        let mut integer = true;
        if self.peek() == Some(b'.') {
            integer = false;
            self.at += 1;
            if self.digits() == 0 {
                return self.bad_number(start);
            }
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            integer = false;
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            if self.digits() == 0 {
                return self.bad_number(start);
            }
        }
        self.keep_number(start, integer)
    }

    fn keep_number(&mut self, start: usize, integer: bool) -> Result<Value, Trouble> {
        let text = &self.text[start..self.at];
        if integer {
            let number: Number = if let Ok(small) = text.parse::<i64>() {
                small.into()
            } else if let Ok(large) = text.parse::<u64>() {
                large.into()
            } else {
                let what = format!("the integer {text} does not fit 64 bits: consumers would round it");
                return trouble(TroubleKind::Number, start, &what);
            };
            let size = number.as_u64().unwrap_or_else(|| number.as_i64().map_or(0, i64::unsigned_abs));
            if size > EXACT {
                self.big.push(self.pointer());
            }
            return Ok(Value::Number(number));
        }
        match text.parse::<f64>().ok().and_then(Number::from_f64) {
            Some(number) => Ok(Value::Number(number)),
            None => trouble(TroubleKind::Number, start, &format!("{text} is beyond what a double holds")),
        }
    }

    fn bad_number<T>(&self, start: usize) -> Result<T, Trouble> {
        if self.at >= self.text.len() {
            return trouble(TroubleKind::UnexpectedEnd, self.at, "the text ends inside a number");
        }
        trouble(TroubleKind::Number, start, "digits were due")
    }

    fn pointer(&self) -> String {
        self.path
            .iter()
            .fold(String::new(), |all, part| all + "/" + &part.replace('~', "~0").replace('/', "~1"))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn kind(text: &str) -> TroubleKind {
        scan(text).expect_err(text).kind
    }

    #[test]
    fn each_trouble_is_told_apart() {
        let cases = [
            (r#"{"a":"\q"}"#, TroubleKind::Escape),
            ("{\"a\":\"x\ny\"}", TroubleKind::ControlCharacter),
            (r#"{"a":"\ud83d"}"#, TroubleKind::LoneSurrogate),
            (r#"{"a":"\udc00\ud83d"}"#, TroubleKind::LoneSurrogate),
            (r#"{"a":"\ud83dx"}"#, TroubleKind::LoneSurrogate),
            (r#"{"a":1,"a":2}"#, TroubleKind::DuplicateKey),
            (r#"{"a":1,"\u0061":2}"#, TroubleKind::DuplicateKey),
            (r#"{"o":{"b":1,"b":1}}"#, TroubleKind::DuplicateKey),
            (r#"{"a":1}{"a":2}"#, TroubleKind::TrailingData),
            (r#"{"a":1} ok"#, TroubleKind::TrailingData),
            (r#"{"a":"AC"#, TroubleKind::UnexpectedEnd),
            (r#"{"a":tru"#, TroubleKind::UnexpectedEnd),
            (r#"{"a":"#, TroubleKind::UnexpectedEnd),
            ("-", TroubleKind::UnexpectedEnd),
            (r#"{"a":NaN}"#, TroubleKind::Number),
            (r#"{"a":01}"#, TroubleKind::Number),
            (r#"{"a":1e999}"#, TroubleKind::Number),
            (r#"{"a":25122920421210000012345}"#, TroubleKind::Number),
            (r"{a:1}", TroubleKind::Syntax),
            (r#"{"a":1,}"#, TroubleKind::Syntax),
            ("[1 2]", TroubleKind::Syntax),
        ];
        for (text, expected) in cases {
            assert_eq!(kind(text), expected, "{text}");
        }
    }

    #[test]
    fn what_passes_is_what_a_plain_parser_reads() {
        let texts = [
            r#" {"a":[1,-2,0.5,1e3,"\ud83d\ude00\n",null,true,false,{}],"b":{"c":[]}} "#,
            r#""just a string""#,
            "18446744073709551615",
            "-0.0",
        ];
        for text in texts {
            let plain: Value = serde_json::from_str(text).unwrap();
            assert_eq!(scan(text).unwrap().value, plain, "{text}");
        }
    }

    #[test]
    fn integers_that_doubles_round_are_listed_with_their_place() {
        let seen =
            scan(r#"{"order/id":2512292042121000001,"l":[9007199254740992,9007199254740993]}"#).unwrap();
        assert_eq!(seen.big_integers, ["/order~1id", "/l/1"]);
        assert_eq!(seen.value["order/id"], json!(2_512_292_042_121_000_001_i64));
    }

    #[test]
    fn nesting_has_an_end() {
        let deep = "[".repeat(5_000) + &"]".repeat(5_000);
        assert_eq!(kind(&deep), TroubleKind::Depth);
    }

    #[test]
    fn the_offset_points_at_the_trouble() {
        assert_eq!(scan(r#"{"a":1,"a":2}"#).unwrap_err().offset, 7);
    }

    /// A small generator: the same texts in every run.
    fn next(state: &mut u64) -> usize {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        usize::try_from(*state % 1_000_003).unwrap()
    }

    #[test]
    fn on_twenty_thousand_damaged_texts_it_is_never_laxer_than_a_plain_parser() {
        let seed =
            r#"{"a":[1,-2.5e3,"\u00e9\ud83d\ude00\\",null],"b":{"a":true,"c":""},"d":12345678901234567890}"#;
        let alphabet: Vec<char> = "{}[]\",:\\u0d8e+-.1tfn \n\u{1}é".chars().collect();
        let mut state = 0x9E37_79B9_7F4A_7C15;
        let (mut accepted, mut stricter) = (0, 0);
        for _ in 0..20_000 {
            let mut text: Vec<char> = seed.chars().collect();
            for _ in 0..=next(&mut state) % 3 {
                let at = next(&mut state) % text.len();
                let with = alphabet[next(&mut state) % alphabet.len()];
                match next(&mut state) % 3 {
                    0 => text[at] = with,
                    1 => text.insert(at, with),
                    _ => drop(text.remove(at)),
                }
            }
            let text: String = text.into_iter().collect();
            let plain = serde_json::from_str::<Value>(&text);
            match (scan(&text), plain) {
                (Ok(read), plain) => {
                    assert_eq!(Some(read.value), plain.ok(), "{text}");
                    accepted += 1;
                }
                (Err(trouble), Ok(_)) => {
                    let known = [TroubleKind::DuplicateKey, TroubleKind::Number];
                    assert!(known.contains(&trouble.kind), "{trouble:?}: {text}");
                    stricter += 1;
                }
                (Err(_), Err(_)) => {}
            }
        }
        assert!(accepted > 1_000 && stricter > 10, "{accepted} {stricter}");
    }
}
