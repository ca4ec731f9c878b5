//! A private Postgres for the whole test binary, and a database of its own for each test.
//!
//! `ONEJOB_TEST_DATABASE_URL` names a server to use instead. Without either, tests fail.

use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::str::FromStr as _;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, Executor as _};

struct Cluster {
    admin: String,
    /// The names of this run's databases start with it.
    prefix: String,
    /// Closing its stdin, which the end of this process does in any case, ends the server.
    _watchdog: Option<Child>,
}

/// The URL of a fresh, migrated database.
pub(crate) async fn database() -> String {
    static CLUSTER: OnceLock<Cluster> = OnceLock::new();
    static TEMPLATE: tokio::sync::OnceCell<String> = tokio::sync::OnceCell::const_new();
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let cluster =
        tokio::task::spawn_blocking(|| CLUSTER.get_or_init(start)).await.expect("a Postgres server");
    let template = TEMPLATE
        .get_or_init(|| async {
            let name = format!("{}_template", cluster.prefix);
            run(&cluster.admin, format!("CREATE DATABASE {name}")).await;
            onejob_reference::migrate(&within(&cluster.admin, &name)).await.expect("migrations apply");
            name
        })
        .await;
    let name = format!("{}_{}", cluster.prefix, NUMBER.fetch_add(1, Ordering::Relaxed));
    run(&cluster.admin, format!("CREATE DATABASE {name} TEMPLATE {template}")).await;
    within(&cluster.admin, &name)
}

async fn run(url: &str, statement: String) {
    let options = PgConnectOptions::from_str(url).expect("a valid URL");
    let mut connection = options.connect().await.expect("the server accepts connections");
    connection.execute(AssertSqlSafe(statement)).await.expect("the statement runs");
    connection.close().await.expect("the connection closes");
}

fn within(url: &str, database: &str) -> String {
    let (head, query) = url.split_once('?').map_or((url, None), |(head, query)| (head, Some(query)));
    let slash = head.rfind('/').expect("a URL with a database");
    let query = query.map(|query| format!("?{query}")).unwrap_or_default();
    format!("{}/{database}{query}", &head[..slash])
}

fn start() -> Cluster {
    let prefix = format!("onejob_it_{}", std::process::id());
    if let Ok(admin) = std::env::var("ONEJOB_TEST_DATABASE_URL") {
        return Cluster { admin, prefix, _watchdog: None };
    }
    let bin = programs().expect(
        "no Postgres: set ONEJOB_TEST_DATABASE_URL, or install the server (Debian: apt-get install postgresql)",
    );
    let folder = std::env::temp_dir().join(format!("ojr{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o700)).expect("a private folder");
    let user = other_user();
    if let Some((uid, gid)) = user {
        chown(&folder, Some(uid), Some(gid)).expect("the folder changes hands");
    }
    let command = |program: &str| {
        let mut command = Command::new(bin.join(program));
        command.current_dir(&folder).stdin(Stdio::null());
        if let Some((uid, gid)) = user {
            command.gid(gid).uid(uid);
        }
        command
    };
    let data = folder.join("data");
    let made = command("initdb")
        .args(["--no-sync", "--auth=trust", "--username=postgres", "--encoding=UTF8", "--locale=C", "-D"])
        .arg(&data)
        .output()
        .expect("initdb runs");
    assert!(made.status.success(), "initdb: {}", String::from_utf8_lossy(&made.stderr));
    let log = std::fs::File::create(folder.join("log")).expect("a log file");
    // The watchdog ends it; waiting for it here would keep this process from ending.
    #[expect(clippy::zombie_processes, reason = "the server ends after this process")]
    let server = command("postgres")
        .arg("-D")
        .arg(&data)
        .args(["-k", folder.to_str().expect("a plain path"), "-c", "listen_addresses=", "-c", "fsync=off"])
        .args(["-c", "synchronous_commit=off", "-c", "full_page_writes=off", "-c", "max_connections=400"])
        .process_group(0)
        .stdout(log.try_clone().expect("the log file again"))
        .stderr(log)
        .spawn()
        .expect("postgres runs");
    let watchdog = watch(server.id(), &folder);
    let pid_file = data.join("postmaster.pid");
    let patience = Instant::now() + Duration::from_secs(20);
    while !std::fs::read_to_string(&pid_file)
        .is_ok_and(|text| text.lines().nth(7).is_some_and(|l| l.trim() == "ready"))
    {
        assert!(Instant::now() < patience, "postgres is not ready: see {}", folder.join("log").display());
        std::thread::sleep(Duration::from_millis(2));
    }
    let admin = format!("postgres://postgres@localhost/postgres?host={}", folder.display());
    Cluster { admin, prefix, _watchdog: Some(watchdog) }
}

/// Ends the server and removes its folder as soon as this process is gone, however it went.
fn watch(server: u32, folder: &Path) -> Child {
    let script = format!("read _; kill -QUIT {server}; sleep 0.2; rm -rf '{}'", folder.display());
    let mut watchdog = Command::new("/bin/sh")
        .args(["-c", &script])
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("a shell");
    watchdog.stdin.as_mut().expect("it was piped").flush().expect("the pipe is open");
    watchdog
}

/// Where the server's programs are.
fn programs() -> Option<PathBuf> {
    let mut places: Vec<PathBuf> = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path().join("bin")))
        .collect();
    places.sort();
    places.reverse();
    places.extend(std::env::var_os("PATH").iter().flat_map(std::env::split_paths));
    places.into_iter().find(|place| place.join("initdb").is_file() && place.join("postgres").is_file())
}

/// Postgres refuses to run as root: then it runs as `postgres`, else as `nobody`.
fn other_user() -> Option<(u32, u32)> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let uid = status.lines().find_map(|line| line.strip_prefix("Uid:"))?.split_whitespace().nth(1)?;
    if uid != "0" {
        return None;
    }
    let users = std::fs::read_to_string("/etc/passwd").expect("a user database");
    let ids = |name: &str| {
        let line = users.lines().find(|line| line.split(':').next() == Some(name))?;
        let mut parts = line.split(':').skip(2);
        Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
    };
    Some(ids("postgres").or_else(|| ids("nobody")).expect("another user than root"))
}
