use httparse::{EMPTY_HEADER, Header, Request, Response, Status};

use super::RequestHead;
use super::framing::Body;

const MOST_HEADERS: usize = 100;
/// A head that is longer than this is not waited for.
const LONGEST_HEAD: usize = 64 * 1024;

/// What the bytes at the begin of a message are.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Parsed<T> {
    /// The head isn't there as a whole.
    Partial,
    /// It is; the number is its length in bytes.
    Whole(usize, T),
    /// No HTTP/1.1 head will come of this, or one that can't be followed.
    Foreign,
}

/// A request's head, and how to find its end.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) head: RequestHead,
    pub(super) body: Body,
}

/// An answer's head, and how to find its end.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Told {
    pub(super) status: u16,
    pub(super) body: Body,
}

pub(super) fn request(bytes: &[u8]) -> Parsed<Asked> {
    let mut headers = [EMPTY_HEADER; MOST_HEADERS];
    let mut request = Request::new(&mut headers);
    let length = match request.parse(bytes) {
        Ok(Status::Complete(length)) => length,
        Ok(Status::Partial) if bytes.len() < LONGEST_HEAD => return Parsed::Partial,
        _ => return Parsed::Foreign,
    };
    let (Some(method), Some(target)) = (request.method, request.path) else { return Parsed::Foreign };
    // Whoever waits for a "100 Continue" sends no body before it, and an upgrade is no HTTP any more.
    if has(request.headers, "expect") || has(request.headers, "upgrade") || method == "CONNECT" {
        return Parsed::Foreign;
    }
    let Some(body) = body_of(request.headers, Body::Length(0)) else { return Parsed::Foreign };
    let headers = request
        .headers
        .iter()
        .map(|header| (header.name.to_ascii_lowercase(), String::from_utf8_lossy(header.value).into_owned()))
        .collect();
    let head = RequestHead { method: method.to_owned(), target: target.to_owned(), headers };
    Parsed::Whole(length, Asked { head, body })
}

/// An answer's head; `method` is that of its request.
pub(super) fn answer(bytes: &[u8], method: &str) -> Parsed<Told> {
    let mut headers = [EMPTY_HEADER; MOST_HEADERS];
    let mut response = Response::new(&mut headers);
    let length = match response.parse(bytes) {
        Ok(Status::Complete(length)) => length,
        Ok(Status::Partial) if bytes.len() < LONGEST_HEAD => return Parsed::Partial,
        _ => return Parsed::Foreign,
    };
    let Some(status) = response.code.filter(|status| *status != 101) else { return Parsed::Foreign };
    let bodiless = method == "HEAD" || status < 200 || matches!(status, 204 | 304);
    let body = if bodiless { Some(Body::Length(0)) } else { body_of(response.headers, Body::UntilClose) };
    body.map_or(Parsed::Foreign, |body| Parsed::Whole(length, Told { status, body }))
}

fn has(headers: &[Header<'_>], name: &str) -> bool {
    headers.iter().any(|header| header.name.eq_ignore_ascii_case(name))
}

/// None where the headers contradict each other.
fn body_of(headers: &[Header<'_>], otherwise: Body) -> Option<Body> {
    let values = |name: &'static str| {
        headers.iter().filter(move |header| header.name.eq_ignore_ascii_case(name)).map(|header| header.value)
    };
    let mut coded = values("transfer-encoding");
    let mut lengths = values("content-length");
    match (coded.next(), lengths.next()) {
        (Some(coding), None) => coding.eq_ignore_ascii_case(b"chunked").then_some(Body::Chunked),
        (None, Some(length)) => {
            let same = lengths.all(|other| other == length);
            let length = std::str::from_utf8(length).ok()?.trim().parse().ok()?;
            same.then_some(Body::Length(length))
        }
        (None, None) => Some(otherwise),
        (Some(_), Some(_)) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_whole_only_with_its_last_line() {
        let text =
            b"POST /jobs?x=1 HTTP/1.1\r\nHost: h\r\nIdempotency-Key: \"k\"\r\nContent-Length: 2\r\n\r\n{}";
        for cut in 1..text.len() - 2 {
            assert_eq!(request(&text[..cut]), Parsed::Partial, "after {cut} bytes");
        }
        let Parsed::Whole(length, asked) = request(text) else { panic!("not whole") };
        assert_eq!((length, asked.body), (text.len() - 2, Body::Length(2)));
        assert_eq!((asked.head.method.as_str(), asked.head.target.as_str()), ("POST", "/jobs?x=1"));
        assert_eq!(asked.head.header("idempotency-key"), Some("\"k\""));
    }

    #[test]
    fn what_can_not_be_followed_is_foreign() {
        let cases: [&[u8]; 6] = [
            b"PRI * HTTP/2.0\r\n\r\n",
            b"\x00\x00\x00\x08\x04\xd2\x16\x2f",
            b"POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n",
            b"POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
            b"POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
            b"GET / HTTP/1.1\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n",
        ];
        for case in cases {
            assert_eq!(request(case), Parsed::Foreign, "{}", String::from_utf8_lossy(case));
        }
    }

    #[test]
    fn some_answers_have_no_body_whatever_they_say() {
        let text = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n";
        assert_eq!(
            answer(text, "HEAD"),
            Parsed::Whole(text.len(), Told { status: 200, body: Body::Length(0) })
        );
        assert_eq!(
            answer(text, "GET"),
            Parsed::Whole(text.len(), Told { status: 200, body: Body::Length(5) })
        );
        let text = b"HTTP/1.1 204 No Content\r\n\r\n";
        assert_eq!(
            answer(text, "GET"),
            Parsed::Whole(text.len(), Told { status: 204, body: Body::Length(0) })
        );
        let text = b"HTTP/1.0 200 OK\r\n\r\n";
        assert_eq!(
            answer(text, "GET"),
            Parsed::Whole(text.len(), Told { status: 200, body: Body::UntilClose })
        );
    }
}
