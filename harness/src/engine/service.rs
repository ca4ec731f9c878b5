//! The service under test as processes: started, watched, stopped.

use std::{
    collections::VecDeque,
    path::PathBuf,
    process::Stdio,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use regex::Regex;
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::{
    io::{AsyncBufReadExt, AsyncRead, BufReader},
    process::Child,
    sync::watch,
    time::{Instant, timeout_at},
};

use super::{
    launch::PORT,
    ready::{self, NotReady},
};
use crate::{
    fail::{Code, Fault},
    gate::Trust,
    leash::Leash,
    target::{Command, Ready},
};

/// How many of the last lines of a replica's output are kept for error messages.
const KEPT_LINES: usize = 30;
/// What a service may take to print its address where the target file doesn't say.
const START_WITHIN: Duration = Duration::from_secs(30);
/// What is waited for the last words of a process that is over.
const LAST_WORDS_WITHIN: Duration = Duration::from_secs(1);
/// What `stop` and `kill` of a target file may take.
const FAREWELL_WITHIN: Duration = Duration::from_secs(30);
/// What a service may take to end after SIGTERM, before SIGKILL.
const DRAIN_WITHIN: Duration = Duration::from_secs(5);

/// One running copy of the service.
#[derive(Debug)]
pub struct Replica {
    child: Child,
    pid: u32,
    base: String,
    output: Arc<Output>,
    leash: Leash,
    farewell: Farewell,
}

/// Commands that end what signals to our own child don't reach.
#[derive(Debug)]
struct Farewell {
    stop: Vec<String>,
    kill: Vec<String>,
    env: Vec<(String, String)>,
    folder: Option<PathBuf>,
}

impl Farewell {
    /// Carries one of them out; nothing where there is none.
    async fn say(&self, key: &str, argv: &[String]) -> Result<(), Fault> {
        let [program, arguments @ ..] = argv else { return Ok(()) };
        let mut command = tokio::process::Command::new(program);
        command.args(arguments).envs(self.env.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::null()).kill_on_drop(true);
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
        let failed = |how: String| {
            Fault::new(
                Code::FaultFailed,
                format!("`{key}` of [target.command] did not do its work: {how}"),
                "run it by hand beside a service that was started; it is a list of program and arguments, without a shell",
            )
        };
        let output = tokio::time::timeout(FAREWELL_WITHIN, command.output())
            .await
            .map_err(|_| failed(format!("it ran for more than {} s", FAREWELL_WITHIN.as_secs())))?
            .map_err(|error| failed(error.to_string()))?;
        if output.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        Err(failed(format!("{}\n{}", output.status, said.trim_end())))
    }
}

/// What a replica wrote last, and whether its address was among it.
#[derive(Debug)]
struct Output {
    lines: Mutex<VecDeque<String>>,
    address: watch::Sender<Option<String>>,
    /// Pipes that may still bring something.
    open: watch::Sender<usize>,
}

impl Output {
    /// Waits until all that an ended process wrote has been read. A child of its own may hold its pipes open for ever.
    async fn whole(&self) {
        let mut open = self.open.subscribe();
        let _ = tokio::time::timeout(LAST_WORDS_WITHIN, open.wait_for(|open| *open == 0)).await;
    }
}

/// All that is needed to start a replica.
#[derive(Debug, Clone)]
pub struct Launch {
    /// Program and arguments, placeholders replaced.
    pub argv: Vec<String>,
    /// Environment on top of ours.
    pub env: Vec<(String, String)>,
    /// Working folder.
    pub folder: Option<PathBuf>,
    /// Finds the base URL in the output.
    pub address: Option<Regex>,
    /// Base URL where the service doesn't print one.
    pub base: Option<String>,
    /// When it is ready.
    pub ready: Option<Ready>,
    /// Whom to trust there.
    pub trust: Trust,
    /// Stops it, where a signal to its processes doesn't.
    pub stop: Vec<String>,
    /// Kills it, likewise.
    pub kill: Vec<String>,
}

impl Launch {
    /// From the target file's section and its rendered arguments.
    pub fn of(command: &Command, argv: Vec<String>, env: Vec<(String, String)>) -> Result<Self, Fault> {
        let address = command.address.as_deref().map(Regex::new).transpose().map_err(|error| {
            Fault::new(
                Code::TargetAddress,
                format!("`address` in [target.command] is no regular expression: {error}"),
                "give a regular expression whose first group is the base URL",
            )
        })?;
        Ok(Self {
            argv,
            env,
            folder: command.folder.as_ref().map(PathBuf::from),
            address,
            base: None,
            ready: None,
            trust: Trust::default(),
            stop: Vec::new(),
            kill: Vec::new(),
        })
    }

    /// Starts one replica and waits until it is ready.
    pub async fn start(&self, leash: &Leash) -> Result<Replica, Fault> {
        let within = self.ready.as_ref().map_or(START_WITHIN, |ready| ready.within.0);
        let deadline = Instant::now() + within;
        let launch = self.at_a_port()?;
        let mut replica = launch.spawn(leash)?;
        replica.base = match (&launch.address, &launch.base) {
            (Some(_), _) => replica.printed_address(deadline).await?,
            (None, Some(base)) => base.clone(),
            (None, None) => {
                return Err(Fault::new(
                    Code::TargetIncomplete,
                    "the target's command starts a service, but nothing says where it listens",
                    "give `address` in [target.command] (a regular expression on its output) or `base` in [target]",
                ));
            }
        };
        match &self.ready {
            Some(ready) => replica.become_ready((ready, &self.trust), deadline).await?,
            // A service that printed its address listens there; of another one only its socket tells.
            None if self.address.is_none() => replica.listens(&self.trust, deadline).await?,
            None => {}
        }
        Ok(replica)
    }

    /// With a free port wherever the target file has `{port}`.
    fn at_a_port(&self) -> Result<Self, Fault> {
        let mut launch = self.clone();
        let env = self.env.iter().map(|(_, value)| value);
        if !self.argv.iter().chain(env).chain(&self.base).any(|text| text.contains(PORT)) {
            return Ok(launch);
        }
        // Let go before the service takes it: the kernel hands ports out in turn, so nobody else gets it meanwhile.
        let port = std::net::TcpListener::bind("127.0.0.1:0")
            .and_then(|listener| listener.local_addr())
            .map_err(|error| {
                Fault::new(
                    Code::TargetProgram,
                    "there is no free port for the service",
                    "close some connections",
                )
                .because(error)
            })?
            .port();
        let env = launch.env.iter_mut().map(|(_, value)| value);
        let farewells = launch.stop.iter_mut().chain(&mut launch.kill);
        for text in launch.argv.iter_mut().chain(farewells).chain(env).chain(&mut launch.base) {
            *text = text.replace(PORT, &port.to_string());
        }
        Ok(launch)
    }

    fn spawn(&self, leash: &Leash) -> Result<Replica, Fault> {
        let [program, arguments @ ..] = self.argv.as_slice() else {
            return Err(Fault::new(
                Code::TargetIncomplete,
                "`start` in [target.command] is empty",
                "give the program and its arguments as a list",
            ));
        };
        let mut command = tokio::process::Command::new(program);
        command
            .args(arguments)
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
        leash.prepare(command.as_std_mut());
        let mut child = command.spawn().map_err(|error| {
            Fault::new(
                Code::TargetProgram,
                format!("the service could not be started: `{program}`"),
                "check `start` in [target.command]: program and arguments are a list, and no shell is involved",
            )
            .because(error)
        })?;
        let pid = child.id().unwrap_or_default();
        leash.hold_group(pid).map_err(|error| {
            Fault::new(Code::Leash, "the service could not be put on the leash", "run again").because(error)
        })?;
        let output = Arc::new(Output {
            lines: Mutex::new(VecDeque::new()),
            address: watch::Sender::new(None),
            open: watch::Sender::new(0),
        });
        let readers = [
            child.stdout.take().map(|pipe| Box::new(pipe) as Box<dyn AsyncRead + Send + Unpin>),
            child.stderr.take().map(|pipe| Box::new(pipe) as Box<dyn AsyncRead + Send + Unpin>),
        ];
        for reader in readers.into_iter().flatten() {
            output.open.send_modify(|open| *open += 1);
            tokio::spawn(listen(reader, output.clone(), self.address.clone()));
        }
        let farewell = Farewell {
            stop: self.stop.clone(),
            kill: self.kill.clone(),
            env: self.env.clone(),
            folder: self.folder.clone(),
        };
        Ok(Replica { child, pid, base: String::new(), output, leash: leash.clone(), farewell })
    }
}

async fn listen(reader: Box<dyn AsyncRead + Send + Unpin>, output: Arc<Output>, address: Option<Regex>) {
    let mut lines = BufReader::new(reader).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let found =
            address.as_ref().and_then(|address| address.captures(&line)).and_then(|found| found.get(1));
        let found = found.map(|found| found.as_str().trim_end_matches('/').to_owned());
        {
            let mut kept = output.lines.lock().unwrap_or_else(PoisonError::into_inner);
            if kept.len() == KEPT_LINES {
                kept.pop_front();
            }
            kept.push_back(line);
        }
        if found.is_some() {
            output.address.send_if_modified(|known| {
                let first = known.is_none();
                if first {
                    *known = found;
                }
                first
            });
        }
    }
    output.open.send_modify(|open| *open = open.saturating_sub(1));
}

impl Replica {
    /// Its base URL, without a slash at the end.
    #[must_use]
    pub fn base(&self) -> &str {
        &self.base
    }

    /// What it wrote last.
    #[must_use]
    pub fn last_output(&self) -> String {
        let lines = self.output.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let lines: Vec<String> = lines.iter().map(|line| format!("    {line}\n")).collect();
        lines.concat()
    }

    /// Its process id, which is its group's too.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Whether it still runs.
    pub fn runs(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    async fn printed_address(&mut self, deadline: Instant) -> Result<String, Fault> {
        let mut address = self.output.address.subscribe();
        let printed = timeout_at(deadline, address.wait_for(Option::is_some));
        let ended = tokio::select! {
            printed = printed => match printed {
                Ok(Ok(found)) => return Ok(found.clone().unwrap_or_default()),
                Ok(Err(_)) | Err(_) => false,
            },
            _ = self.child.wait() => true,
        };
        if ended {
            return Err(self.ended_at_start().await);
        }
        Err(Fault::new(
            Code::TargetNoAddress,
            format!("the service printed no address in time\nits output:\n{}", self.last_output()),
            "`address` in [target.command] is a regular expression whose first group is the base URL",
        ))
    }

    async fn ended_at_start(&mut self) -> Fault {
        let how = self.child.wait().await.map_or_else(|error| error.to_string(), |status| status.to_string());
        self.output.whole().await;
        Fault::new(
            Code::TargetExited,
            format!(
                "the service ended while it was being started ({how})\nits output:\n{}",
                self.last_output()
            ),
            "run the command of [target.command] by hand with the same arguments",
        )
    }

    /// Waits until it takes connections.
    async fn listens(&mut self, trust: &Trust, deadline: Instant) -> Result<(), Fault> {
        let base = self.base.clone();
        match ready::listens((&base, trust), deadline, || !self.runs()).await {
            Ok(()) => Ok(()),
            Err(NotReady::Ended) => Err(self.ended_at_start().await),
            Err(NotReady::TimedOut(last)) => Err(Fault::new(
                Code::TargetNeverReady,
                format!(
                    "the service was started and takes no connections at {base}: {last}\nits output:\n{}",
                    self.last_output()
                ),
                "check that `base` in [target] is where the command listens: `{port}` in both is a free port",
            )),
        }
    }

    async fn become_ready(
        &mut self,
        (ready, trust): (&Ready, &Trust),
        deadline: Instant,
    ) -> Result<(), Fault> {
        let base = self.base.clone();
        match ready::wait((&base, trust), ready, deadline, || !self.runs()).await {
            Ok(()) => Ok(()),
            Err(NotReady::Ended) => Err(self.ended_at_start().await),
            Err(NotReady::TimedOut(last)) => Err(Fault::new(
                Code::TargetNeverReady,
                format!(
                    "the service did not get ready: {base}{}: {last}\nits output:\n{}",
                    ready.get,
                    self.last_output()
                ),
                "check `ready` in [target], and that the service's own dependencies are up",
            )),
        }
    }

    /// Sends a signal to its whole process group.
    pub fn signal(&self, signal: Signal) {
        if let Some(pid) = i32::try_from(self.pid).ok().and_then(Pid::from_raw) {
            // An error means that the group is gone, which is what every signal but CONT is after.
            let _ = kill_process_group(pid, signal);
        }
    }

    /// Ends it: asks first, kills after a while.
    pub async fn stop(mut self) -> Result<(), Fault> {
        let said = self.farewell.say("stop", &self.farewell.stop).await;
        self.signal(Signal::TERM);
        if tokio::time::timeout(DRAIN_WITHIN, self.child.wait()).await.is_err() {
            self.signal(Signal::KILL);
            drop(self.child.wait().await);
        }
        self.leash.release_group(self.pid);
        said
    }

    /// Kills it, with no chance to clean up, and waits until it is gone. What that leaves lying about, `stop` takes away.
    pub async fn kill(mut self) -> Result<(), Fault> {
        let killed = self.farewell.say("kill", &self.farewell.kill).await;
        self.signal(Signal::KILL);
        drop(self.child.wait().await);
        self.leash.release_group(self.pid);
        let stopped = self.farewell.say("stop", &self.farewell.stop).await;
        killed.and(stopped)
    }
}
