//! Faults that hit exactly what they should, say so, and let everything else through as it is.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use onejob::fault::{
    Armed, Direction, Ending, FaultError, GroupSignal, Hit, HttpFault, Matching, NetFault, Proxy, ProxyFault,
    Swallowed, Times, Upstream, When, signal_group,
};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

const LONG: Duration = Duration::from_secs(20);
/// How long a test waits to see that nothing comes. Longer only makes it slower: it can't fail by it.
const NOTHING: Duration = Duration::from_millis(50);

async fn soon<T>(what: &str, future: impl Future<Output = T>) -> T {
    tokio::time::timeout(LONG, future).await.unwrap_or_else(|_| panic!("not within {LONG:?}: {what}"))
}

async fn hit(armed: &mut Armed) -> Hit {
    soon("the hit", armed.hit()).await.expect("the proxy is there")
}

/// Sends back what comes, and remembers it.
async fn echo() -> (SocketAddr, Arc<Mutex<Vec<u8>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let seen = Arc::new(Mutex::new(Vec::new()));
    let memory = Arc::clone(&seen);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let memory = Arc::clone(&memory);
            tokio::spawn(async move {
                let mut bytes = [0; 4096];
                while let Ok(count @ 1..) = stream.read(&mut bytes).await {
                    memory.lock().unwrap().extend_from_slice(&bytes[..count]);
                    if stream.write_all(&bytes[..count]).await.is_err() {
                        return;
                    }
                }
            });
        }
    });
    (address, seen)
}

/// An HTTP service of one's own: answers `201` with its name and the number of the request, and remembers each.
async fn service(name: &'static str) -> (SocketAddr, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let seen = Arc::new(Mutex::new(Vec::new()));
    let memory = Arc::clone(&seen);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(answer_all(stream, name, Arc::clone(&memory)));
        }
    });
    (address, seen)
}

async fn answer_all(stream: TcpStream, name: &'static str, seen: Arc<Mutex<Vec<String>>>) {
    let mut stream = BufReader::new(stream);
    while let Some(request) = read_message(&mut stream).await {
        let number = {
            let mut seen = seen.lock().unwrap();
            seen.push(request);
            seen.len()
        };
        let body = format!("{name} {number}");
        let chunked = format!(
            "HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{body}\r\n0\r\n\r\n",
            body.len()
        );
        let plain = format!("HTTP/1.1 201 Created\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        // Both ways to say where a body ends, in turn.
        let answer = if number % 2 == 0 { chunked } else { plain };
        if stream.write_all(answer.as_bytes()).await.is_err() {
            return;
        }
    }
}

/// A head and its body of known length or in chunks, as text. None at the end.
async fn read_message(stream: &mut BufReader<TcpStream>) -> Option<String> {
    let mut text = String::new();
    loop {
        let before = text.len();
        if stream.read_line(&mut text).await.ok()? == 0 {
            return None;
        }
        if &text[before..] == "\r\n" {
            break;
        }
    }
    let head = text.to_ascii_lowercase();
    if head.contains("transfer-encoding: chunked") {
        while !text.ends_with("\r\n0\r\n\r\n") {
            if stream.read_line(&mut text).await.ok()? == 0 {
                return None;
            }
        }
        return Some(text);
    }
    let length =
        head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    Some(text + &String::from_utf8_lossy(&body))
}

fn post(key: &str) -> String {
    let body = format!("{{\"for\":\"{key}\"}}");
    format!(
        "POST /jobs HTTP/1.1\r\nHost: x\r\nIdempotency-Key: {key}\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

async fn connect(proxy: &Proxy) -> BufReader<TcpStream> {
    BufReader::new(TcpStream::connect(proxy.address()).await.expect("connects"))
}

async fn ask(stream: &mut BufReader<TcpStream>, request: &str) -> Option<String> {
    stream.write_all(request.as_bytes()).await.expect("sent");
    soon("an answer or an end", read_message(stream)).await
}

fn with_key(key: &'static str, fault: HttpFault) -> ProxyFault {
    ProxyFault::Http {
        matching: Matching::by(move |head| head.header("idempotency-key") == Some(key)),
        fault,
    }
}

#[tokio::test]
async fn without_faults_every_byte_goes_through_both_ways() {
    let (upstream, seen) = echo().await;
    let sent: Vec<u8> = (0..200_000_u32).map(|n| n.to_le_bytes()[n as usize % 4]).collect();
    for proxy in [Proxy::raw(Upstream::Tcp(upstream)).await, Proxy::http(Upstream::Tcp(upstream)).await] {
        let proxy = proxy.expect("starts");
        seen.lock().unwrap().clear();
        let (mut reader, mut writer) =
            TcpStream::connect(proxy.address()).await.expect("connects").into_split();
        let mut back = Vec::new();
        let write = async {
            writer.write_all(&sent).await.expect("sent");
            writer.shutdown().await.expect("the end is passed on too");
        };
        let ((), read) =
            soon("all of it", async { tokio::join!(write, reader.read_to_end(&mut back)) }).await;
        read.expect("read");
        assert!(back == sent && *seen.lock().unwrap() == sent, "{} of {} came back", back.len(), sent.len());
    }
}

#[tokio::test]
async fn requests_on_one_connection_keep_their_order_and_their_answers() {
    let (upstream, seen) = service("one").await;
    let proxy = Proxy::http(Upstream::Tcp(upstream)).await.expect("starts");
    let mut stream = connect(&proxy).await;
    for n in 1..=4 {
        let answer = ask(&mut stream, &post(&format!("k{n}"))).await.expect("an answer");
        assert!(answer.starts_with("HTTP/1.1 201 ") && answer.contains(&format!("one {n}")), "{answer}");
    }
    let pipelined =
        post("k5") + "POST /jobs HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n";
    let first = ask(&mut stream, &pipelined).await.expect("an answer");
    let second = soon("the second", read_message(&mut stream)).await.expect("an answer");
    assert!(first.contains("one 5") && second.contains("one 6"), "{first}{second}");
    assert_eq!(seen.lock().unwrap()[4], post("k5"), "the bytes are those that were sent");
}

#[tokio::test]
async fn a_cut_by_bytes_lets_exactly_so_many_through() {
    for count in [0, 1, 7, 64] {
        let (upstream, seen) = echo().await;
        let proxy = Proxy::raw(Upstream::Tcp(upstream)).await.expect("starts");
        let when = When::Bytes { direction: Direction::ToUpstream, count };
        let mut armed = proxy.arm(NetFault::Cut { when, ending: Ending::Close }, Times::Once);
        let mut stream = TcpStream::connect(proxy.address()).await.expect("connects");
        stream.write_all(&[7; 64]).await.expect("sent");
        let mut back = Vec::new();
        // Unread bytes at its end make a close a reset: either way it ends.
        let _ = soon("the end", stream.read_to_end(&mut back)).await;
        let told = hit(&mut armed).await;
        assert_eq!((told.passed, told.connection), (count, 1));
        let deadline = Instant::now() + LONG;
        while u64::try_from(seen.lock().unwrap().len()).unwrap() < count {
            assert!(Instant::now() < deadline, "the first {count} bytes did not get through");
            tokio::task::yield_now().await;
        }
        assert_eq!(u64::try_from(seen.lock().unwrap().len()).unwrap(), count);
        let mut next = TcpStream::connect(proxy.address()).await.expect("connects");
        next.write_all(b"again").await.expect("sent");
        let mut back = [0; 5];
        soon("once is once", next.read_exact(&mut back)).await.expect("goes through");
    }
}

#[tokio::test]
async fn a_cut_of_the_answer_counts_from_the_arming_on_a_connection_that_is_there() {
    let (upstream, _) = echo().await;
    let proxy = Proxy::raw(Upstream::Tcp(upstream)).await.expect("starts");
    let mut stream = TcpStream::connect(proxy.address()).await.expect("connects");
    stream.write_all(b"before").await.expect("sent");
    let mut back = [0; 6];
    soon("what came before", stream.read_exact(&mut back)).await.expect("goes through");
    let when = When::Bytes { direction: Direction::ToClient, count: 2 };
    let mut armed = proxy.arm(NetFault::Cut { when, ending: Ending::Reset }, Times::Once);
    stream.write_all(b"after").await.expect("sent");
    let told = hit(&mut armed).await;
    assert_eq!(told.passed, 8, "six before and two after");
    let error = soon("the reset", stream.read_to_end(&mut Vec::new())).await.expect_err("not in order");
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
}

#[tokio::test]
async fn a_cut_by_the_clock_ends_an_idle_connection() {
    let (upstream, _) = echo().await;
    let proxy = Proxy::http(Upstream::Tcp(upstream)).await.expect("starts");
    let mut stream = TcpStream::connect(proxy.address()).await.expect("connects");
    let cut = NetFault::Cut { when: When::After(Duration::from_millis(20)), ending: Ending::Reset };
    let begun = Instant::now();
    let mut armed = proxy.arm(cut, Times::Once);
    let error = soon("the reset", stream.read_to_end(&mut Vec::new())).await.expect_err("not in order");
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    assert!(hit(&mut armed).await.at >= begun + Duration::from_millis(20), "too early");
}

#[tokio::test]
async fn a_blackhole_swallows_one_direction_until_it_is_disarmed() {
    let (upstream, seen) = echo().await;
    let proxy = Proxy::raw(Upstream::Tcp(upstream)).await.expect("starts");
    let mut stream = TcpStream::connect(proxy.address()).await.expect("connects");
    let mut armed = proxy.arm(NetFault::Blackhole { direction: Direction::ToClient }, Times::Always);
    stream.write_all(b"lost").await.expect("sent");
    hit(&mut armed).await;
    assert_eq!(*seen.lock().unwrap(), b"lost", "the other direction works");
    let mut back = [0; 5];
    assert!(tokio::time::timeout(NOTHING, stream.read(&mut back)).await.is_err(), "something came through");
    armed.disarm();
    stream.write_all(b"found").await.expect("sent");
    soon("what came after", stream.read_exact(&mut back)).await.expect("goes through");
    assert_eq!(&back, b"found");
}

#[tokio::test]
async fn a_delay_and_a_throttle_take_at_least_their_time() {
    let (upstream, _) = echo().await;
    let proxy = Proxy::raw(Upstream::Tcp(upstream)).await.expect("starts");
    let slow = NetFault::Throttle {
        direction: Direction::ToUpstream,
        rate: NonZeroU32::new(1000).expect("not zero"),
    };
    let late = NetFault::Delay { direction: Direction::ToClient, by: Duration::from_millis(30) };
    for (fault, least) in [(slow, Duration::from_millis(95)), (late, Duration::from_millis(30))] {
        let mut armed = proxy.arm(fault, Times::Always);
        let mut stream = TcpStream::connect(proxy.address()).await.expect("connects");
        let begun = Instant::now();
        stream.write_all(&[1; 100]).await.expect("sent");
        let mut back = [0; 100];
        soon("all of it", stream.read_exact(&mut back)).await.expect("goes through");
        assert!(begun.elapsed() >= least, "{:?} is too fast", begun.elapsed());
        hit(&mut armed).await;
        assert!(armed.try_hit().is_none(), "a lasting fault hits a connection once");
    }
}

#[tokio::test]
async fn a_closed_door_is_refused_by_the_kernel_and_opens_at_the_same_address() {
    let (upstream, seen) = echo().await;
    let proxy = Proxy::raw(Upstream::Tcp(upstream)).await.expect("starts");
    let mut before = TcpStream::connect(proxy.address()).await.expect("connects");
    for _ in 0..2 {
        proxy.close().await.expect("closes");
        let refused = TcpStream::connect(proxy.address()).await.expect_err("nobody listens");
        assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
        proxy.open().await.expect("opens");
    }
    let left = soon("the end", before.read_to_end(&mut Vec::new())).await;
    assert!(left.is_err() || left.is_ok_and(|bytes| bytes == 0), "a connection from before has ended");
    assert!(seen.lock().unwrap().is_empty());
    let mut stream = TcpStream::connect(proxy.address()).await.expect("connects");
    stream.write_all(b"hello").await.expect("sent");
    soon("the echo", stream.read_exact(&mut [0; 5])).await.expect("goes through");
}

#[tokio::test]
async fn a_refused_connection_never_reaches_the_upstream() {
    let (upstream, seen) = echo().await;
    let proxy = Proxy::raw(Upstream::Tcp(upstream)).await.expect("starts");
    let mut armed = proxy.arm(NetFault::Refuse, Times::Exactly(2));
    for _ in 0..2 {
        let mut stream = TcpStream::connect(proxy.address()).await.expect("connects");
        let _ = stream.write_all(b"hello").await;
        assert!(soon("the end", stream.read_to_end(&mut Vec::new())).await.is_err());
        hit(&mut armed).await;
    }
    assert!(seen.lock().unwrap().is_empty());
    let mut stream = TcpStream::connect(proxy.address()).await.expect("connects");
    stream.write_all(b"hello").await.expect("sent");
    soon("the third", stream.read_exact(&mut [0; 5])).await.expect("goes through");
}

#[tokio::test]
async fn an_answer_is_dropped_only_after_the_service_gave_it_and_only_for_the_request_that_is_meant() {
    let ends = [
        Swallowed::Ended(Ending::Reset),
        Swallowed::Ended(Ending::Close),
        Swallowed::Status(503),
        Swallowed::Silence,
    ];
    for then in ends {
        let (upstream, seen) = service("one").await;
        let proxy = Proxy::http(Upstream::Tcp(upstream)).await.expect("starts");
        let mut armed = proxy.arm(with_key("k1", HttpFault::DropAnswer { then }), Times::Once);
        let mut other = connect(&proxy).await;
        assert!(ask(&mut other, &post("k0")).await.expect("an answer").contains("one 1"));
        let mut stream = connect(&proxy).await;
        stream.write_all(post("k1").as_bytes()).await.expect("sent");
        let told = hit(&mut armed).await;
        assert_eq!((told.request.as_deref(), told.status), (Some("POST /jobs"), Some(201)), "{then:?}");
        assert_eq!(seen.lock().unwrap().last(), Some(&post("k1")), "the service had the whole request");
        match then {
            Swallowed::Status(status) => {
                let answer = soon("the proxy's answer", read_message(&mut stream)).await.expect("an answer");
                assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
            }
            Swallowed::Silence => {
                let silence = tokio::time::timeout(NOTHING, stream.read_u8()).await;
                assert!(silence.is_err(), "something came: {silence:?}");
            }
            Swallowed::Ended(ending) => {
                let end = soon("the end", stream.read_to_end(&mut Vec::new())).await;
                assert_eq!(end.is_err(), ending == Ending::Reset, "{end:?}");
            }
        }
        let mut retry = connect(&proxy).await;
        assert!(ask(&mut retry, &post("k1")).await.expect("an answer").contains("one 3"), "once is once");
    }
}

#[tokio::test]
async fn a_held_request_reaches_the_service_after_the_one_that_overtook_it_even_without_its_client() {
    let (upstream, seen) = service("one").await;
    let proxy = Proxy::http(Upstream::Tcp(upstream)).await.expect("starts");
    let mut armed = proxy.arm(with_key("early", HttpFault::Hold), Times::Once);
    let mut patient = connect(&proxy).await;
    patient.write_all(post("early").as_bytes()).await.expect("sent");
    hit(&mut armed).await;
    assert!(ask(&mut connect(&proxy).await, &post("late")).await.expect("an answer").contains("one 1"));
    armed.release();
    assert!(soon("its answer", read_message(&mut patient)).await.expect("an answer").contains("one 2"));

    let mut armed = proxy.arm(with_key("left", HttpFault::Hold), Times::Once);
    let mut impatient = connect(&proxy).await;
    impatient.write_all(post("left").as_bytes()).await.expect("sent");
    hit(&mut armed).await;
    drop(impatient);
    armed.release();
    let deadline = Instant::now() + LONG;
    while seen.lock().unwrap().last() != Some(&post("left")) {
        assert!(Instant::now() < deadline, "it never came");
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_duplicate_is_the_same_bytes_at_two_replicas_and_one_answer() {
    for second_answers in [false, true] {
        let (first, seen_first) = service("first").await;
        let (second, seen_second) = service("second").await;
        let proxy = Proxy::http(Upstream::Tcp(first)).await.expect("starts");
        let fault = HttpFault::Duplicate { second: Upstream::Tcp(second), second_answers };
        let mut armed = proxy.arm(with_key("k", fault), Times::Once);
        let mut stream = connect(&proxy).await;
        let answer = ask(&mut stream, &post("k")).await.expect("an answer");
        assert!(answer.contains(if second_answers { "second 1" } else { "first 1" }), "{answer}");
        let told = hit(&mut armed).await;
        assert_eq!((told.status, told.second_status), (Some(201), Some(201)));
        assert_eq!(*seen_first.lock().unwrap(), [post("k")]);
        assert_eq!(*seen_second.lock().unwrap(), [post("k")]);
        assert!(ask(&mut stream, &post("k")).await.expect("an answer").contains("first 2"), "once is once");
    }
}

#[tokio::test]
async fn a_watch_changes_nothing_and_tells_of_the_answer_that_the_request_got() {
    let (upstream, seen) = service("it").await;
    let proxy = Proxy::http(Upstream::Tcp(upstream)).await.expect("starts");
    let mut armed = proxy.arm(with_key("k", HttpFault::Watch), Times::Once);
    let mut stream = connect(&proxy).await;
    ask(&mut stream, &post("other")).await.expect("an answer");
    assert!(armed.try_hit().is_none(), "another request is none of its business");
    assert!(ask(&mut stream, &post("k")).await.expect("an answer").contains("it 2"));
    assert_eq!(hit(&mut armed).await.status, Some(201));
    assert_eq!(*seen.lock().unwrap(), [post("other"), post("k")]);
}

#[tokio::test]
async fn a_request_that_its_client_breaks_off_arrives_as_far_as_it_was_sent() {
    let (upstream, seen) = echo().await;
    let proxy = Proxy::http(Upstream::Tcp(upstream)).await.expect("starts");
    let whole = post("k");
    for length in [5, 40, whole.len() - 1] {
        seen.lock().unwrap().clear();
        let mut stream = TcpStream::connect(proxy.address()).await.expect("connects");
        stream.write_all(&whole.as_bytes()[..length]).await.expect("sent");
        stream.shutdown().await.expect("ended");
        let mut back = Vec::new();
        soon("the end", stream.read_to_end(&mut back)).await.expect("in order");
        assert_eq!(back, &whole.as_bytes()[..length]);
    }
}

#[tokio::test]
async fn a_service_that_is_gone_is_a_reset_and_another_can_take_its_place() {
    let gone = TcpListener::bind("127.0.0.1:0").await.expect("a port").local_addr().expect("an address");
    let proxy = Proxy::http(Upstream::Tcp(gone)).await.expect("starts");
    let mut stream = TcpStream::connect(proxy.address()).await.expect("connects");
    assert!(soon("the end", stream.read_to_end(&mut Vec::new())).await.is_err());
    let (upstream, _) = service("new").await;
    proxy.redirect(Upstream::Tcp(upstream));
    assert!(ask(&mut connect(&proxy).await, &post("k")).await.expect("an answer").contains("new 1"));
    let mut armed = proxy.arm(NetFault::Refuse, Times::Once);
    drop(proxy);
    let over = soon("the end", async { tokio::time::timeout(NOTHING, armed.hit()).await }).await;
    assert!(!matches!(over, Ok(Ok(_))), "nothing can hit any more");
}

#[tokio::test]
async fn only_as_many_of_many_are_hit_as_was_said() {
    let (upstream, seen) = service("one").await;
    let proxy = Proxy::http(Upstream::Tcp(upstream)).await.expect("starts");
    let fault = HttpFault::DropAnswer { then: Swallowed::Ended(Ending::Close) };
    let fault = ProxyFault::Http { matching: Matching::any(), fault };
    let mut armed = proxy.arm(fault, Times::Exactly(3));
    let requests = (0..16).map(|n| {
        let proxy = &proxy;
        async move { ask(&mut connect(proxy).await, &post(&format!("k{n}"))).await.is_some() }
    });
    let answered = futures::future::join_all(requests).await.into_iter().filter(|answered| *answered).count();
    assert_eq!((answered, seen.lock().unwrap().len()), (13, 16));
    for _ in 0..3 {
        hit(&mut armed).await;
    }
    assert!(armed.try_hit().is_none());
}

#[tokio::test]
async fn a_stopped_group_stands_still_until_it_is_continued_and_a_killed_one_is_gone() {
    // The shell's child ticks: the whole group has to stop, not the leader alone.
    let mut command = Command::new("sh");
    command.args(["-c", "sh -c 'while :; do echo x; sleep 0.005; done' & wait"]);
    let mut child = command.process_group(0).stdout(std::process::Stdio::piped()).spawn().expect("starts");
    let out = tokio::process::ChildStdout::from_std(child.stdout.take().expect("piped")).expect("a pipe");
    let mut ticks = BufReader::new(out).lines();
    soon("a tick", ticks.next_line()).await.expect("read");
    signal_group(child.id(), GroupSignal::Stop).await.expect("stops");
    while let Ok(Ok(_)) = tokio::time::timeout(NOTHING, ticks.next_line()).await {
        // What was in the pipe when it stopped.
    }
    signal_group(child.id(), GroupSignal::Continue).await.expect("goes on");
    soon("a tick", ticks.next_line()).await.expect("read");
    signal_group(child.id(), GroupSignal::Kill).await.expect("killed");
    while soon("the end of the ticks", ticks.next_line()).await.expect("read").is_some() {}
    child.wait().expect("waited");
}

#[tokio::test]
async fn a_group_that_is_not_there_and_one_that_would_be_everybody_can_not_be_signalled() {
    let mut child = Command::new("true").process_group(0).spawn().expect("starts");
    child.wait().expect("waited");
    let gone = signal_group(child.id(), GroupSignal::Kill).await.expect_err("nobody there");
    assert!(matches!(gone, FaultError::Signal { .. }), "{gone}");
    assert!(signal_group(1, GroupSignal::Kill).await.is_err(), "never everybody");
}
