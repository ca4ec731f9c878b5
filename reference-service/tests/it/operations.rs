use std::str::FromStr as _;
use std::time::{Duration, Instant};

use onejob_reference::{Config, Error, Role, serve};
use serde_json::json;
use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Executor as _};
use tokio::sync::oneshot;

use crate::support::{LockGate, Service, Wire, database, eventually, input};

async fn failing(config: Config) -> Error {
    let (ready, _address) = oneshot::channel();
    let served = serve(config, ready, std::future::pending());
    tokio::time::timeout(Duration::from_secs(4), served)
        .await
        .expect("it fails at once")
        .expect_err("it fails")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_keeps_the_service_from_starting_is_told_apart() {
    let url = database().await;
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let listen = taken.local_addr().expect("an address");
    let good = Config { database_url: url.clone(), ..Config::default() };
    assert!(
        matches!(failing(Config { listen, ..good.clone() }).await, Error::Bind { listen: told, .. } if told == listen)
    );
    let nobody = "postgres://postgres:hunter2@127.0.0.1:1/none".to_owned();
    let refused = failing(Config { database_url: nobody, ..good.clone() }).await;
    assert!(matches!(refused, Error::Database { .. }), "{refused}");
    assert!(!format!("{refused}{refused:?}").contains("hunter2"));
    let unreadable = failing(Config { database_url: "mysql://x".to_owned(), ..good.clone() }).await;
    assert!(matches!(unreadable, Error::Config(_)), "{unreadable}");
    let missing =
        failing(Config { database_url: url.replace("/onejob_it", "/no_such"), ..good.clone() }).await;
    assert!(matches!(missing, Error::Database { .. }), "{missing}");

    let empty = PgConnectOptions::from_str(&url).expect("a URL");
    empty
        .connect()
        .await
        .expect("a connection")
        .execute("DROP TABLE _sqlx_migrations")
        .await
        .expect("it drops");
    let behind = failing(Config { migrate: false, ..good }).await;
    assert!(matches!(behind, Error::NotMigrated { found: 0, expected: 1.. }), "{behind}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn draining_finishes_what_is_under_way_and_takes_nothing_new() {
    let service = Service::start().await;
    let id = service.job("k").await;
    let call = service.double.next().await;
    service.begin_stop();
    let replica = service.replica(|config| config.role = Role::Api).await;
    let waiting = replica.job("waiting").await;
    call.succeed(&json!("in time"));
    assert!(service.stop().await.is_ok());
    let job = replica.read(&id).await;
    assert_eq!((&job["state"], &job["result"]), (&json!("succeeded"), &json!("in time")));
    assert_eq!(replica.read(&waiting).await["state"], "queued");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_attempt_that_does_not_finish_while_draining_is_unknown() {
    let service = Service::with(|config| config.drain = Duration::from_millis(100)).await;
    let id = service.job("k").await;
    let _call = service.double.next().await;
    let replica = service.replica(|config| config.role = Role::Api).await;
    assert!(service.stop().await.is_ok());
    let job = replica.read(&id).await;
    assert_eq!(job["state"], "unknown");
    assert_eq!(job["attempts"][0]["detail"], "the service stopped before an answer came");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn overload_is_answered_before_the_key_is_claimed() {
    let service = Service::with(|config| {
        config.role = Role::Api;
        config.max_in_flight = 1;
        config.lock_timeout = Duration::from_secs(10);
    })
    .await;
    let mut gate = LockGate::close(&service.config.database_url).await;
    let (one, two) = (input(1), input(2));
    let first = service.submit("first", &one);
    let second = async {
        gate.wait_for(1).await;
        let second = service.submit("second", &two).await;
        gate.open().await;
        second
    };
    let (first, second) = tokio::join!(first, second);
    assert_eq!(first.status, 201);
    assert_eq!(
        (second.status, second.problem(), second.header("retry-after")),
        (503, "overloaded", Some("1"))
    );
    assert_eq!(service.submit("second", &two).await.status, 201, "the key was consumed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn health_readiness_and_metrics_are_open_to_everybody() {
    let service = Service::start().await;
    for (path, text) in [("/healthz", "ok\n"), ("/readyz", "ready\n")] {
        let answer = service.send(service.request(reqwest::Method::GET, path, "nobody")).await;
        assert_eq!((answer.status, &answer.body), (200, &json!(text)));
    }
    service.job("k").await;
    service.submit("k", &input(1)).await;
    service.submit("k", &input(2)).await;
    for outcome in ["created", "replayed", "conflict"] {
        let counted = service.metric(&format!("onejob_claims_total{{outcome=\"{outcome}\"}}")).await;
        assert!((counted - 1.0).abs() < f64::EPSILON, "{outcome}: {counted}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unknown_routes_and_methods_are_problems_too() {
    let service = Service::with(|config| config.role = Role::Api).await;
    assert_eq!(service.get("/v2").await.problem(), "route-not-found");
    let put = service.send(service.request(reqwest::Method::PUT, "/v1/jobs", "alice-secret")).await;
    assert_eq!((put.status, put.problem()), (405, "method-not-allowed"));
    assert!(put.header("allow").is_some_and(|allow| allow.contains("POST")), "{put:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_answers_no_requests_about_jobs() {
    let service = Service::with(|config| config.role = Role::Worker).await;
    assert_eq!(service.submit("k", &input(1)).await.problem(), "route-not-found");
    assert_eq!(service.get("/healthz").await.status, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everything_works_with_serializable_as_the_default() {
    let service = Service::with(|_| {}).await;
    let name = service.config.database_url.split(['/', '?']).nth(3).expect("a database name").to_owned();
    let options = PgConnectOptions::from_str(&service.config.database_url).expect("a URL");
    let mut connection = options.connect().await.expect("a connection");
    connection
        .execute(AssertSqlSafe(format!(
            "ALTER DATABASE {name} SET default_transaction_isolation = 'serializable'"
        )))
        .await
        .expect("it alters");
    let service = service.replica(|_| {}).await;
    let body = input(1);
    let answers = futures::future::join_all((0..16).map(|_| service.submit("k", &body))).await;
    assert!(answers.iter().all(|answer| matches!(answer.status, 200 | 201)), "{answers:?}");
    service.double.next().await.succeed(&json!(1));
    service.until(&answers[0].id(), "succeeded").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_that_the_database_drops_are_replaced_unnoticed() {
    let service = Service::start().await;
    service.job("before").await;
    let call = service.double.next().await;
    let options = PgConnectOptions::from_str(&service.config.database_url).expect("a URL");
    let mut connection = options.connect().await.expect("a connection");
    connection
        .execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
             WHERE datname = current_database() AND pid <> pg_backend_pid()",
        )
        .await
        .expect("it terminates");
    call.succeed(&json!("kept"));
    let after = service.job("after").await;
    service.double.next().await.succeed(&json!(1));
    service.until(&after, "succeeded").await;
    let before = service.get("/v1/jobs?idempotency_key=before").await.body["jobs"][0]["id"].clone();
    assert_eq!(service.until(before.as_str().expect("an id"), "succeeded").await["result"], "kept");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_conflict_of_transactions_after_the_effect_never_repeats_it() {
    let service = Service::start().await;
    let options = PgConnectOptions::from_str(&service.config.database_url).expect("a URL");
    let mut connection = options.connect().await.expect("a connection");
    connection
        .execute(
            "CREATE SEQUENCE conflicts; \
             CREATE FUNCTION conflict() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
                IF nextval('conflicts') <= 2 THEN RAISE EXCEPTION 'forced' USING ERRCODE = '40001'; END IF; \
                RETURN NEW; END $$; \
             CREATE TRIGGER conflict BEFORE UPDATE ON jobs FOR EACH ROW WHEN (NEW.state = 'succeeded') \
                EXECUTE FUNCTION conflict()",
        )
        .await
        .expect("the trigger is there");
    let id = service.job("k").await;
    service.double.next().await.succeed(&json!(1));
    service.until(&id, "succeeded").await;
    assert!(!service.double.has_more().await, "the effect was repeated");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_works_without_prepared_statements_and_notifications() {
    let service = Service::with(|config| {
        config.pooled = true;
        config.poll_interval = Duration::from_millis(20);
    })
    .await;
    let id = service.job("k").await;
    service.double.next().await.succeed(&json!(1));
    service.until(&id, "succeeded").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn new_work_is_told_and_not_polled_for() {
    let service = Service::with(|config| config.poll_interval = Duration::from_mins(1)).await;
    eventually("the worker listens", async || {
        let listening = service.metric("onejob_pool_connections").await;
        (listening > 0.0).then_some(())
    })
    .await;
    let began = Instant::now();
    for number in 0..3 {
        let id = service.job(&format!("k{number}")).await;
        service.double.next().await.succeed(&json!(1));
        service.until(&id, "succeeded").await;
    }
    assert!(began.elapsed() < Duration::from_secs(30), "it polled");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_sends_too_slowly_is_hung_up_on() {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    let service = Service::with(|config| config.client_timeout = Duration::from_millis(200)).await;
    let head = "POST /v1/jobs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer alice-secret\r\nIdempotency-Key: k\r\n\
                Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{";
    for (sent, answer) in [(&head[..30], ""), (head, "408")] {
        let mut stream = tokio::net::TcpStream::connect(service.address).await.expect("a connection");
        stream.write_all(sent.as_bytes()).await.expect("bytes leave");
        let mut received = String::new();
        let reading = stream.read_to_string(&mut received);
        tokio::time::timeout(Duration::from_secs(10), reading).await.expect("it hangs up").expect("text");
        assert!(received.contains(answer), "{received}");
    }
    assert_eq!(service.submit("k", &input(1)).await.status, 201, "the key was consumed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_oversized_head_is_refused() {
    let service = Service::with(|config| config.role = Role::Api).await;
    let huge = service.submission("k", &input(1)).header("x-filler", "x".repeat(128 * 1024));
    assert_eq!(service.send(huge).await.status, 431);
    assert_eq!(service.submit("k", &input(1)).await.status, 201, "the key was consumed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_falls_silent_is_not_waited_for_for_ever() {
    let first = Service::with(|config| config.role = Role::Api).await;
    let wire = Wire::to(&first.config.database_url).await;
    let service = first
        .replica(|config| {
            config.role = Role::All;
            config.database_url.clone_from(&wire.url);
            config.database_timeout = Duration::from_millis(300);
            config.lock_timeout = Duration::from_millis(100);
        })
        .await;
    let id = service.job("k").await;
    let call = service.double.next().await;
    wire.cut(true);
    let silent = service.submit("other", &input(1)).await;
    assert_eq!((silent.status, silent.problem()), (503, "database-unavailable"));
    call.succeed(&json!("kept"));
    wire.cut(false);
    // Every connection from before is dead, and nobody told the service.
    assert_eq!(service.until(&id, "succeeded").await["result"], "kept");
    assert!(matches!(service.submit("other", &input(1)).await.status, 200 | 201));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_that_somebody_holds_a_lock_on_does_not_keep_others_from_being_swept() {
    let service = Service::with(|config| {
        config.attempt_timeout = Duration::from_mins(1);
        config.lease = Duration::from_millis(400);
        config.lock_timeout = Duration::from_millis(50);
        config.role = Role::Api;
    })
    .await;
    let options = PgConnectOptions::from_str(&service.config.database_url).expect("a URL");
    let mut holder = options.connect().await.expect("a connection");
    let (held, free) = (service.job("held").await, service.job("free").await);
    for id in [&held, &free] {
        holder
            .execute(AssertSqlSafe(format!(
                "UPDATE jobs SET state = 'running' WHERE id = '{id}'; \
                 INSERT INTO attempts (job_id, number, exclusive, provider, state, job_version, lease_until, \
                    effect_started_at) VALUES ('{id}', 1, true, 'primary', 'running', 1, now(), now())"
            )))
            .await
            .expect("the rows are written");
    }
    holder
        .execute(AssertSqlSafe(format!("BEGIN; SELECT 1 FROM jobs WHERE id = '{held}' FOR UPDATE")))
        .await
        .expect("the lock");
    let _worker = service.replica(|config| config.role = Role::Worker).await;
    service.until(&free, "unknown").await;
    assert_eq!(service.read(&held).await["state"], "running");
    holder.execute("COMMIT").await.expect("the lock is given back");
    service.until(&held, "unknown").await;
}
