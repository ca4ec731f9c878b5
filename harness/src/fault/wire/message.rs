//! Messages of the Postgres protocol, version 3: where one ends, and the few of their fields that matter here.

/// Asks for TLS, in the place of a version.
const TLS: u32 = 80_877_103;
/// Asks for encryption by GSSAPI, likewise.
const GSS: u32 = 80_877_104;
/// Asks for a query of another connection to be cancelled, likewise.
const CANCEL: u32 = 80_877_102;
/// No message that a service sends in good faith is longer; Postgres itself takes less.
const LONGEST: usize = 1 << 30;

/// How a connection begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Opening {
    /// Encryption is asked for, in so many bytes.
    Encryption(usize),
    /// A session, in so many bytes.
    Session(usize),
    /// Nothing that is followed.
    Foreign,
}

/// The first message of a connection, which has no type. None until it is there.
pub(super) fn opening(bytes: &[u8]) -> Option<Opening> {
    let length = number(bytes, 0)?;
    let code = number(bytes, 4)?;
    let length = length as usize;
    if !(8..=LONGEST).contains(&length) {
        return Some(Opening::Foreign);
    }
    if bytes.len() < length {
        return None;
    }
    Some(match code {
        TLS | GSS => Opening::Encryption(length),
        CANCEL => Opening::Foreign,
        _ => Opening::Session(length),
    })
}

/// A whole message: its type and what it says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Message<'b> {
    pub(super) kind: u8,
    pub(super) body: &'b [u8],
}

/// What the next bytes are.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next<'b> {
    /// Not there as a whole.
    Partial,
    /// A message, in so many bytes.
    Whole(usize, Message<'b>),
    /// No message that could be followed.
    Foreign,
}

/// The next message of a session.
pub(super) fn next(bytes: &[u8]) -> Next<'_> {
    let Some(length) = number(bytes, 1) else { return Next::Partial };
    let length = length as usize;
    if !(4..=LONGEST).contains(&length) {
        return Next::Foreign;
    }
    match bytes.get(5..=length) {
        Some(body) => Next::Whole(length + 1, Message { kind: bytes[0], body }),
        None => Next::Partial,
    }
}

impl<'b> Message<'b> {
    /// The text that begins at a place of the body, up to its zero byte, and where the next field begins.
    pub(super) fn text(self, at: usize) -> Option<(&'b str, usize)> {
        let rest = self.body.get(at..)?;
        let end = rest.iter().position(|byte| *byte == 0)?;
        Some((std::str::from_utf8(&rest[..end]).ok()?, at + end + 1))
    }
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    let four: [u8; 4] = bytes.get(at..at + 4)?.try_into().ok()?;
    Some(u32::from_be_bytes(four))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_whole_with_its_last_byte() {
        let bytes = b"Q\0\0\0\x0dSELECT 1\0Z";
        for cut in 0..14 {
            assert_eq!(next(&bytes[..cut]), Next::Partial, "after {cut} bytes");
        }
        let Next::Whole(14, message) = next(bytes) else { panic!("not whole") };
        assert_eq!((message.kind, message.text(0)), (b'Q', Some(("SELECT 1", 9))));
        assert_eq!(next(b"Q\0\0\0\x03"), Next::Foreign, "a length that can't hold itself");
    }

    #[test]
    fn the_first_message_says_what_the_connection_is_for() {
        assert_eq!(opening(b"\0\0\0\x08\x04\xd2\x16"), None);
        assert_eq!(opening(b"\0\0\0\x08\x04\xd2\x16\x2f"), Some(Opening::Encryption(8)));
        assert_eq!(opening(b"\0\0\0\x09\0\x03\0\0\0"), Some(Opening::Session(9)));
        assert_eq!(opening(b"GET / HTTP/1.1\r\n\r\n"), Some(Opening::Foreign));
    }
}
