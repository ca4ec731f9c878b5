//! HTTP/1.1 on the wire: requests as exact bytes, and answers read piece by piece. Pure.
//!
//! A gate has to know which byte of a request is the last, and scenarios send header lines that no client library lets
//! through; so requests are written here. Answers are parsed by httparse.

use std::time::Instant;

use super::{Origin, Prepared, RawAnswer};

/// The most that an answer's head may have.
const MOST_HEAD: usize = 256 * 1024;
const MOST_HEADERS: usize = 256;

/// The request can't be written without becoming another one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the request can't be sent: {0}")]
pub(super) struct Unsendable(pub(super) String);

/// The answer is no HTTP.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the answer is no HTTP/1.1: {0}")]
pub(super) struct Unreadable(String);

/// The request's bytes.
pub(super) fn serialise(request: &Prepared, origin: &Origin) -> Result<Vec<u8>, Unsendable> {
    let breaks = |text: &str| text.contains(['\r', '\n', '\0']);
    let path = origin.path(&request.path);
    if breaks(&request.method) || breaks(&path) || path.contains(' ') || request.method.contains(' ') {
        return Err(Unsendable(format!("`{} {path}` is no request line", request.method)));
    }
    let given = |wanted: &str| request.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(wanted));
    let mut out =
        format!("{} {} HTTP/1.1\r\n", request.method, if path.is_empty() { "/" } else { &path }).into_bytes();
    if !given("host") {
        out.extend(format!("host: {}\r\n", origin.authority()).bytes());
    }
    for (name, value) in &request.headers {
        if name.is_empty() || breaks(name) || breaks(value) || name.contains([':', ' ']) {
            return Err(Unsendable(format!("`{name}` with that value is no header line")));
        }
        out.extend(format!("{name}: {value}\r\n").bytes());
    }
    let bodiless =
        request.body.is_empty() && matches!(request.method.as_str(), "GET" | "HEAD" | "DELETE" | "OPTIONS");
    if !bodiless && !given("content-length") && !given("transfer-encoding") {
        out.extend(format!("content-length: {}\r\n", request.body.len()).bytes());
    }
    out.extend(b"\r\n");
    out.extend(&request.body);
    Ok(out)
}

/// Reads one answer.
#[derive(Debug)]
pub(super) struct AnswerReader {
    /// Whether the request was a HEAD, whose answer never has a body.
    head_only: bool,
    pending: Vec<u8>,
    first_byte_at: Option<Instant>,
    head: Option<Head>,
    body: Vec<u8>,
    stage: Stage,
}

#[derive(Debug, Clone)]
struct Head {
    status: u16,
    headers: Vec<(String, String)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Head,
    Length(usize),
    ChunkSize,
    Chunk(usize),
    ChunkEnd,
    Trailers,
    UntilClose,
    Done,
}

impl AnswerReader {
    pub(super) fn new(method: &str) -> Self {
        Self {
            head_only: method == "HEAD",
            pending: Vec::new(),
            first_byte_at: None,
            head: None,
            body: Vec::new(),
            stage: Stage::Head,
        }
    }

    /// Whether anything of the answer has come.
    pub(super) fn began(&self) -> bool {
        self.first_byte_at.is_some()
    }

    /// Takes the bytes that came next; the whole answer once it is there.
    pub(super) fn feed(&mut self, bytes: &[u8], at: Instant) -> Result<Option<RawAnswer>, Unreadable> {
        if !bytes.is_empty() {
            self.first_byte_at.get_or_insert(at);
        }
        self.pending.extend_from_slice(bytes);
        while self.step()? {}
        Ok((self.stage == Stage::Done).then(|| self.answer(at)).flatten())
    }

    /// The other side closed: that ends an answer without a length, and breaks any other.
    pub(super) fn close(&mut self, at: Instant) -> Option<RawAnswer> {
        (self.stage == Stage::UntilClose).then(|| self.answer(at)).flatten()
    }

    fn answer(&mut self, at: Instant) -> Option<RawAnswer> {
        let Head { status, headers } = self.head.take()?;
        let body = std::mem::take(&mut self.body);
        Some(RawAnswer {
            status,
            headers,
            body,
            first_byte_at: self.first_byte_at.unwrap_or(at),
            done_at: at,
        })
    }

    /// Goes on by one stage where the bytes suffice.
    fn step(&mut self) -> Result<bool, Unreadable> {
        match self.stage {
            Stage::Head => self.read_head(),
            Stage::Length(left) | Stage::Chunk(left) => {
                let take = left.min(self.pending.len());
                self.body.extend(self.pending.drain(..take));
                let chunked = matches!(self.stage, Stage::Chunk(_));
                self.stage = match (left - take, chunked) {
                    (0, false) => Stage::Done,
                    (0, true) => Stage::ChunkEnd,
                    (left, false) => Stage::Length(left),
                    (left, true) => Stage::Chunk(left),
                };
                Ok(left == take && self.stage != Stage::Done)
            }
            Stage::ChunkSize => match httparse::parse_chunk_size(&self.pending) {
                Ok(httparse::Status::Complete((used, size))) => {
                    self.pending.drain(..used);
                    let size =
                        usize::try_from(size).map_err(|_| Unreadable("a chunk is too large".to_owned()))?;
                    self.stage = if size == 0 { Stage::Trailers } else { Stage::Chunk(size) };
                    Ok(true)
                }
                Ok(httparse::Status::Partial) => Ok(false),
                Err(_) => Err(Unreadable("a chunk has no size".to_owned())),
            },
            Stage::ChunkEnd => match self.pending.get(..2) {
                Some(b"\r\n") => {
                    self.pending.drain(..2);
                    self.stage = Stage::ChunkSize;
                    Ok(true)
                }
                Some(_) => Err(Unreadable("a chunk is longer than its size".to_owned())),
                None => Ok(false),
            },
            Stage::Trailers => {
                let Some(end) = self.pending.windows(2).position(|pair| pair == b"\r\n") else {
                    return Ok(false);
                };
                self.pending.drain(..end + 2);
                // An empty line ends the trailers; nobody here wants what they say.
                self.stage = if end == 0 { Stage::Done } else { Stage::Trailers };
                Ok(end != 0)
            }
            Stage::UntilClose => {
                self.body.append(&mut self.pending);
                Ok(false)
            }
            Stage::Done => Ok(false),
        }
    }

    fn read_head(&mut self) -> Result<bool, Unreadable> {
        let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
        let mut parsed = httparse::Response::new(&mut headers);
        let used = match parsed.parse(&self.pending) {
            Ok(httparse::Status::Complete(used)) => used,
            Ok(httparse::Status::Partial) if self.pending.len() > MOST_HEAD => {
                return Err(Unreadable("its head is too large".to_owned()));
            }
            Ok(httparse::Status::Partial) => return Ok(false),
            Err(error) => return Err(Unreadable(error.to_string())),
        };
        let status = parsed.code.unwrap_or_default();
        let lines: Vec<_> = parsed
            .headers
            .iter()
            .map(|line| (line.name.to_ascii_lowercase(), String::from_utf8_lossy(line.value).into_owned()))
            .collect();
        self.pending.drain(..used);
        // An interim answer (100, 103) comes before the real one. 101 would be the last, and nobody here asks for it.
        if (100..200).contains(&status) && status != 101 {
            return Ok(true);
        }
        self.stage = framing(self.head_only, status, &lines)?;
        self.head = Some(Head { status, headers: lines });
        Ok(self.stage != Stage::Done)
    }
}

/// How the body is delimited: RFC 9112, section 6.3.
fn framing(head_only: bool, status: u16, headers: &[(String, String)]) -> Result<Stage, Unreadable> {
    if head_only || matches!(status, 101 | 204 | 304) {
        return Ok(Stage::Done);
    }
    let values = |wanted: &'static str| {
        headers
            .iter()
            .filter(move |(name, _)| name == wanted)
            .flat_map(|(_, value)| value.split(','))
            .map(str::trim)
    };
    if let Some(last) = values("transfer-encoding").next_back() {
        return Ok(if last.eq_ignore_ascii_case("chunked") { Stage::ChunkSize } else { Stage::UntilClose });
    }
    let mut lengths = values("content-length");
    let Some(length) = lengths.next() else { return Ok(Stage::UntilClose) };
    if lengths.any(|other| other != length) {
        return Err(Unreadable("it has two lengths".to_owned()));
    }
    match length.parse() {
        Ok(0) => Ok(Stage::Done),
        Ok(length) => Ok(Stage::Length(length)),
        Err(_) => Err(Unreadable(format!("`{length}` is no length"))),
    }
}

#[cfg(test)]
#[path = "wire_tests.rs"]
mod tests;
