//! The gates and the client, against services that behave, misbehave, and have a real Postgres behind them.

use std::{
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant as Moment},
};

use axum::{
    Router,
    body::Bytes,
    extract::State,
    http::{HeaderMap, StatusCode},
    routing::any,
};
use onejob::{
    gate::{
        Arrival, ArrivalError, Client, LockError, LockGate, Loss, Opening, Origin, Outcome, Patience,
        Prepared, Protocol, Timing, Unwatched, Waiting, Watch, arrive_h1, arrive_h2,
        calibrate::{Effort, Means, calibrate},
    },
    history::Lost,
};
use sqlx::{AssertSqlSafe, Connection, PgConnection};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
    time::Instant,
};

/// Only a broken gate lets a test wait this long.
fn soon() -> Instant {
    Instant::now() + Duration::from_secs(10)
}

fn post(path: &str, body: &str) -> Prepared {
    Prepared {
        method: "POST".to_owned(),
        path: path.to_owned(),
        headers: vec![("content-type".to_owned(), "text/plain".to_owned())],
        body: body.as_bytes().to_vec(),
    }
}

async fn origin(address: SocketAddr) -> Origin {
    Origin::resolve(&format!("http://{address}")).await.unwrap()
}

async fn serve(routes: Router) -> Origin {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, routes).await });
    origin(address).await
}

/// A service that does this with each connection once the request's head is there.
async fn raw<Handle, Done>(handle: Handle) -> Origin
where
    Handle: Fn(TcpStream) -> Done + Clone + Send + Sync + 'static,
    Done: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let handle = handle.clone();
            tokio::spawn(async move {
                let mut head = Vec::new();
                while !head.windows(4).any(|end| end == b"\r\n\r\n") {
                    if stream.read_buf(&mut head).await.unwrap_or(0) == 0 {
                        return;
                    }
                }
                handle(stream).await;
            });
        }
    });
    origin(address).await
}

// The client.

async fn answered_with(bytes: &'static [u8]) -> Outcome {
    let origin = raw(move |mut stream| async move {
        stream.write_all(bytes).await.unwrap();
        stream.shutdown().await.unwrap();
        // Read to the end, so that closing is not a reset.
        let _ = stream.read_to_end(&mut Vec::new()).await;
    })
    .await;
    Client::new(origin, Protocol::H1).send(&post("/", ""), soon(), || {}).await
}

#[tokio::test]
async fn each_way_to_lose_an_answer_has_its_own_name() {
    let how = |outcome: Outcome| outcome.unwrap_err().how;
    assert_eq!(how(answered_with(b"").await), Lost::Closed);
    assert_eq!(how(answered_with(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf").await), Lost::Closed);
    assert_eq!(how(answered_with(b"220 mail.example ESMTP\r\n").await), Lost::Unreadable);

    let silent = raw(|stream| async move {
        let _stream = stream;
        std::future::pending::<()>().await;
    })
    .await;
    let impatient = Instant::now() + Duration::from_millis(50);
    let outcome = Client::new(silent, Protocol::H1).send(&post("/", ""), impatient, || {}).await;
    assert_eq!(how(outcome), Lost::Timeout);

    let resetting = raw(|stream| async move { stream.set_zero_linger().unwrap() }).await;
    assert_eq!(
        how(Client::new(resetting, Protocol::H1).send(&post("/", ""), soon(), || {}).await),
        Lost::Reset
    );
}

#[tokio::test]
async fn a_refused_request_was_never_sent() {
    let gone = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    for protocol in [Protocol::H1, Protocol::H2] {
        let mut sent = false;
        let client = Client::new(origin(gone).await, protocol);
        let loss = client.send(&post("/", ""), soon(), || sent = true).await.unwrap_err();
        assert_eq!(loss.how, Lost::Refused, "{loss}");
        assert!(!sent);
    }
}

#[tokio::test]
async fn a_header_that_would_forge_another_is_not_sent() {
    let origin = serve(Router::new()).await;
    for protocol in [Protocol::H1, Protocol::H2] {
        let mut request = post("/", "");
        request.headers.push(("x".to_owned(), "a\r\ny: b".to_owned()));
        let loss = Client::new(origin.clone(), protocol)
            .send(&request, soon(), || panic!("sent"))
            .await
            .unwrap_err();
        assert_eq!(loss.how, Lost::Cut, "{loss}");
    }
}

#[tokio::test]
async fn the_service_gets_the_request_as_it_is_in_both_versions() {
    let echo = async |method: http::Method, uri: http::Uri, headers: HeaderMap, body: Bytes| {
        let keys: Vec<_> =
            headers.get_all("idempotency-key").iter().map(|key| key.to_str().unwrap()).collect();
        format!(
            "{method} {} {} {}",
            uri.path_and_query().unwrap(),
            keys.join("+"),
            String::from_utf8_lossy(&body)
        )
    };
    let served = serve(Router::new().fallback(any(echo))).await;
    let below = Origin::resolve(&format!("{served}/api")).await.unwrap();
    for protocol in [Protocol::H1, Protocol::H2] {
        let mut request = post("/v1/jobs?x=1", "hello");
        request.headers.push(("Idempotency-Key".to_owned(), "a".to_owned()));
        request.headers.push(("Idempotency-Key".to_owned(), "b".to_owned()));
        let answer = Client::new(below.clone(), protocol).send(&request, soon(), || {}).await.unwrap();
        assert_eq!(
            String::from_utf8(answer.body).unwrap(),
            "POST /api/v1/jobs?x=1 a+b hello",
            "{protocol:?}"
        );
        assert!(answer.first_byte_at <= answer.done_at);
    }
}

#[tokio::test]
async fn an_answer_before_the_request_is_whole_is_an_answer() {
    let refusing = raw(|mut stream| async move {
        stream.write_all(b"HTTP/1.1 413 Content Too Large\r\ncontent-length: 0\r\n\r\n").await.unwrap();
        std::future::pending::<()>().await;
    })
    .await;
    let body = "x".repeat(64 * 1024 * 1024);
    let answer = Client::new(refusing, Protocol::H1).send(&post("/", &body), soon(), || {}).await.unwrap();
    assert_eq!(answer.status, 413);
}

#[tokio::test]
async fn a_request_is_sent_once_even_if_its_connection_dies() {
    let seen = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&seen);
    let dying = raw(move |stream| {
        counted.fetch_add(1, Ordering::SeqCst);
        async move { drop(stream) }
    })
    .await;
    Client::new(dying, Protocol::H1).send(&post("/", ""), soon(), || {}).await.unwrap_err();
    assert_eq!(seen.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_service_without_http2_is_unreadable_over_http2() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n").await;
            let _ = stream.read_to_end(&mut Vec::new()).await;
        }
    });
    let client = Client::new(origin(address).await, Protocol::H2);
    let loss = client.send(&post("/", "x"), soon(), || {}).await.unwrap_err();
    assert_eq!(loss.how, Lost::Unreadable, "{loss}");
}

// The arrival gates.

/// Notes when requests are there as a whole.
#[derive(Clone, Default)]
struct Noted(Arc<Mutex<Vec<(Moment, usize)>>>);

impl Noted {
    async fn serve(&self) -> Origin {
        let note = async |State(Self(noted)): State<Self>, body: Bytes| {
            noted.lock().unwrap().push((Moment::now(), body.len()));
            "noted"
        };
        let early = async || (StatusCode::UNAUTHORIZED, "no");
        serve(Router::new().route("/", any(note)).route("/early", any(early)).with_state(self.clone())).await
    }

    fn times(&self) -> Vec<Moment> {
        self.0.lock().unwrap().iter().map(|(at, _)| *at).collect()
    }
}

/// Keeps what a gate tells, in order.
#[derive(Default)]
struct Told(Mutex<Vec<(Moment, Tale)>>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tale {
    Sent(usize),
    Opened(Opening),
    Ended(usize),
}

impl Told {
    fn tell(&self, tale: Tale) {
        self.0.lock().unwrap().push((Moment::now(), tale));
    }

    fn all(&self) -> Vec<Tale> {
        self.0.lock().unwrap().iter().map(|(_, tale)| *tale).collect()
    }

    /// The moment at which the last request was begun: all of them lack their last byte then.
    fn last_begun(&self) -> Moment {
        let tales = self.0.lock().unwrap();
        tales.iter().filter(|(_, tale)| matches!(tale, Tale::Sent(_))).map(|(at, _)| *at).max().unwrap()
    }
}

impl Watch for Told {
    fn sent(&self, index: usize) {
        self.tell(Tale::Sent(index));
    }

    fn opened(&self, opening: &Opening) {
        self.tell(Tale::Opened(*opening));
    }

    fn ended(&self, index: usize, _: &Outcome) {
        self.tell(Tale::Ended(index));
    }
}

async fn arrive(
    protocol: Protocol,
    origin: &Origin,
    requests: Vec<Prepared>,
    timing: Timing,
    watch: Arc<dyn Watch>,
) -> Result<Arrival, ArrivalError> {
    match protocol {
        Protocol::H1 => arrive_h1(origin, requests, timing, watch).await,
        Protocol::H2 => arrive_h2(origin, requests, timing, watch).await,
    }
}

const SETTLE: Duration = Duration::from_millis(30);

fn settling() -> Timing {
    Timing { settle: SETTLE, ..Timing::default() }
}

#[tokio::test]
async fn no_request_is_whole_before_the_gate_opens_and_then_all_are() {
    for protocol in [Protocol::H1, Protocol::H2] {
        for body in ["x", "hello", ""] {
            let noted = Noted::default();
            let origin = noted.serve().await;
            let told = Arc::new(Told::default());
            let requests = vec![post("/", body); 8];
            let arrival = arrive(protocol, &origin, requests, settling(), told.clone()).await.unwrap();
            let statuses: Vec<_> =
                arrival.outcomes.iter().map(|outcome| outcome.as_ref().unwrap().status).collect();
            assert_eq!(statuses, [200; 8], "{protocol:?}");
            assert_eq!((arrival.opening.waiting, arrival.opening.early), (8, 0));
            let opened_after = told.last_begun() + SETTLE;
            assert_eq!(noted.times().len(), 8);
            assert!(noted.times().iter().all(|at| *at >= opened_after), "{protocol:?} {body}");
        }
    }
}

#[tokio::test]
async fn the_watch_is_told_of_every_request_and_of_the_opening_in_order() {
    for protocol in [Protocol::H1, Protocol::H2] {
        let origin = Noted::default().serve().await;
        let told = Arc::new(Told::default());
        arrive(protocol, &origin, vec![post("/", "hi"); 3], settling(), told.clone()).await.unwrap();
        let tales = told.all();
        assert_eq!(tales[..3], [Tale::Sent(0), Tale::Sent(1), Tale::Sent(2)]);
        assert!(matches!(tales[3], Tale::Opened(Opening { waiting: 3, early: 0, .. })), "{tales:?}");
        let mut ended = tales[4..].to_vec();
        ended.sort_by_key(|tale| format!("{tale:?}"));
        assert_eq!(ended, [Tale::Ended(0), Tale::Ended(1), Tale::Ended(2)]);
    }
}

#[tokio::test]
async fn the_last_frames_of_all_streams_leave_in_one_write() {
    let noted = Noted::default();
    let origin = noted.serve().await;
    for requests in [2, 8, 32] {
        let requests = vec![post("/", &"x".repeat(5000)); requests];
        let arrival = arrive_h2(&origin, requests, settling(), Unwatched::shared()).await.unwrap();
        // The spread is that of the writes: none means that there was one.
        assert_eq!(arrival.opening.spread, Duration::ZERO);
    }
}

#[tokio::test]
async fn large_requests_go_through_a_gate_whole() {
    for protocol in [Protocol::H1, Protocol::H2] {
        let noted = Noted::default();
        let origin = noted.serve().await;
        let size = 1_500_000;
        let requests = vec![post("/", &"x".repeat(size)); 2];
        let arrival = arrive(protocol, &origin, requests, settling(), Unwatched::shared()).await.unwrap();
        assert_eq!(arrival.opening.early, 0, "{protocol:?}");
        let sizes: Vec<_> = noted.0.lock().unwrap().iter().map(|(_, size)| *size).collect();
        assert_eq!(sizes, [size; 2]);
    }
}

#[tokio::test]
async fn answers_that_do_not_wait_for_the_last_byte_are_counted_as_early() {
    for protocol in [Protocol::H1, Protocol::H2] {
        let noted = Noted::default();
        let origin = noted.serve().await;
        let told = Arc::new(Told::default());
        let requests = vec![post("/early", "hello"), post("/", "hello"), post("/early", "hello")];
        let timing = Timing { settle: Duration::from_millis(500), ..Timing::default() };
        let arrival = arrive(protocol, &origin, requests, timing, told.clone()).await.unwrap();
        assert_eq!((arrival.opening.waiting, arrival.opening.early), (1, 2), "{protocol:?}");
        let statuses: Vec<_> =
            arrival.outcomes.iter().map(|outcome| outcome.as_ref().unwrap().status).collect();
        assert_eq!(statuses, [401, 200, 401]);
        let tales = told.all();
        let place = |wanted: Tale| tales.iter().position(|tale| *tale == wanted).unwrap();
        let opened = tales.iter().position(|tale| matches!(tale, Tale::Opened(_))).unwrap();
        assert!(place(Tale::Ended(0)) < opened && opened < place(Tale::Ended(1)), "{tales:?}");
    }
}

#[tokio::test]
async fn a_service_that_never_answers_ends_with_the_time_and_not_later() {
    let silent = raw(|stream| async move {
        let _stream = stream;
        std::future::pending::<()>().await;
    })
    .await;
    let timing = Timing { settle: Duration::ZERO, within: Duration::from_millis(100), ..Timing::default() };
    let arrival = arrive_h1(&silent, vec![post("/", "x"); 2], timing, Unwatched::shared()).await.unwrap();
    let how: Vec<_> = arrival.outcomes.iter().map(|outcome| outcome.as_ref().unwrap_err().how).collect();
    assert_eq!(how, [Lost::Timeout; 2]);
    let stuck = arrive_h2(&silent, vec![post("/", "x")], timing, Unwatched::shared()).await;
    assert!(
        matches!(stuck, Err(ArrivalError::Connection { loss: Loss { how: Lost::Timeout, .. }, .. })),
        "{stuck:?}"
    );
}

#[tokio::test]
async fn a_gate_without_a_service_sends_nothing_and_says_why() {
    let gone = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    for protocol in [Protocol::H1, Protocol::H2] {
        let told = Arc::new(Told::default());
        let result =
            arrive(protocol, &origin(gone).await, vec![post("/", "")], settling(), told.clone()).await;
        let error = result.unwrap_err();
        assert!(matches!(error, ArrivalError::Connection { .. }), "{error}");
        assert_eq!(told.all(), []);
    }
}

#[tokio::test]
async fn a_service_that_allows_too_few_streams_is_said_to() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let mut connection: h2::server::Connection<_, Bytes> =
                h2::server::Builder::new().max_concurrent_streams(3).handshake(stream).await.unwrap();
            tokio::spawn(async move { while let Some(Ok(_)) = connection.accept().await {} });
        }
    });
    let requests = vec![post("/", "x"); 4];
    let error =
        arrive_h2(&origin(address).await, requests, settling(), Unwatched::shared()).await.unwrap_err();
    assert!(matches!(error, ArrivalError::TooFewStreams { most: 3, of: 4, .. }), "{error}");
}

#[tokio::test]
async fn a_connection_that_breaks_behind_the_gate_is_a_loss_and_no_error() {
    let breaking = raw(|stream| async move { stream.set_zero_linger().unwrap() }).await;
    // The wait for early ends is over when all have ended, so a long one costs nothing here.
    let timing = Timing { settle: Duration::from_secs(9), ..Timing::default() };
    let arrival = arrive_h1(&breaking, vec![post("/", "x"); 2], timing, Unwatched::shared()).await.unwrap();
    assert_eq!((arrival.opening.waiting, arrival.opening.early), (0, 2));
    assert!(arrival.outcomes.iter().all(|outcome| outcome.as_ref().unwrap_err().how == Lost::Reset));
}

// The lock gate.

/// For as many as come for certain, however slow the machine.
fn patient() -> Patience {
    Patience { quiet: Duration::from_secs(10), first: Duration::from_secs(10), ..Patience::default() }
}

struct Table {
    url: String,
    schema: String,
}

impl Table {
    /// A table `"Odd Jobs"` in a schema of its own.
    async fn make() -> Self {
        let schema = format!("gate_{}", uuid::Uuid::new_v4().simple());
        let table = Self { url: crate::support::database(), schema };
        table
            .run(&format!("CREATE SCHEMA {0}; CREATE TABLE {0}.\"Odd Jobs\" (key text)", table.schema))
            .await;
        table
    }

    fn name(&self) -> String {
        format!("{}.\"Odd Jobs\"", self.schema)
    }

    async fn connect(&self) -> PgConnection {
        PgConnection::connect(&self.url).await.unwrap()
    }

    async fn run(&self, sql: &str) {
        sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut self.connect().await).await.unwrap();
    }

    async fn rows(&self) -> i64 {
        let sql = AssertSqlSafe(format!("SELECT count(*) FROM {}", self.name()));
        sqlx::query_scalar(sql).fetch_one(&mut self.connect().await).await.unwrap()
    }

    async fn arm(&self) -> LockGate {
        LockGate::arm(&self.url, &self.name(), Duration::from_secs(10)).await.unwrap()
    }

    fn insert(&self) -> JoinHandle<()> {
        let sql = format!("INSERT INTO {} VALUES ('k')", self.name());
        self.aside(sql)
    }

    fn aside(&self, sql: String) -> JoinHandle<()> {
        let url = self.url.clone();
        tokio::spawn(async move {
            let mut connection = PgConnection::connect(&url).await.unwrap();
            sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut connection).await.unwrap();
        })
    }
}

#[tokio::test]
async fn writers_wait_at_the_lock_gate_until_it_opens() {
    let table = Table::make().await;
    let mut gate = table.arm().await;
    assert_eq!(gate.waiting().await.unwrap(), Waiting::default());
    let writers: Vec<_> = (0..4).map(|_| table.insert()).collect();
    let waiting = gate.wait_for(4, patient(), soon()).await.unwrap();
    assert_eq!(waiting, Waiting { at_gate: 4, behind: 0 });
    assert_eq!(table.rows().await, 0);
    assert!(writers.iter().all(|writer| !writer.is_finished()));
    gate.open().await.unwrap();
    for writer in writers {
        writer.await.unwrap();
    }
    assert_eq!(table.rows().await, 4);
}

#[tokio::test]
async fn writers_of_other_tables_are_not_counted() {
    let table = Table::make().await;
    let other = Table::make().await;
    let mut gate = table.arm().await;
    let mut elsewhere = other.arm().await;
    let stranger = other.insert();
    let seen = elsewhere.wait_for(1, patient(), soon()).await.unwrap();
    assert_eq!(seen.all(), 1);
    assert_eq!(gate.waiting().await.unwrap(), Waiting::default());
    elsewhere.open().await.unwrap();
    stranger.await.unwrap();
}

#[tokio::test]
async fn a_service_that_lets_requests_meet_on_its_own_lock_is_seen_through() {
    let table = Table::make().await;
    let mut gate = table.arm().await;
    let sql = format!(
        "BEGIN; SELECT pg_advisory_xact_lock(hashtext('{0}')); INSERT INTO {1} VALUES ('k'); COMMIT",
        table.schema,
        table.name()
    );
    let writers: Vec<_> = (0..3).map(|_| table.aside(sql.clone())).collect();
    let waiting = gate.wait_for(3, patient(), soon()).await.unwrap();
    assert_eq!(waiting, Waiting { at_gate: 1, behind: 2 });
    gate.open().await.unwrap();
    for writer in writers {
        writer.await.unwrap();
    }
}

#[tokio::test]
async fn the_wait_ends_when_nobody_else_comes() {
    let table = Table::make().await;
    let mut gate = table.arm().await;
    let writer = table.insert();
    let alone = Patience { quiet: Duration::from_millis(20), ..patient() };
    let waiting = gate.wait_for(2, alone, soon()).await.unwrap();
    assert_eq!(waiting, Waiting { at_gate: 1, behind: 0 });
    let nobody = Patience { first: Duration::from_millis(20), ..patient() };
    gate.open().await.unwrap();
    writer.await.unwrap();
    let mut gate = table.arm().await;
    assert_eq!(gate.wait_for(2, nobody, soon()).await.unwrap(), Waiting::default());
}

#[tokio::test]
async fn a_gate_that_is_dropped_is_open() {
    let table = Table::make().await;
    let mut gate = table.arm().await;
    let writer = table.insert();
    gate.wait_for(1, patient(), soon()).await.unwrap();
    drop(gate);
    tokio::time::timeout_at(soon(), writer).await.unwrap().unwrap();
    assert_eq!(table.rows().await, 1);
}

#[tokio::test]
async fn a_lock_gate_that_cannot_be_armed_says_why() {
    let table = Table::make().await;
    let within = Duration::from_secs(3);
    for name in ["no_such_table", "jobs; DROP TABLE jobs", "", "\"open", "pg_catalog.pg_tables"] {
        let error = LockGate::arm(&table.url, name, within).await.unwrap_err();
        assert!(matches!(error, LockError::NoTable { .. }), "{name}: {error}");
        assert!(error.to_string().contains("jobs_table"), "{error}");
    }
    let _armed = table.arm().await;
    let busy = LockGate::arm(&table.url, &table.name(), Duration::from_millis(500)).await.unwrap_err();
    assert!(matches!(busy, LockError::Busy { .. }), "{busy}");
    let gone = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let unreachable =
        LockGate::arm(&format!("postgres://nobody@{gone}/none"), "jobs", within).await.unwrap_err();
    assert!(matches!(unreachable, LockError::Connect(_)), "{unreachable}");
}

// Calibration.

#[tokio::test(flavor = "multi_thread")]
async fn a_calibration_measures_every_gate_and_the_lock_gate_never_misses() {
    let effort = Effort { rounds: 10, each: Duration::from_secs(20) };
    let url = crate::support::database();
    let found = calibrate(effort, Some(&url)).await.unwrap();
    assert_eq!(found.spreads.len(), 6);
    for spread in &found.spreads {
        assert_eq!(spread.rounds, 10, "{spread:?}");
        assert!(spread.median_us > 0.0 && spread.median_us <= spread.p99_us, "{spread:?}");
    }
    assert_eq!(found.hits.len(), 8);
    for rate in &found.hits {
        assert_eq!(rate.rounds, 10, "{rate:?}");
        if rate.means == Means::Lock {
            assert_eq!(rate.hits, rate.rounds, "{rate:?}");
        }
    }
    let left: i64 =
        sqlx::query_scalar("SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'onejob_calibrate_%'")
            .fetch_one(&mut PgConnection::connect(&url).await.unwrap())
            .await
            .unwrap();
    assert_eq!(left, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_database_only_arrivals_are_measured() {
    let found = calibrate(Effort { rounds: 3, each: Duration::from_secs(20) }, None).await.unwrap();
    assert_eq!((found.spreads.len(), found.hits.len()), (6, 0));
    let json = serde_json::to_value(&found).unwrap();
    assert_eq!(json["spreads"][1]["means"], "arrival-h1");
}
