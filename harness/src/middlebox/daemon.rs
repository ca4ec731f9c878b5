use std::{
    fs, io,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use tokio::{net::UnixStream, time::Instant};

use super::{MiddleboxError, Program};
use crate::{
    leash::{Leash, end_group},
    postgres::{Account, Environment, Scratch, give, run_as},
};

const PREFIX: &str = "onejob-mb-";
const READY_WITHIN: Duration = Duration::from_secs(15);
/// Nobody tells when a foreign program listens: a look costs less than a thousandth of its start.
const LOOK: Duration = Duration::from_millis(1);

/// A folder for one such program: its configuration, its socket, its log.
#[derive(Debug)]
pub(super) struct Workplace {
    program: Program,
    account: Option<Account>,
    scratch: Scratch,
}

/// One such program while it runs. Dropping it ends it, and its folder goes with it.
#[derive(Debug)]
pub(super) struct Daemon {
    child: Child,
    leash: Leash,
    // Last: the folder goes after the process has.
    workplace: Workplace,
}

impl Workplace {
    /// `account` is whom it belongs to, where that isn't ourselves.
    pub(super) fn new(
        program: Program,
        account: Option<Account>,
        leash: &Leash,
    ) -> Result<Self, MiddleboxError> {
        let environment = Environment::of_this_process();
        for dead in Scratch::dead(&environment, PREFIX) {
            dead.remove();
        }
        let scratch = Scratch::new(&environment, PREFIX, true, leash)?;
        let workplace = Self { program, account, scratch };
        workplace.given(workplace.folder())?;
        Ok(workplace)
    }

    pub(super) fn folder(&self) -> &Path {
        self.scratch.path()
    }

    /// Writes a file that nobody else can read.
    pub(super) fn write(&self, name: &str, text: &str) -> Result<PathBuf, MiddleboxError> {
        use std::{io::Write as _, os::unix::fs::OpenOptionsExt as _};

        let path = self.folder().join(name);
        let written = fs::File::options()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&path)
            .and_then(|mut file| file.write_all(text.as_bytes()));
        written.map_err(|cause| MiddleboxError::Folder { path: path.clone(), cause })?;
        self.given(&path)?;
        Ok(path)
    }

    fn given(&self, path: &Path) -> Result<(), MiddleboxError> {
        give(path, self.account.as_ref())
            .map_err(|cause| MiddleboxError::Folder { path: path.to_owned(), cause })
    }

    fn log(&self) -> PathBuf {
        self.folder().join("log")
    }

    /// Starts the program; returns when it listens on `socket`, a name in the folder.
    pub(super) async fn start(
        self,
        arguments: &[&str],
        socket: &str,
        leash: &Leash,
    ) -> Result<Daemon, MiddleboxError> {
        let program = self.program;
        let path = program.find().ok_or(MiddleboxError::Absent(program))?;
        let start = |cause: io::Error| MiddleboxError::Start { program, cause };
        let out = fs::File::options().create(true).append(true).open(self.log()).map_err(start)?;
        let err = out.try_clone().map_err(start)?;
        let mut command = Command::new(path);
        command.args(arguments).current_dir(self.folder()).stdin(Stdio::null()).stdout(out).stderr(err);
        run_as(&mut command, self.account.as_ref());
        let child = leash.spawn(&mut command)?;
        let mut daemon = Daemon { child, leash: leash.clone(), workplace: self };
        daemon.listens_on(socket).await?;
        Ok(daemon)
    }
}

impl Daemon {
    pub(super) fn folder(&self) -> &Path {
        self.workplace.folder()
    }

    async fn listens_on(&mut self, socket: &str) -> Result<(), MiddleboxError> {
        let path = self.folder().join(socket);
        let deadline = Instant::now() + READY_WITHIN;
        while UnixStream::connect(&path).await.is_err() {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return Err(self.unready("ended while it was starting"));
            }
            if Instant::now() >= deadline {
                return Err(self.unready("did not get ready in time"));
            }
            tokio::time::sleep(LOOK).await;
        }
        Ok(())
    }

    fn unready(&self, what: &'static str) -> MiddleboxError {
        let log = fs::read(self.workplace.log()).unwrap_or_default();
        let log = String::from_utf8_lossy(&log).trim_end().to_owned();
        MiddleboxError::Unready { program: self.workplace.program, what, log }
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            // Nothing that it holds is worth a farewell.
            end_group(self.child.id(), Duration::ZERO);
            drop(self.child.wait());
        }
        self.leash.release_group(self.child.id());
    }
}
