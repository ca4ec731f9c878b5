//! Postgres from every source, and nothing of it left behind.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use onejob::fault::{Direction, Ending, NetFault, Proxy, Times, Upstream, When};
use onejob::leash::Leash;
use onejob::postgres::{
    Databases, Environment, Halt, OwnServer, PostgresError, Server, Source, StartOptions, own_server_options,
};
use sqlx::{Connection, PgConnection};

/// How long a test waits to see that nothing comes. Longer only makes it slower.
const LITTLE: Duration = Duration::from_secs(2);
const NOBODY: u32 = 65534;
/// Tells the test process that is started by another test what to be.
const ROLE: &str = "ONEJOB_TEST_PARENT";

/// Where the onejob program is, for a test process whose user can't reach the build's folder.
const PROGRAM: &str = "ONEJOB_TEST_PROGRAM";

fn leash() -> Leash {
    let program =
        std::env::var_os(PROGRAM).map_or_else(|| env!("CARGO_BIN_EXE_onejob").into(), PathBuf::from);
    Leash::start(&program).expect("a watchdog")
}

fn silent(_: &str) {}

fn no_programs() -> Environment {
    Environment { path: None, program_folders: Vec::new(), ..Environment::of_this_process() }
}

fn no_docker(environment: Environment) -> Environment {
    Environment { docker_host: Some("unix:///nowhere/docker.sock".into()), ..environment }
}

async fn local(leash: &Leash, options: &StartOptions) -> Server {
    Server::start(&Source::Local, options, leash, &silent).await.expect("a private server")
}

async fn value<T>(url: &str, query: &'static str) -> T
where
    T: for<'r> sqlx::Decode<'r, sqlx::Postgres> + sqlx::Type<sqlx::Postgres> + Send + Unpin,
{
    let mut connection = PgConnection::connect(url).await.expect("connects");
    let value = sqlx::query_scalar(query).fetch_one(&mut connection).await.expect("answers");
    connection.close().await.expect("closes");
    value
}

async fn run(url: &str, statement: &'static str) {
    let mut connection = PgConnection::connect(url).await.expect("connects");
    sqlx::raw_sql(statement).execute(&mut connection).await.expect("runs");
    connection.close().await.expect("closes");
}

/// Waits for something that happens in another process; what it was is in the message when it doesn't.
fn eventually(what: &str, mut done: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !done() {
        assert!(Instant::now() < deadline, "not within 20 s: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// The folder that a socket URL points into.
fn folder_of(url: &str) -> PathBuf {
    let url = url::Url::parse(url).expect("a URL");
    url.query_pairs()
        .find(|(name, _)| name == "host")
        .map(|(_, path)| PathBuf::from(&*path))
        .expect("a socket")
}

fn server_process(folder: &Path) -> u32 {
    let file = fs::read_to_string(folder.join("data/postmaster.pid")).expect("a running server's file");
    file.lines().next().and_then(|line| line.parse().ok()).expect("its process id")
}

fn is_gone(process: u32) -> bool {
    match fs::read_to_string(format!("/proc/{process}/stat")) {
        Ok(stat) => stat.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with('Z')),
        Err(_) => true,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_private_server_runs_and_leaves_neither_process_nor_folder() {
    let leash = leash();
    let server = local(&leash, &StartOptions::default()).await;
    let told = server.describe();
    assert!(told.starts_with("PostgreSQL ") && told.contains("local programs"), "{told}");
    assert_eq!(value::<i32>(server.admin_url(), "SELECT 1").await, 1);
    assert_eq!(value::<String>(server.admin_url(), "SHOW fsync").await, "off");
    assert_eq!(server.tcp_url_of("postgres"), None, "TCP was not asked for");
    let folder = folder_of(server.admin_url());
    let process = server_process(&folder);
    drop(server);
    assert!(!folder.exists(), "{} is still there", folder.display());
    assert!(is_gone(process), "{process} still runs");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_durable_server_with_tcp_keeps_its_safeguards_and_asks_for_the_password() {
    let leash = leash();
    let options = StartOptions { durable: true, tcp: true, ..StartOptions::default() };
    let server = local(&leash, &options).await;
    let url = server.tcp_url_of("postgres").expect("TCP was asked for");
    assert_eq!(value::<String>(&url, "SHOW fsync").await, "on");
    assert_eq!(value::<String>(&url, "SHOW synchronous_commit").await, "on");
    let wrong = url.replacen("onejob:", "onejob:x", 1);
    let refused = Server::start(&Source::Url(wrong), &options, &leash, &silent).await.expect_err("refused");
    assert!(matches!(refused, PostgresError::LoginRefused { .. }), "{refused:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crash_and_a_clean_restart_keep_address_and_data() {
    let leash = leash();
    let server = local(&leash, &StartOptions::default()).await;
    let url = server.url_of("postgres");
    let mut connection = PgConnection::connect(&url).await.expect("connects");
    sqlx::raw_sql("CREATE TABLE kept AS SELECT 7 AS n").execute(&mut connection).await.expect("created");
    for how in [Halt::Crash, Halt::Clean] {
        let before = server_process(&folder_of(&url));
        server.halt(how).await.expect("stops");
        assert!(PgConnection::connect(&url).await.is_err(), "a stopped server takes no connections");
        server.halt(how).await.expect("stopping twice is fine");
        server.resume().await.expect("starts");
        assert_ne!(server_process(&folder_of(&url)), before, "it is another process");
        assert_eq!(value::<i32>(&url, "SELECT n FROM kept").await, 7);
    }
    assert!(sqlx::raw_sql("SELECT 1").execute(&mut connection).await.is_err(), "the old connection is dead");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_standby_takes_over_with_what_it_got_and_commits_wait_for_a_synchronous_one() {
    let (leash, options) = (leash(), own_server_options());
    for kind in [OwnServer::Standby, OwnServer::SynchronousStandby] {
        let primary = local(&leash, &options).await;
        let way = Proxy::raw(Upstream::Unix(primary.socket().expect("a socket"))).await.expect("a proxy");
        let standby = primary.standby(kind, &options, &leash, way.address()).await.expect("a standby");
        run(&primary.url_of("postgres"), "CREATE TABLE kept AS SELECT 7 AS number").await;
        standby.has_caught_up_with(&primary).await.expect("it streams");
        let kept: i32 = value(&standby.url_of("postgres"), "SELECT number FROM kept").await;
        assert_eq!(kept, 7);
        let _held = way.arm(NetFault::Blackhole { direction: Direction::ToClient }, Times::Always);
        let lost = "CREATE TABLE lost AS SELECT 8 AS number";
        let written = tokio::time::timeout(LITTLE, run(&primary.url_of("postgres"), lost)).await;
        assert_eq!(written.is_ok(), kind == OwnServer::Standby, "{kind:?}: who waits for whom");
        primary.halt(Halt::Crash).await.expect("it crashes");
        standby.promote().await.expect("it takes over");
        run(&standby.url_of("postgres"), "INSERT INTO kept VALUES (9)").await;
        let there: bool = value(&standby.url_of("postgres"), "SELECT to_regclass('lost') IS NOT NULL").await;
        assert!(!there, "what it never got is gone");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn ending_a_databases_connections_spares_those_of_others() {
    let leash = leash();
    let server = local(&leash, &StartOptions::default()).await;
    let databases = Databases::open(&server, &leash, 0).await.expect("opens");
    let (hit, spared) = (databases.empty().await.expect("made"), databases.empty().await.expect("made"));
    let mut first = PgConnection::connect(&hit.url).await.expect("connects");
    let mut other = PgConnection::connect(&spared.url).await.expect("connects");
    assert_eq!(server.terminate_backends(&hit.name).await.expect("ends them"), 1);
    assert!(sqlx::raw_sql("SELECT 1").execute(&mut first).await.is_err());
    assert!(sqlx::raw_sql("SELECT 1").execute(&mut other).await.is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proxy_in_front_of_the_server_can_cut_one_connection_and_let_the_next_through() {
    let leash = leash();
    let server = local(&leash, &StartOptions::default()).await;
    let proxy = Proxy::raw(Upstream::Unix(server.socket().expect("a socket"))).await.expect("starts");
    let url = server.url_through("postgres", proxy.address()).expect("a URL");
    let mut connection = PgConnection::connect(&url).await.expect("connects");
    // The answer is on its way when the line breaks: the statement happened, and the client can't know.
    let when = When::Bytes { direction: Direction::ToClient, count: 0 };
    let mut armed = proxy.arm(NetFault::Cut { when, ending: Ending::Reset }, Times::Once);
    let broken = sqlx::raw_sql("CREATE TABLE happened ()").execute(&mut connection).await.expect_err("cut");
    assert!(matches!(broken, sqlx::Error::Io(_)), "{broken:?}");
    armed.hit().await.expect("it hit");
    assert!(value::<bool>(&url, "SELECT to_regclass('happened') IS NOT NULL").await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_template_is_migrated_once_and_its_clones_do_not_see_each_other() {
    let leash = leash();
    let server = local(&leash, &StartOptions::default()).await;
    let databases = Databases::open(&server, &leash, 3).await.expect("opens");
    let runs = &Mutex::new(0);
    let migrate = |url: String| async move {
        *runs.lock().unwrap() += 1;
        // Left open on purpose: a migration's forgotten connection must not keep the template from being cloned.
        let mut connection = PgConnection::connect(&url).await?;
        sqlx::raw_sql("CREATE TABLE job (id int)").execute(&mut connection).await?;
        std::mem::forget(connection);
        Ok::<(), sqlx::Error>(())
    };
    let (one, two) = tokio::join!(databases.template("job", migrate), databases.template("job", migrate));
    let (template, _) = (one.expect("migrated"), two.expect("migrated"));
    assert_eq!(*runs.lock().unwrap(), 1);
    let mut names = Vec::new();
    for n in 0..8 {
        let database = template.fresh().await.expect("a clone");
        let mut connection = PgConnection::connect(&database.url).await.expect("connects");
        let rows: i64 =
            sqlx::query_scalar("SELECT count(*) FROM job").fetch_one(&mut connection).await.expect("counts");
        assert_eq!(rows, 0, "clone {n} is not fresh");
        sqlx::raw_sql("INSERT INTO job VALUES (1)").execute(&mut connection).await.expect("inserted");
        assert!(!names.contains(&database.name));
        names.push(database.name);
    }
    let deadline = Instant::now() + Duration::from_secs(20);
    while template.ready() < 3 {
        assert!(Instant::now() < deadline, "only {} clones were made ahead", template.ready());
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    databases.close().await.expect("closes");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_migration_is_told_and_tried_again() {
    let leash = leash();
    let server = local(&leash, &StartOptions::default()).await;
    let databases = Databases::open(&server, &leash, 0).await.expect("opens");
    let error = databases.template("job", |_| async { Err("column missing") }).await.expect_err("fails");
    assert!(
        matches!(error, PostgresError::Migration { .. }) && error.to_string().contains("column missing"),
        "{error}"
    );
    let second = databases.template("job", |_| async { Ok::<(), sqlx::Error>(()) }).await;
    assert!(second.is_ok(), "{second:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_was_lent_is_left_as_it_was_found() {
    let leash = leash();
    let owner = local(&leash, &StartOptions::default()).await;
    let all = "SELECT count(*) FROM pg_database";
    let before: i64 = value(owner.admin_url(), all).await;
    let source = Source::Url(owner.admin_url().to_owned());
    let lent = Server::start(&source, &StartOptions::default(), &leash, &silent).await.expect("connects");
    assert!(lent.describe().contains("database URL"), "{}", lent.describe());
    assert!(matches!(lent.restart(Halt::Clean).await, Err(PostgresError::NotOurs { .. })));
    let databases = Databases::open(&lent, &leash, 4).await.expect("opens");
    let template = databases.template("t", |_| async { Ok::<(), sqlx::Error>(()) }).await.expect("made");
    let database = template.fresh().await.expect("cloned");
    let mut in_use = PgConnection::connect(&database.url).await.expect("connects");
    databases.close().await.expect("closes even while one is in use");
    assert!(sqlx::raw_sql("SELECT 1").execute(&mut in_use).await.is_err());
    assert_eq!(value::<i64>(owner.admin_url(), all).await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_ends_without_closing_leaves_no_database_on_a_lent_server() {
    let first = leash();
    let owner = local(&first, &StartOptions::default()).await;
    let source = Source::Url(owner.admin_url().to_owned());
    let second = leash();
    let lent = Server::start(&source, &StartOptions::default(), &second, &silent).await.expect("connects");
    let databases = Databases::open(&lent, &second, 2).await.expect("opens");
    let template = databases.template("t", |_| async { Ok::<(), sqlx::Error>(()) }).await.expect("made");
    let database = template.fresh().await.expect("cloned");
    let mut in_use = PgConnection::connect(&database.url).await.expect("connects");
    drop((template, databases, second));
    let ours = "SELECT count(*) FROM pg_database WHERE datname LIKE 'onejob%'";
    let deadline = Instant::now() + Duration::from_secs(20);
    while value::<i64>(owner.admin_url(), ours).await > 0 {
        assert!(Instant::now() < deadline, "the watchdog did not drop them");
    }
    assert!(sqlx::raw_sql("SELECT 1").execute(&mut in_use).await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn databases_of_a_dead_run_are_swept_and_those_of_a_living_one_are_not() {
    let leash = leash();
    let owner = local(&leash, &StartOptions::default()).await;
    let source = Source::Url(owner.admin_url().to_owned());
    let lent = Server::start(&source, &StartOptions::default(), &leash, &silent).await.expect("connects");
    let mut admin = PgConnection::connect(owner.admin_url()).await.expect("connects");
    for statement in
        ["CREATE DATABASE onejob_deadbeef_0", "CREATE DATABASE onejob_notes", "CREATE DATABASE mine"]
    {
        sqlx::raw_sql(statement).execute(&mut admin).await.expect("created");
    }
    let living = Databases::open(&lent, &leash, 0).await.expect("opens");
    let in_use = living.empty().await.expect("made");
    let _second = Databases::open(&lent, &leash, 0).await.expect("opens, and sweeps");
    let names: Vec<String> = sqlx::query_scalar("SELECT datname::text FROM pg_database")
        .fetch_all(&mut admin)
        .await
        .expect("lists");
    assert!(!names.iter().any(|name| name == "onejob_deadbeef_0"), "{names:?}");
    for stays in [in_use.name.as_str(), "onejob_notes", "mine"] {
        assert!(names.iter().any(|name| name == stays), "{stays} is gone: {names:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_role_that_may_not_create_databases_is_told_how_to_get_the_right() {
    let leash = leash();
    let owner = local(&leash, &StartOptions::default()).await;
    let mut admin = PgConnection::connect(owner.admin_url()).await.expect("connects");
    sqlx::raw_sql("CREATE ROLE guest LOGIN").execute(&mut admin).await.expect("created");
    let url = owner.admin_url().replacen("onejob@", "guest@", 1);
    let error = Server::start(&Source::Url(url), &StartOptions::default(), &leash, &silent)
        .await
        .expect_err("refused");
    assert!(matches!(&error, PostgresError::MayNotCreate { role, .. } if role == "guest"), "{error:?}");
    assert!(error.remedy().contains("ALTER ROLE \"guest\" CREATEDB"), "{}", error.remedy());
}

#[tokio::test(flavor = "multi_thread")]
async fn each_way_a_url_can_be_wrong_is_an_error_of_its_own_without_the_password() {
    let leash = leash();
    let owner = local(&leash, &StartOptions { tcp: true, ..StartOptions::default() }).await;
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let stranger = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        // Not Postgres: whatever comes, HTTP goes back.
        while let Ok((mut stream, _)) = listener.accept() {
            drop(std::io::Write::write_all(&mut stream, b"HTTP/1.1 400 Bad Request\r\n\r\n"));
        }
    });
    let closed = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a free port");
    let tcp = owner.tcp_url_of("no_such_database").expect("TCP");
    let cases = [
        ("mysql://me:hunter2@127.0.0.1/x".to_owned(), "BadUrl"),
        ("not a url hunter2".to_owned(), "BadUrl"),
        (format!("postgres://me:hunter2@{closed}/x"), "Refused"),
        ("postgres://me:hunter2@localhost/x?host=/nowhere".to_owned(), "Refused"),
        (format!("postgres://me:hunter2@{stranger}/x?sslmode=disable"), "NotPostgres"),
        (tcp.replacen("onejob:", "onejob:hunter2", 1), "LoginRefused"),
        (tcp.clone(), "NoSuchDatabase"),
        (format!("{}require", tcp.trim_end_matches("disable")), "Tls"),
    ];
    for (url, expected) in cases {
        let source = Source::Url(url.clone());
        let error =
            Server::start(&source, &StartOptions::default(), &leash, &silent).await.expect_err(expected);
        let debug = format!("{error:?}");
        assert!(debug.starts_with(expected), "{expected} was expected for {url}, not {debug}");
        assert!(!format!("{error}{debug}").contains("hunter2"), "{error}");
        assert!(!error.remedy().is_empty());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_takes_connections_but_says_nothing_is_given_up() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let place = listener.local_addr().expect("an address");
    let source = Source::Url(format!("postgres://me@{place}/x"));
    let error =
        Server::start(&source, &StartOptions::default(), &leash(), &silent).await.expect_err("silence");
    assert!(matches!(error, PostgresError::Silent { .. }), "{error:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn many_first_starts_at_a_time_share_one_prepared_directory_and_a_broken_one_is_replaced() {
    let place = tempfile::tempdir().expect("a folder");
    let environment =
        &Environment { cache_home: Some(place.path().to_owned()), ..Environment::of_this_process() };
    let (leash, options) = (&leash(), &StartOptions::default());
    let start = || async move {
        let server =
            Server::start_in(environment, &Source::Local, options, leash, &silent).await.expect("starts");
        value::<i32>(server.admin_url(), "SELECT 1").await
    };
    assert_eq!(tokio::join!(start(), start(), start()), (1, 1, 1));
    let kept =
        || fs::read_dir(place.path().join("onejob")).expect("kept").map(|entry| entry.expect("read").path());
    assert_eq!(kept().count(), 1, "one directory and no drafts: {:?}", kept().collect::<Vec<_>>());
    let control = kept().next().expect("one").join("global/pg_control");
    fs::write(&control, "nonsense").expect("broken");
    assert_eq!(start().await, 1);
    assert!(fs::metadata(control).expect("made anew").len() > 100);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_initdb_and_the_server_say_when_they_fail_is_passed_on() {
    let place = tempfile::tempdir().expect("a folder");
    let script = |name: &str, text: &str| {
        let path = place.path().join(name);
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).expect("written");
        fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("executable");
    };
    fs::set_permissions(place.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("open");
    script("postgres", "echo 'postgres (PostgreSQL) 99.1'");
    script("initdb", "echo 'initdb: error: the disk is on fire' >&2; exit 3");
    let environment = Environment {
        program_folders: vec![place.path().display().to_string()],
        cache_home: Some(place.path().to_owned()),
        ..no_programs()
    };
    let (leash, options) = (leash(), StartOptions::default());
    let error =
        Server::start_in(&environment, &Source::Local, &options, &leash, &silent).await.expect_err("fails");
    assert!(
        matches!(error, PostgresError::Initdb { .. }) && error.to_string().contains("on fire"),
        "{error}"
    );

    let options = StartOptions { settings: vec![("max_connections", "-5".into())], ..options };
    let error = Server::start(&Source::Local, &options, &leash, &silent).await.expect_err("fails");
    assert!(matches!(error, PostgresError::Cluster { .. }), "{error:?}");
    assert!(error.to_string().contains("max_connections"), "the server's own words are missing: {error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn with_nothing_anywhere_all_three_ways_are_named() {
    let environment = no_docker(no_programs());
    let options = StartOptions::default();
    let leash = leash();
    let start = |source| {
        let (environment, options, leash) = (&environment, &options, &leash);
        async move { Server::start_in(environment, &source, options, leash, &silent).await.expect_err("nothing") }
    };
    let error = start(Source::Auto).await;
    let told = format!("{error}\n{}", error.remedy());
    for part in
        ["ONEJOB_DATABASE_URL", "/nowhere/docker.sock", "no Postgres programs", "apt install postgresql"]
    {
        assert!(told.contains(part), "{part:?} is missing in:\n{told}");
    }
    assert!(matches!(start(Source::Local).await, PostgresError::NoPrograms { .. }));
    let docker = start(Source::Docker).await;
    let wanted = if cfg!(feature = "testcontainers") { "NoDocker {" } else { "NoDockerSupport" };
    assert!(format!("{docker:?}").starts_with(wanted), "{docker:?}");
}

#[cfg(feature = "testcontainers")]
mod docker {
    use std::io::{Read, Write};
    use std::os::unix::net::UnixListener;

    use super::*;

    /// An engine that answers each request's path with what the function says.
    fn engine(
        answers: impl Fn(&str) -> (u16, &'static str) + Send + 'static,
    ) -> (tempfile::TempDir, Environment) {
        let place = tempfile::tempdir().expect("a folder");
        let socket = place.path().join("docker.sock");
        let listener = UnixListener::bind(&socket).expect("a socket");
        std::thread::spawn(move || {
            while let Ok((mut stream, _)) = listener.accept() {
                let mut request = [0; 4096];
                let length = stream.read(&mut request).unwrap_or(0);
                let text = String::from_utf8_lossy(&request[..length]).into_owned();
                let (status, body) = answers(text.split(' ').nth(1).unwrap_or_default());
                drop(write!(stream, "HTTP/1.0 {status} X\r\n\r\n{body}"));
            }
        });
        let docker_host = Some(format!("unix://{}", socket.display()));
        (place, Environment { docker_host, ..Environment::of_this_process() })
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn an_image_that_cannot_be_pulled_leads_on_to_the_local_programs_and_is_told() {
        let (_place, environment) = engine(|path| match path {
            "/_ping" => (200, "OK"),
            path if path.starts_with("/images/create") => {
                (200, "{\"error\":\"dial tcp: no route to host\"}\n")
            }
            _ => (404, "{\"message\":\"no such image\"}"),
        });
        let (leash, options) = (leash(), StartOptions::default());
        let told = Mutex::new(String::new());
        let talk = |line: &str| told.lock().unwrap().push_str(line);
        let server =
            Server::start_in(&environment, &Source::Auto, &options, &leash, &talk).await.expect("local");
        assert!(server.describe().contains("local programs"), "{}", server.describe());
        assert!(told.lock().unwrap().contains("no route to host"), "{told:?}");
        let error =
            Server::start_in(&environment, &Source::Docker, &options, &leash, &silent).await.expect_err("no");
        assert!(matches!(&error, PostgresError::NoImage { .. }), "{error:?}");
        assert!(error.remedy().contains("docker pull"), "{}", error.remedy());
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn something_that_is_no_engine_is_told_from_one_that_is_absent() {
        let (_place, environment) = engine(|_| (500, "on fire"));
        let error =
            Server::start_in(&environment, &Source::Docker, &StartOptions::default(), &leash(), &silent)
                .await
                .expect_err("no engine");
        assert!(
            matches!(&error, PostgresError::NoDocker { cause, .. } if cause.contains("on fire")),
            "{error:?}"
        );
    }

    /// Needs an engine that has the image. Where `ONEJOB_CI` is set it may not be missing.
    #[tokio::test(flavor = "multi_thread")]
    async fn a_container_runs_restarts_in_place_and_is_removed() {
        let leash = leash();
        let options = StartOptions::default();
        let server = match Server::start(&Source::Docker, &options, &leash, &silent).await {
            Ok(server) => server,
            Err(error @ (PostgresError::NoDocker { .. } | PostgresError::NoImage { .. }))
                if std::env::var_os("ONEJOB_CI").is_none() =>
            {
                eprintln!("NOT VERIFIED: {error}");
                return;
            }
            Err(error) => panic!("{error}"),
        };
        assert!(server.describe().contains("(docker)"), "{}", server.describe());
        let url = server.url_of("postgres");
        assert_eq!(value::<String>(&url, "SHOW fsync").await, "off");
        assert_eq!(value::<String>(&url, "SHOW max_connections").await, "300");
        let mut connection = PgConnection::connect(&url).await.expect("connects");
        sqlx::raw_sql("CREATE TABLE kept AS SELECT 7 AS n").execute(&mut connection).await.expect("created");
        server.restart(Halt::Crash).await.expect("restarts");
        assert_eq!(value::<i32>(&url, "SELECT n FROM kept").await, 7);
        let databases = Databases::open(&server, &leash, 2).await.expect("opens");
        let template = databases.template("t", |_| async { Ok::<(), sqlx::Error>(()) }).await.expect("made");
        let database = template.fresh().await.expect("cloned");
        assert_eq!(value::<i32>(&database.url, "SELECT 1").await, 1);
        databases.close().await.expect("closes");
        let containers = containers_on_port_of(&url);
        assert_eq!(containers.len(), 1, "{containers:?}");
        drop((template, server));
        assert!(!exists(&containers[0]), "the container is still there");
    }

    /// Needs the same as the test above.
    #[tokio::test(flavor = "multi_thread")]
    async fn a_container_does_not_outlive_a_parent_that_is_killed() {
        let place = tempfile::tempdir().expect("a folder");
        let Some(mut parent) = Parent::start_on("docker", "hang", None, place.path()) else {
            assert!(std::env::var_os("ONEJOB_CI").is_none(), "no container could be started");
            eprintln!("NOT VERIFIED: no container could be started");
            return;
        };
        let containers = containers_on_port_of(&parent.url);
        assert_eq!(containers.len(), 1, "{containers:?}");
        parent.signal("-KILL");
        drop(parent.process.wait());
        eventually("the container is removed", || !exists(&containers[0]));
    }

    fn docker(arguments: &[&str]) -> String {
        let done = Command::new("docker").args(arguments).output().expect("the docker program");
        String::from_utf8(done.stdout).expect("text")
    }

    fn containers_on_port_of(url: &str) -> Vec<String> {
        let port = url::Url::parse(url).expect("a URL").port().expect("a port");
        let filter = format!("publish={port}");
        docker(&["ps", "--no-trunc", "--quiet", "--filter", &filter]).lines().map(str::to_owned).collect()
    }

    fn exists(container: &str) -> bool {
        docker(&["ps", "--all", "--no-trunc", "--quiet"]).lines().any(|line| line == container)
    }
}

/// The parent process that other tests start and kill. Run by itself it has nothing to do.
#[tokio::test(flavor = "multi_thread")]
#[expect(clippy::zombie_processes, reason = "that nobody waits for the child is what is tried")]
async fn a_parent_with_a_server() {
    let Some(role) = std::env::var(ROLE).ok() else { return };
    let (source, role) = role.split_once('-').expect("a source and what to do");
    let source = Source::choose(source, None).expect("a source");
    let leash = leash();
    let server = Server::start(&source, &StartOptions::default(), &leash, &silent).await.expect("a server");
    let mut child = Command::new("sleep");
    let child = leash.spawn(child.arg("1000")).expect("a child");
    println!("SERVER {} {}", server.admin_url(), child.id());
    match role {
        "hang" => std::future::pending().await,
        "panic" => panic!("as asked"),
        _ => drop(server),
    }
}

/// Another process with a server and a child.
struct Parent {
    process: Child,
    url: String,
    server: u32,
    child: u32,
}

impl Parent {
    fn start(role: &str, user: Option<u32>, place: &Path) -> Self {
        Self::start_on("local", role, user, place).expect("the parent says where its server is")
    }

    /// Starts this test program again as a parent with a server, as the given user. None when it got no server.
    fn start_on(source: &str, role: &str, user: Option<u32>, place: &Path) -> Option<Self> {
        let mut this = std::env::current_exe().expect("this program");
        let mut onejob = PathBuf::from(env!("CARGO_BIN_EXE_onejob"));
        if user.is_some() {
            // The build's folder may be closed to other users.
            for program in [&mut this, &mut onejob] {
                let copy = place.join(program.file_name().expect("a name"));
                fs::copy(&*program, &copy).expect("copied");
                *program = copy;
            }
        }
        let mut command = Command::new(this);
        command
            .env(PROGRAM, onejob)
            .args(["--exact", "postgres::a_parent_with_a_server", "--nocapture"])
            .env(ROLE, format!("{source}-{role}"))
            .current_dir(place)
            .process_group(0)
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        if let Some(user) = user {
            command.uid(user).gid(user).env("HOME", place).env_remove("XDG_CACHE_HOME");
        }
        let mut process = command.spawn().expect("a second test process");
        let lines = BufReader::new(process.stdout.take().expect("piped")).lines();
        let told = lines
            .map_while(Result::ok)
            .find_map(|line| line.split_once("SERVER ").map(|(_, rest)| rest.to_owned()));
        let Some(told) = told else {
            drop(process.wait());
            return None;
        };
        let (url, child) = told.split_once(' ').expect("a URL and a process");
        // A parent that ends at once may have cleaned up before we look.
        let server = if source == "local" && role == "hang" { server_process(&folder_of(url)) } else { 0 };
        let child = child.parse().expect("a process id");
        Some(Self { process, url: url.to_owned(), server, child })
    }

    fn folder(&self) -> PathBuf {
        folder_of(&self.url)
    }

    fn signal(&self, name: &str) {
        let target = format!("-{}", self.process.id());
        let done = Command::new("kill").args([name, "--", &target]).status().expect("kill(1)");
        assert!(done.success());
    }

    fn leaves_nothing(&mut self) {
        drop(self.process.wait());
        eventually("the folder is removed", || !self.folder().exists());
        eventually("the server is gone", || self.server == 0 || is_gone(self.server));
        eventually("the child is gone", || is_gone(self.child));
    }
}

#[test]
fn nothing_stays_when_the_parent_is_killed_without_a_word() {
    let place = tempfile::tempdir().expect("a folder");
    let mut parent = Parent::start("hang", None, place.path());
    assert!(!is_gone(parent.server) && !is_gone(parent.child), "it was there to begin with");
    parent.signal("-KILL");
    parent.leaves_nothing();
}

#[test]
fn nothing_stays_after_ctrl_c_to_the_whole_group() {
    let place = tempfile::tempdir().expect("a folder");
    let mut parent = Parent::start("hang", None, place.path());
    parent.signal("-INT");
    parent.leaves_nothing();
}

#[test]
fn nothing_stays_after_a_panic_and_after_a_plain_end() {
    for role in ["panic", "end"] {
        let place = tempfile::tempdir().expect("a folder");
        Parent::start(role, None, place.path()).leaves_nothing();
    }
}

#[test]
fn a_server_whose_watchdog_was_killed_too_is_swept_by_the_next_run() {
    let place = tempfile::tempdir().expect("a folder");
    let mut parent = Parent::start("hang", None, place.path());
    let watchdog = children_of(parent.process.id())
        .into_iter()
        .find(|id| *id != parent.server && *id != parent.child)
        .expect("the watchdog");
    drop(Command::new("kill").args(["-KILL", &watchdog.to_string()]).status());
    parent.signal("-KILL");
    drop(parent.process.wait());
    assert!(
        parent.folder().exists() && !is_gone(parent.server),
        "with its watchdog dead, the server lives on"
    );
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let next = leash();
    drop(runtime.block_on(local(&next, &StartOptions::default())));
    assert!(!parent.folder().exists(), "the next run did not sweep {}", parent.folder().display());
    eventually("the server is gone", || is_gone(parent.server));
    drop(Command::new("kill").args(["-KILL", &parent.child.to_string()]).status());
}

fn children_of(parent: u32) -> Vec<u32> {
    let list =
        Command::new("ps").args(["-o", "pid=", "--ppid", &parent.to_string()]).output().expect("ps(1)");
    String::from_utf8_lossy(&list.stdout).lines().filter_map(|line| line.trim().parse().ok()).collect()
}

/// As root, the whole of it again as an ordinary user; an ordinary user has seen it in the other tests.
#[test]
fn an_ordinary_user_gets_a_server_too() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let place = tempfile::tempdir_in("/tmp").expect("a folder");
    std::os::unix::fs::chown(place.path(), Some(NOBODY), Some(NOBODY)).expect("given");
    let mut parent = Parent::start("hang", Some(NOBODY), place.path());
    let owner = std::os::unix::fs::MetadataExt::uid(&fs::metadata(parent.folder()).expect("there"));
    assert_eq!(owner, NOBODY);
    assert!(
        place.path().join(".cache/onejob").is_dir(),
        "the prepared data directory is kept for the next run"
    );
    parent.signal("-KILL");
    parent.leaves_nothing();
}
