use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tokio::sync::Mutex;

use super::account::Account;
use super::blocking::blocking;
use super::prepared::{Prepared, copy_tree, give, run_as};
use super::programs::Programs;
use super::scratch::Scratch;
use super::settings::{access_file, config_file};
use super::{Environment, Halt, PostgresError, StartOptions};
use crate::leash::{Held, Leash, end_group};

const PREFIX: &str = "onejob-pg-";
const READY_WITHIN: Duration = Duration::from_secs(30);
const QUIT_WITHIN: Duration = Duration::from_secs(3);
/// Postgres writes its readiness into a file and tells nobody: a look a millisecond costs nothing beside its start.
const LOOK: Duration = Duration::from_millis(1);
const PORT_TRIES: usize = 5;

/// A private server from the machine's own programs. It and its folder are gone when this is dropped.
#[derive(Debug)]
pub(super) struct Cluster {
    programs: Programs,
    account: Option<Account>,
    tcp_port: Option<u16>,
    server: Mutex<Option<Postmaster>>,
    leash: Leash,
    // Last: the folder goes after the server has.
    scratch: Scratch,
}

impl Cluster {
    pub(super) async fn start(
        environment: &Environment,
        options: &StartOptions,
        leash: &Leash,
    ) -> Result<Self, PostgresError> {
        let (environment, options, leash) = (environment.clone(), options.clone(), leash.clone());
        let (mut cluster, prepared, from_kept) = blocking({
            let (options, leash) = (options.clone(), leash.clone());
            move || Self::lay_out(&environment, &options, &leash)
        })
        .await?;
        match cluster.first_start(&options).await {
            Ok(()) => Ok(cluster),
            Err(PostgresError::Cluster { .. }) if from_kept => {
                // The kept data directory may be what is broken; a new one settles it.
                let mut cluster = blocking(move || {
                    prepared.forget();
                    let data = cluster.data();
                    fs::remove_dir_all(&data)
                        .map_err(|cause| PostgresError::Folder { path: data.clone(), cause })?;
                    prepared.fill(&data, &cluster.programs, cluster.account.as_ref())?;
                    Ok(cluster)
                })
                .await?;
                cluster.first_start(&options).await?;
                Ok(cluster)
            }
            Err(error) => Err(error),
        }
    }

    /// Everything before the server's start: looking, sweeping, copying. Blocks.
    fn lay_out(
        environment: &Environment,
        options: &StartOptions,
        leash: &Leash,
    ) -> Result<(Self, Prepared, bool), PostgresError> {
        let programs = Programs::find(environment)?;
        let account = Account::for_server()?;
        sweep(environment);
        let scratch = Scratch::new(environment, PREFIX, !options.durable, leash)?;
        give(scratch.path(), account.as_ref())
            .map_err(|cause| PostgresError::Folder { path: scratch.path().to_owned(), cause })?;
        let prepared = Prepared::new(&programs, environment);
        let from_kept = prepared.fill(&scratch.path().join("data"), &programs, account.as_ref())?;
        let tcp_port = options.tcp.then_some(0);
        let cluster =
            Self { programs, account, tcp_port, server: Mutex::new(None), leash: leash.clone(), scratch };
        Ok((cluster, prepared, from_kept))
    }

    /// A cluster with a copy of a stopped one's data, and settings of its own. Blocks.
    pub(super) fn copy_of(
        data: &Path,
        programs: Programs,
        environment: &Environment,
        options: &StartOptions,
        leash: &Leash,
    ) -> Result<Self, PostgresError> {
        let account = Account::for_server()?;
        let scratch = Scratch::new(environment, PREFIX, !options.durable, leash)?;
        let failed = |cause| PostgresError::Folder { path: scratch.path().to_owned(), cause };
        give(scratch.path(), account.as_ref()).map_err(failed)?;
        copy_tree(data, &scratch.path().join("data"), account.as_ref()).map_err(failed)?;
        let (server, leash) = (Mutex::new(None), leash.clone());
        let cluster = Self { programs, account, tcp_port: None, server, leash, scratch };
        cluster.configure(options)?;
        Ok(cluster)
    }

    /// Gives a file to the server's user.
    pub(super) fn give(&self, path: &Path) -> std::io::Result<()> {
        give(path, self.account.as_ref())
    }

    async fn first_start(&mut self, options: &StartOptions) -> Result<(), PostgresError> {
        let mut tries = 0;
        loop {
            tries += 1;
            if options.tcp {
                self.tcp_port = Some(free_port()?);
            }
            self.configure(options)?;
            match self.resume().await {
                // Somebody else took the port between our look and the server's.
                Err(PostgresError::Cluster { log, .. })
                    if options.tcp && tries < PORT_TRIES && log.contains("could not bind") => {}
                Err(error) => return Err(error),
                Ok(()) => return Ok(()),
            }
        }
    }

    fn configure(&self, options: &StartOptions) -> Result<(), PostgresError> {
        let files = [
            ("postgresql.conf", config_file(options, self.socket_folder(), self.port())),
            ("pg_hba.conf", access_file(options.tcp)),
        ];
        for (name, text) in files {
            let path = self.data().join(name);
            fs::write(&path, text)
                .and_then(|()| give(&path, self.account.as_ref()))
                .map_err(|cause| PostgresError::Folder { path, cause })?;
        }
        Ok(())
    }

    pub(super) fn programs(&self) -> &Programs {
        &self.programs
    }

    pub(super) fn account(&self) -> Option<&str> {
        self.account.as_ref().map(|account| account.name.as_str())
    }

    pub(super) fn socket_folder(&self) -> &Path {
        self.scratch.path()
    }

    /// The number in the socket's name, and the TCP port where there is one.
    pub(super) fn port(&self) -> u16 {
        self.tcp_port.unwrap_or(5432)
    }

    pub(super) fn data(&self) -> PathBuf {
        self.scratch.path().join("data")
    }

    fn log_file(&self) -> PathBuf {
        self.scratch.path().join("postgres.log")
    }

    /// Stops the server; fine when it isn't running.
    pub(super) async fn halt(&self, how: Halt) -> Result<(), PostgresError> {
        let Some(mut server) = self.server.lock().await.take() else { return Ok(()) };
        server.signal(how);
        let deadline = Instant::now() + READY_WITHIN;
        while server.is_running() {
            if Instant::now() >= deadline {
                return Err(self.trouble("did not stop"));
            }
            tokio::time::sleep(LOOK).await;
        }
        Ok(())
    }

    /// Starts the server and returns when it takes connections; fine when it runs already.
    pub(super) async fn resume(&self) -> Result<(), PostgresError> {
        let mut slot = self.server.lock().await;
        if slot.as_mut().is_some_and(Postmaster::is_running) {
            return Ok(());
        }
        *slot = None;
        let mut server = self.spawn()?;
        let deadline = Instant::now() + READY_WITHIN;
        loop {
            if fs::read_to_string(self.data().join("postmaster.pid"))
                .is_ok_and(|file| says_ready(&file, server.id()))
            {
                *slot = Some(server);
                return Ok(());
            }
            if !server.is_running() {
                return Err(self.trouble("ended while it was starting"));
            }
            if Instant::now() >= deadline {
                return Err(self.trouble(&format!("was not ready within {} s", READY_WITHIN.as_secs())));
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    fn spawn(&self) -> Result<Postmaster, PostgresError> {
        let log = self.log_file();
        let failed = |cause| PostgresError::Folder { path: log.clone(), cause };
        let out = fs::File::options().create(true).append(true).open(&log).map_err(failed)?;
        let err = out.try_clone().map_err(failed)?;
        let mut command = Command::new(self.programs.folder.join("postgres"));
        command
            .arg("-D")
            .arg(self.data())
            .current_dir(self.scratch.path())
            .env("LC_ALL", "C")
            .env_remove("PGDATA")
            .stdin(Stdio::null())
            .stdout(out)
            .stderr(err);
        run_as(&mut command, self.account.as_ref());
        self.leash.prepare(&mut command);
        let child = command.spawn().map_err(|error| PostgresError::Cluster {
            what: format!("could not be started: {error}"),
            log: String::new(),
        })?;
        let server = Postmaster { child, leash: self.leash.clone() };
        self.leash.hold(server.held())?;
        Ok(server)
    }

    fn trouble(&self, what: &str) -> PostgresError {
        let log = fs::read(self.log_file()).unwrap_or_default();
        PostgresError::Cluster { what: what.to_owned(), log: String::from_utf8_lossy(&log).into_owned() }
    }
}

/// The running server process. Dropping it ends it.
#[derive(Debug)]
struct Postmaster {
    child: Child,
    leash: Leash,
}

impl Postmaster {
    fn id(&self) -> u32 {
        self.child.id()
    }

    fn held(&self) -> Held {
        Held::Group { leader: self.id(), quit_first: true }
    }

    fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    fn signal(&mut self, how: Halt) {
        let signal = match how {
            Halt::Clean => Signal::INT,
            Halt::Crash => Signal::QUIT,
        };
        // A child that was waited for has no process id any more, and its number may be somebody else's.
        if self.is_running()
            && let Some(pid) = i32::try_from(self.id()).ok().and_then(Pid::from_raw)
        {
            let _ = kill_process(pid, signal);
        }
    }
}

impl Drop for Postmaster {
    fn drop(&mut self) {
        self.signal(Halt::Crash);
        let deadline = Instant::now() + QUIT_WITHIN;
        while self.is_running() && Instant::now() < deadline {
            std::thread::sleep(LOOK);
        }
        if self.is_running() {
            end_group(self.id(), Duration::ZERO);
            drop(self.child.wait());
        }
        self.leash.release(self.held());
    }
}

/// Line 8 of `postmaster.pid` tells the state; line 1 whose it is, as a crashed server leaves its file behind.
fn says_ready(file: &str, server: u32) -> bool {
    let mut lines = file.lines();
    lines.next().is_some_and(|pid| pid.trim().parse() == Ok(server))
        && lines.nth(6).is_some_and(|state| state.trim() == "ready")
}

fn free_port() -> Result<u16, PostgresError> {
    TcpListener::bind(("127.0.0.1", 0))
        .and_then(|listener| listener.local_addr())
        .map(|address| address.port())
        .map_err(|error| PostgresError::Cluster {
            what: format!("found no free port: {error}"),
            log: String::new(),
        })
}

/// Ends and removes what runs left that were killed together with their watchdog.
fn sweep(environment: &Environment) {
    for dead in Scratch::dead(environment, PREFIX) {
        let data = dead.path().join("data");
        let server = fs::read_to_string(data.join("postmaster.pid"))
            .ok()
            .and_then(|file| file.lines().next()?.trim().parse::<u32>().ok());
        // The number may have become another's; where the server works is proof.
        if let Some(server) = server
            && fs::read_link(format!("/proc/{server}/cwd")).is_ok_and(|cwd| cwd == data)
        {
            end_group(server, QUIT_WITHIN);
        }
        dead.remove();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readiness_is_only_believed_from_the_server_that_was_started() {
        let file = "4711\n/tmp/x/data\n1790000000\n5432\n/tmp/x\n\n  12345  0\nready   \n";
        assert!(says_ready(file, 4711));
        assert!(!says_ready(file, 4712));
        assert!(!says_ready(&file.replace("ready", "starting"), 4711));
        assert!(!says_ready("4711\n", 4711));
    }
}
