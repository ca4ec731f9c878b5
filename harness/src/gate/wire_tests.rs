use super::*;

/// Feeds an answer in pieces of each size, and returns what all of them came to.
fn read(method: &str, bytes: &[u8]) -> Result<Option<(u16, Vec<u8>)>, Unreadable> {
    let mut results = (1..=bytes.len()).map(|size| {
        let mut reader = AnswerReader::new(method);
        for piece in bytes.chunks(size) {
            if let Some(answer) = reader.feed(piece, Instant::now())? {
                return Ok(Some((answer.status, answer.body)));
            }
        }
        Ok(reader.close(Instant::now()).map(|answer| (answer.status, answer.body)))
    });
    let first = results.next().unwrap();
    for other in results {
        assert_eq!(other, first, "the size of the pieces makes a difference");
    }
    first
}

#[test]
fn an_answer_with_a_length_ends_with_its_last_byte() {
    let answer = read("POST", b"HTTP/1.1 201 Created\r\nContent-Length: 5\r\n\r\nhello").unwrap();
    assert_eq!(answer, Some((201, b"hello".to_vec())));
}

#[test]
fn chunks_are_joined_and_trailers_passed_over() {
    let bytes =
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3;x=y\r\nhel\r\n2\r\nlo\r\n0\r\nt: 1\r\n\r\n";
    assert_eq!(read("POST", bytes).unwrap(), Some((200, b"hello".to_vec())));
}

#[test]
fn an_answer_without_a_length_ends_when_the_connection_does() {
    assert_eq!(read("GET", b"HTTP/1.0 200 OK\r\n\r\nhello").unwrap(), Some((200, b"hello".to_vec())));
}

#[test]
fn interim_answers_are_passed_over() {
    let bytes = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n";
    assert_eq!(read("POST", bytes).unwrap(), Some((204, Vec::new())));
}

#[test]
fn answers_to_head_have_no_body_whatever_they_announce() {
    assert_eq!(
        read("HEAD", b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n").unwrap(),
        Some((200, Vec::new()))
    );
}

#[test]
fn an_answer_that_breaks_off_is_none() {
    for bytes in [
        &b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhell"[..],
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n",
        b"HTTP/1.1 200 OK\r\n",
    ] {
        assert_eq!(read("POST", bytes).unwrap(), None);
    }
}

#[test]
fn what_is_no_http_is_said_to_be_none() {
    for bytes in [
        &b"SSH-2.0-OpenSSH_9.2\r\n"[..],
        b"HTTP/1.1 200 OK\r\ncontent-length: five\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nhello\r\n",
    ] {
        assert!(read("POST", bytes).is_err(), "{}", String::from_utf8_lossy(bytes));
    }
}

async fn origin() -> Origin {
    Origin::resolve("http://127.0.0.1:8080/api").await.unwrap()
}

#[tokio::test]
async fn a_request_is_written_as_it_is_with_host_and_length_added() {
    let request = Prepared {
        method: "POST".to_owned(),
        path: "/v1/jobs".to_owned(),
        headers: vec![
            ("Idempotency-Key".to_owned(), "a".to_owned()),
            ("Idempotency-Key".to_owned(), "\"b\" é".to_owned()),
        ],
        body: b"{}".to_vec(),
    };
    let expected = "POST /api/v1/jobs HTTP/1.1\r\nhost: 127.0.0.1:8080\r\nIdempotency-Key: a\r\nIdempotency-Key: \"b\" é\r\ncontent-length: 2\r\n\r\n{}";
    assert_eq!(String::from_utf8(serialise(&request, &origin().await).unwrap()).unwrap(), expected);
}

#[tokio::test]
async fn an_own_host_or_length_is_left_alone_and_a_get_has_no_length() {
    let request = Prepared {
        method: "GET".to_owned(),
        path: "/x".to_owned(),
        headers: vec![("Host".to_owned(), "other".to_owned())],
        body: Vec::new(),
    };
    let bytes = serialise(&request, &origin().await).unwrap();
    assert_eq!(String::from_utf8(bytes).unwrap(), "GET /api/x HTTP/1.1\r\nHost: other\r\n\r\n");
}

#[tokio::test]
async fn a_line_break_never_makes_two_requests_of_one() {
    let origin = origin().await;
    let evil = "a\r\nx: y".to_owned();
    let get =
        |headers| Prepared { method: "GET".to_owned(), path: "/".to_owned(), headers, body: Vec::new() };
    assert!(serialise(&get(vec![("k".to_owned(), evil.clone())]), &origin).is_err());
    assert!(serialise(&get(vec![(evil.clone(), "v".to_owned())]), &origin).is_err());
    assert!(serialise(&Prepared { path: "/ HTTP/1.1\r\n".to_owned(), ..get(vec![]) }, &origin).is_err());
}
