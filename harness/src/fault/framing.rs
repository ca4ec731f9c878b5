/// How long a message's body is (RFC 9112, section 6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Body {
    /// So many bytes; often none.
    Length(u64),
    /// In chunks, each with its length.
    Chunked,
    /// Until the connection ends.
    UntilClose,
}

/// A body that breaks the rules, so that its end can't be found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Garbled;

/// Finds the end of a body while its bytes go by.
#[derive(Debug)]
pub(super) struct Framer(State);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Done,
    Endless,
    Length(u64),
    /// In a chunk's size; whether a digit was there.
    Size(u64, bool),
    /// In what may follow a size on its line.
    Extension(u64),
    /// Before the line feed that ends a size.
    SizeEnd(u64),
    Chunk(u64),
    ChunkReturn,
    ChunkEnd,
    /// At the begin of a trailer line; an empty one is the end.
    TrailerStart,
    Trailer,
    LastEnd,
}

impl Framer {
    pub(super) fn new(body: Body) -> Self {
        Self(match body {
            Body::Length(0) => State::Done,
            Body::Length(length) => State::Length(length),
            Body::Chunked => State::Size(0, false),
            Body::UntilClose => State::Endless,
        })
    }

    pub(super) fn is_done(&self) -> bool {
        self.0 == State::Done
    }

    /// How many of these bytes belong to the body.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> Result<usize, Garbled> {
        let mut used = 0;
        while used < bytes.len() && !self.is_done() {
            used += match self.0 {
                State::Endless => bytes.len() - used,
                State::Length(left) => {
                    let (taken, left) = take(left, bytes.len() - used);
                    self.0 = if left == 0 { State::Done } else { State::Length(left) };
                    taken
                }
                State::Chunk(left) => {
                    let (taken, left) = take(left, bytes.len() - used);
                    self.0 = if left == 0 { State::ChunkReturn } else { State::Chunk(left) };
                    taken
                }
                between => {
                    self.0 = step(between, bytes[used])?;
                    1
                }
            };
        }
        Ok(used)
    }
}

fn take(left: u64, there: usize) -> (usize, u64) {
    let taken = usize::try_from(left).unwrap_or(usize::MAX).min(there);
    (taken, left - u64::try_from(taken).unwrap_or(left))
}

/// One byte of what is between the chunks.
fn step(state: State, byte: u8) -> Result<State, Garbled> {
    Ok(match (state, byte) {
        (State::Size(size, _), digit) if digit.is_ascii_hexdigit() => {
            let digit = char::from(digit).to_digit(16).ok_or(Garbled)?;
            State::Size(size.checked_mul(16).ok_or(Garbled)? + u64::from(digit), true)
        }
        (State::Size(size, true) | State::Extension(size), b'\r') => State::SizeEnd(size),
        (State::Size(size, true), b';' | b' ' | b'\t') | (State::Extension(size), _) => {
            State::Extension(size)
        }
        (State::SizeEnd(0) | State::Trailer, b'\n') => State::TrailerStart,
        (State::SizeEnd(size), b'\n') => State::Chunk(size),
        (State::ChunkReturn, b'\r') => State::ChunkEnd,
        (State::ChunkEnd, b'\n') => State::Size(0, false),
        (State::TrailerStart, b'\r') => State::LastEnd,
        (State::TrailerStart | State::Trailer, _) => State::Trailer,
        (State::LastEnd, b'\n') => State::Done,
        _ => return Err(Garbled),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where the end is found when the bytes come one by one, and all at once: it has to be the same.
    fn end_of(body: Body, bytes: &[u8]) -> Result<Option<usize>, Garbled> {
        let mut whole = Framer::new(body);
        let at_once = whole.feed(bytes).map(|used| whole.is_done().then_some(used));
        let mut slow = Framer::new(body);
        let mut used = 0;
        for byte in bytes {
            match slow.feed(std::slice::from_ref(byte)) {
                Ok(count) => used += count,
                Err(garbled) => {
                    assert_eq!(at_once, Err(garbled));
                    return Err(garbled);
                }
            }
        }
        assert_eq!(at_once, Ok(slow.is_done().then_some(used)), "the pieces matter");
        at_once
    }

    #[test]
    fn a_body_of_known_length_ends_where_it_says() {
        assert_eq!(end_of(Body::Length(0), b"GET"), Ok(Some(0)));
        assert_eq!(end_of(Body::Length(3), b"abcPOST"), Ok(Some(3)));
        assert_eq!(end_of(Body::Length(9), b"abc"), Ok(None));
    }

    #[test]
    fn chunks_end_with_the_empty_one_and_its_trailers() {
        assert_eq!(end_of(Body::Chunked, b"3\r\nabc\r\n0\r\n\r\nGET"), Ok(Some(13)));
        assert_eq!(
            end_of(Body::Chunked, b"A;name=\"v\"\r\n0123456789\r\n0\r\nX-Sum: 1\r\n\r\n"),
            Ok(Some(39))
        );
        assert_eq!(end_of(Body::Chunked, b"3\r\nabc\r\n0\r\n"), Ok(None));
    }

    #[test]
    fn a_body_without_an_end_of_its_own_takes_all() {
        assert_eq!(end_of(Body::UntilClose, b"anything"), Ok(None));
    }

    #[test]
    fn what_breaks_the_rules_is_garbled_and_never_a_panic() {
        for garbled in [&b"\r\nabc"[..], b"xyz\r\n", b"3\r\nabcd\r\n", b"ffffffffffffffffff\r\n", b"3\rabc"] {
            assert_eq!(end_of(Body::Chunked, garbled), Err(Garbled), "{garbled:?}");
        }
    }
}
