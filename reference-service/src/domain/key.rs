use std::fmt;

/// The longest key, in characters.
const LONGEST: usize = 255;

/// The client's name for one intent: 1 to 255 visible ASCII characters, case-sensitive, compared bytewise.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct IdempotencyKey(String);

/// Why a key is refused. Each has a problem type of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyRefusal {
    /// No header line at all.
    #[error("the Idempotency-Key header is missing; send one key of your own per intent, for example a UUID")]
    Missing,
    /// More than one header line: nobody can say which one was meant.
    #[error("the Idempotency-Key header was sent more than once; send exactly one")]
    Repeated,
    /// Nothing in it.
    #[error("the Idempotency-Key is empty; send 1 to 255 visible ASCII characters")]
    Empty,
    /// A character that is not visible ASCII, or a quoted form that does not close.
    #[error(
        "the Idempotency-Key is malformed; send 1 to 255 visible ASCII characters, bare or in double quotes"
    )]
    Malformed,
    /// More than 255 characters.
    #[error("the Idempotency-Key has {0} characters; at most 255 are allowed")]
    TooLong(usize),
}

impl IdempotencyKey {
    /// Reads the value of one header line. The structured-field form `"k"` and the bare form `k` are one key.
    pub fn parse(raw: &[u8]) -> Result<Self, KeyRefusal> {
        let raw = raw.trim_ascii();
        let bare = if raw.first() == Some(&b'"') { unquote(raw)? } else { raw.to_vec() };
        if bare.is_empty() {
            return Err(KeyRefusal::Empty);
        }
        if !bare.iter().all(u8::is_ascii_graphic) {
            return Err(KeyRefusal::Malformed);
        }
        if bare.len() > LONGEST {
            return Err(KeyRefusal::TooLong(bare.len()));
        }
        String::from_utf8(bare).map(Self).map_err(|_| KeyRefusal::Malformed)
    }

    /// Reads all header lines of that name.
    pub fn from_lines<'a>(mut lines: impl Iterator<Item = &'a [u8]>) -> Result<Self, KeyRefusal> {
        let first = lines.next().ok_or(KeyRefusal::Missing)?;
        if lines.next().is_some() {
            return Err(KeyRefusal::Repeated);
        }
        Self::parse(first)
    }

    /// A key as it stands, whatever it is.
    pub(crate) fn verbatim(key: String) -> Self {
        Self(key)
    }

    /// The bare key.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A structured-field string: only `\"` and `\\` are escapes (RFC 9651, section 3.3.3).
fn unquote(raw: &[u8]) -> Result<Vec<u8>, KeyRefusal> {
    let [b'"', inner @ .., b'"'] = raw else { return Err(KeyRefusal::Malformed) };
    let mut bare = Vec::with_capacity(inner.len());
    let mut bytes = inner.iter();
    while let Some(&byte) = bytes.next() {
        match byte {
            b'"' => return Err(KeyRefusal::Malformed),
            b'\\' => match bytes.next() {
                Some(&escaped @ (b'"' | b'\\')) => bare.push(escaped),
                _ => return Err(KeyRefusal::Malformed),
            },
            other => bare.push(other),
        }
    }
    Ok(bare)
}

// A key may be guessable and is a capability to learn a job's state: logs show only its length.
impl fmt::Debug for IdempotencyKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "IdempotencyKey({} characters)", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(raw: &[u8]) -> Result<String, KeyRefusal> {
        IdempotencyKey::parse(raw).map(|key| key.as_str().to_owned())
    }

    #[test]
    fn quoted_and_bare_are_one_key() {
        assert_eq!(parse(b"k"), Ok("k".to_owned()));
        assert_eq!(parse(b"\"k\""), Ok("k".to_owned()));
        assert_eq!(parse(b"  \"k\" "), Ok("k".to_owned()));
        assert_eq!(parse(br#""a\"b\\c""#), Ok(r#"a"b\c"#.to_owned()));
    }

    #[test]
    fn case_and_every_byte_count() {
        assert_ne!(parse(b"K"), parse(b"k"));
        assert_ne!(parse(b"k-"), parse(b"k"));
    }

    #[test]
    fn refusals_are_told_apart() {
        assert_eq!(parse(b""), Err(KeyRefusal::Empty));
        assert_eq!(parse(b"   "), Err(KeyRefusal::Empty));
        assert_eq!(parse(b"\"\""), Err(KeyRefusal::Empty));
        assert_eq!(parse(b"a b"), Err(KeyRefusal::Malformed));
        assert_eq!(parse(b"a\x01"), Err(KeyRefusal::Malformed));
        assert_eq!(parse("schlüssel".as_bytes()), Err(KeyRefusal::Malformed));
        assert_eq!(parse(b"\"a"), Err(KeyRefusal::Malformed));
        assert_eq!(parse(br#""a\n""#), Err(KeyRefusal::Malformed));
        assert_eq!(parse(&[b'k'; 255]).map(|key| key.len()), Ok(255));
        assert_eq!(parse(&[b'k'; 256]), Err(KeyRefusal::TooLong(256)));
        assert_eq!(IdempotencyKey::from_lines(std::iter::empty()).err(), Some(KeyRefusal::Missing));
        let twice: [&[u8]; 2] = [b"k", b"k"];
        assert_eq!(IdempotencyKey::from_lines(twice.into_iter()).err(), Some(KeyRefusal::Repeated));
    }

    #[test]
    fn a_key_is_never_printed() {
        let key = IdempotencyKey::parse(b"secret").expect("a valid key");
        assert!(!format!("{key:?}").contains("secret"));
    }

    proptest::proptest! {
        #[test]
        fn a_key_that_is_accepted_is_the_same_in_quotes(raw in "[ -~]{0,20}") {
            if let Ok(key) = IdempotencyKey::parse(raw.as_bytes()) {
                let quoted = format!("\"{}\"", key.as_str().replace('\\', "\\\\").replace('"', "\\\""));
                proptest::prop_assert_eq!(IdempotencyKey::parse(quoted.as_bytes()), Ok(key));
            }
        }
    }
}
