use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::held::Order;
use super::processes::MARK_VARIABLE;
use super::watch::READY;
use super::{Held, LeashError};

/// The hidden subcommand that turns the program into a watchdog; it has to call [`watch`](super::watch).
pub const SUBCOMMAND: &str = "leash";

/// A process that links the standard library and prints one line needs milliseconds; this is for a machine on its knees.
const READY_WITHIN: Duration = Duration::from_secs(20);

/// The hold on everything that a run has started.
///
/// Clones share one watchdog. When the last one is dropped, or this process ends in whatever way, the watchdog kills
/// and removes what is still held.
#[derive(Debug, Clone)]
pub struct Leash(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    mark: String,
    /// None where nothing is ever held.
    watchdog: Option<Mutex<Child>>,
    orders: Mutex<Option<ChildStdin>>,
}

impl Leash {
    /// Starts the watchdog: `program` with the argument [`SUBCOMMAND`]. Returns once it has said that it watches.
    pub fn start(program: &Path) -> Result<Self, LeashError> {
        let mut child = Command::new(program)
            .arg(SUBCOMMAND)
            .env_remove(MARK_VARIABLE)
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            // A group of its own: Ctrl-C goes to the terminal's foreground group, and the watchdog must outlive it.
            .process_group(0)
            .spawn()
            .map_err(|cause| LeashError::Start { program: program.to_owned(), cause })?;
        if !says_ready(&mut child) {
            drop(child.kill());
            drop(child.wait());
            return Err(LeashError::NotAWatchdog { program: program.to_owned() });
        }
        let leash = Self(Arc::new(Inner {
            mark: uuid::Uuid::new_v4().simple().to_string(),
            orders: Mutex::new(child.stdin.take()),
            watchdog: Some(Mutex::new(child)),
        }));
        leash.order(&Order::Mark(leash.0.mark.clone()))?;
        Ok(leash)
    }

    /// A leash without a watchdog, for runs that start nothing. What is held all the same dies with its handle only.
    #[must_use]
    pub fn idle() -> Self {
        Self(Arc::new(Inner {
            mark: uuid::Uuid::new_v4().simple().to_string(),
            orders: Mutex::new(None),
            watchdog: None,
        }))
    }

    /// Starts a child in a process group of its own and holds that group.
    ///
    /// The child is marked too, so that even a kill between its start and the hold does not leave it behind.
    pub fn spawn(&self, command: &mut Command) -> Result<Child, LeashError> {
        self.prepare(command);
        let mut child = command.spawn().map_err(|cause| LeashError::Spawn {
            program: command.get_program().to_string_lossy().into_owned(),
            cause,
        })?;
        if let Err(error) = self.hold_group(child.id()) {
            drop(child.kill());
            drop(child.wait());
            return Err(error);
        }
        Ok(child)
    }

    /// Gives a command a process group of its own and this run's mark. What [`spawn`](Self::spawn) does first, for
    /// callers that start the child themselves (`tokio::process::Command::as_std_mut`) and then call
    /// [`hold_group`](Self::hold_group) with its process id.
    pub fn prepare(&self, command: &mut Command) {
        command.process_group(0).env(MARK_VARIABLE, &self.0.mark);
    }

    /// The environment variable and value that mark the children of this run.
    #[must_use]
    pub fn mark(&self) -> (&'static OsStr, &str) {
        (OsStr::new(MARK_VARIABLE), &self.0.mark)
    }

    /// Holds a process group by its leader's process id.
    pub fn hold_group(&self, leader: u32) -> Result<(), LeashError> {
        self.hold(Held::Group { leader, quit_first: false })
    }

    /// Lets a process group go. Call it once the leader has ended and **before** its process id can be given to
    /// somebody else, which is when it is waited for.
    pub fn release_group(&self, leader: u32) {
        self.release(Held::Group { leader, quit_first: false });
    }

    /// Holds a folder: an absolute path, at least two levels deep.
    pub fn hold_dir(&self, path: &Path) -> Result<(), LeashError> {
        self.hold(Held::dir(path)?)
    }

    /// Lets a folder go.
    pub fn release_dir(&self, path: &Path) {
        self.release(Held::Dir { path: path.to_owned() });
    }

    /// Holds anything.
    pub fn hold(&self, held: Held) -> Result<(), LeashError> {
        self.order(&Order::Hold(held))
    }

    /// Lets it go again. A watchdog that is gone has nothing to release, so this can't fail.
    pub fn release(&self, held: Held) {
        drop(self.order(&Order::Release(held)));
    }

    /// The watchdog's process id; none where there is no watchdog.
    #[must_use]
    pub fn watchdog_id(&self) -> Option<u32> {
        let watchdog = self.0.watchdog.as_ref()?;
        Some(watchdog.lock().unwrap_or_else(PoisonError::into_inner).id())
    }

    fn order(&self, order: &Order) -> Result<(), LeashError> {
        if self.0.watchdog.is_none() {
            return Ok(());
        }
        let gone = |cause| LeashError::Gone { cause };
        let mut line = serde_json::to_vec(order).map_err(|error| gone(io::Error::other(error)))?;
        line.push(b'\n');
        let mut orders = self.0.orders.lock().unwrap_or_else(PoisonError::into_inner);
        let pipe = orders.as_mut().ok_or_else(|| gone(io::ErrorKind::BrokenPipe.into()))?;
        pipe.write_all(&line).map_err(gone)
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // The end of its input is the watchdog's order to clean up; it has deadlines of its own, so this returns.
        drop(self.orders.get_mut().unwrap_or_else(PoisonError::into_inner).take());
        if let Some(watchdog) = &mut self.watchdog {
            drop(watchdog.get_mut().unwrap_or_else(PoisonError::into_inner).wait());
        }
    }
}

fn says_ready(child: &mut Child) -> bool {
    let Some(stdout) = child.stdout.take() else { return false };
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || {
        let mut line = String::new();
        let read = BufReader::new(stdout).read_line(&mut line);
        let _ = tell.send(read.is_ok() && line.trim_end() == READY);
    });
    told.recv_timeout(READY_WITHIN).unwrap_or(false)
}
