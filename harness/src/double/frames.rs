//! Watches the frames of an HTTP/2 connection go out, to know when a stream's last byte has left. Pure.

const HEADER: usize = 9;
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const END_STREAM: u8 = 1;

/// Follows the bytes that a server writes (a server sends no preface).
#[derive(Debug, Default)]
pub(super) struct FrameWatch {
    header: [u8; HEADER],
    got: usize,
    payload: usize,
}

/// A frame whose last byte was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Written {
    pub(super) stream: u32,
    /// Bytes of data in it.
    pub(super) data: usize,
    /// It is the stream's last.
    pub(super) last: bool,
}

impl FrameWatch {
    /// Takes the bytes that were written next, and tells which frames of streams they complete.
    pub(super) fn feed(&mut self, mut bytes: &[u8], mut complete: impl FnMut(Written)) {
        while !bytes.is_empty() {
            if self.got < HEADER {
                let take = bytes.len().min(HEADER - self.got);
                self.header[self.got..self.got + take].copy_from_slice(&bytes[..take]);
                self.got += take;
                bytes = &bytes[take..];
                if self.got < HEADER {
                    return;
                }
                self.payload = self.length();
            } else {
                let take = bytes.len().min(self.payload);
                self.payload -= take;
                bytes = &bytes[take..];
            }
            if self.payload == 0 {
                if let Some(written) = self.written() {
                    complete(written);
                }
                self.got = 0;
            }
        }
    }

    fn length(&self) -> usize {
        usize::from(self.header[0]) << 16 | usize::from(self.header[1]) << 8 | usize::from(self.header[2])
    }

    fn written(&self) -> Option<Written> {
        let [_, _, _, kind, flags, stream @ ..] = self.header;
        let data = match kind {
            DATA => self.length(),
            HEADERS => 0,
            _ => return None,
        };
        // The topmost bit is reserved.
        let stream = u32::from_be_bytes(stream) & 0x7fff_ffff;
        Some(Written { stream, data, last: flags & END_STREAM != 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
        let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
        let mut out = vec![length[1], length[2], length[3], kind, flags];
        out.extend(stream.to_be_bytes());
        out.extend(payload);
        out
    }

    fn stream() -> Vec<u8> {
        let settings = frame(4, 0, 0, &[0; 12]);
        let head = frame(HEADERS, 4, 1, b"abc");
        let first = frame(DATA, 0, 1, b"hello");
        let other = frame(HEADERS, 5, 3, b"x");
        let last = frame(DATA, END_STREAM, 1, b"");
        [settings, head, first, other, last].concat()
    }

    const EXPECTED: [Written; 4] = [
        Written { stream: 1, data: 0, last: false },
        Written { stream: 1, data: 5, last: false },
        Written { stream: 3, data: 0, last: true },
        Written { stream: 1, data: 0, last: true },
    ];

    #[test]
    fn frames_complete_in_order_however_the_bytes_are_cut() {
        let bytes = stream();
        for size in 1..=bytes.len() {
            let mut watch = FrameWatch::default();
            let mut seen = Vec::new();
            for piece in bytes.chunks(size) {
                watch.feed(piece, |written| seen.push(written));
            }
            assert_eq!(seen, EXPECTED, "in pieces of {size}");
        }
    }

    #[test]
    fn a_frame_is_not_complete_before_its_last_byte() {
        let bytes = frame(DATA, END_STREAM, 1, b"hello");
        let mut watch = FrameWatch::default();
        watch.feed(&bytes[..bytes.len() - 1], |written| panic!("{written:?}"));
        let mut seen = None;
        watch.feed(&bytes[bytes.len() - 1..], |written| seen = Some(written));
        assert_eq!(seen, Some(Written { stream: 1, data: 5, last: true }));
    }
}
