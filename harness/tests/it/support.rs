//! What several tests need: a Postgres of their own, and a way to run the program.

use std::{
    ffi::OsStr,
    path::Path,
    process::{Command, Output},
    sync::{OnceLock, mpsc},
};

use onejob::{
    leash::Leash,
    postgres::{Server, Source, StartOptions},
};

/// URL of a database that all tests of this binary share: each makes a schema or a database of its own.
///
/// `ONEJOB_TEST_DATABASE_URL` names one that is there; otherwise programs on this machine are started, once. Without
/// either the test fails: it must not be skipped in silence.
pub fn database() -> String {
    static SHARED: OnceLock<String> = OnceLock::new();
    let start = || {
        std::env::var("ONEJOB_TEST_DATABASE_URL").unwrap_or_else(|_| {
            let (tell, told) = mpsc::channel();
            std::thread::spawn(move || serve_for_ever(&tell));
            told.recv().expect("the shared Postgres server started")
        })
    };
    SHARED.get_or_init(start).clone()
}

/// Owns the server until the process ends; the watchdog ends it then.
fn serve_for_ever(tell: &mpsc::Sender<String>) {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let leash = Leash::start(Path::new(env!("CARGO_BIN_EXE_onejob"))).expect("the watchdog");
        let started = Server::start(&Source::Local, &StartOptions::default(), &leash, &|_: &str| ()).await;
        let server = started.expect("Postgres programs on this machine (see .ci/packages)");
        tell.send(server.url_of("postgres")).expect("a test that waits");
        std::future::pending::<()>().await;
    });
}

/// The program with some arguments, in a folder of its own.
pub struct Onejob {
    folder: tempfile::TempDir,
    command: Command,
}

/// What came of it.
pub struct Outcome {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    folder: tempfile::TempDir,
}

/// Starts building a call of the program.
pub fn onejob<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>) -> Onejob {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = Command::new(env!("CARGO_BIN_EXE_onejob"));
    command.args(arguments).current_dir(folder.path());
    // What the surroundings of the tests ask for is not what a test asks for: it says so itself.
    for variable in ["ONEJOB_DATABASE_URL", "ONEJOB_CI", "CI", "FORCE_COLOR", "CLICOLOR_FORCE"] {
        command.env_remove(variable);
    }
    command.env("NO_COLOR", "1").env("COLUMNS", "100");
    Onejob { folder, command }
}

impl Onejob {
    /// Puts a file into the folder that the program is called in.
    pub fn file(self, name: &str, content: &str) -> Self {
        let path = self.folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, content).expect("a file");
        self
    }

    /// Sets a variable.
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// The command itself, for tests that need the process.
    pub fn into_parts(self) -> (Command, tempfile::TempDir) {
        (self.command, self.folder)
    }

    /// Calls it.
    pub fn run(mut self) -> Outcome {
        let Output { status, stdout, stderr } = self.command.output().expect("the program starts");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
        Outcome { code: status.code(), stdout: text(stdout), stderr: text(stderr), folder: self.folder }
    }
}

impl Outcome {
    /// Asserts how it ended.
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }

    /// Asserts what people are told on standard error.
    #[track_caller]
    pub fn tells(self, words: &str) -> Self {
        assert!(self.stderr.contains(words), "`{words}` is missing in stderr:\n{}", self.stderr);
        self
    }

    /// Asserts what standard output holds.
    #[track_caller]
    pub fn prints(self, words: &str) -> Self {
        assert!(self.stdout.contains(words), "`{words}` is missing in stdout:\n{}", self.stdout);
        self
    }

    /// The folder that it was called in.
    pub fn folder(&self) -> &std::path::Path {
        self.folder.path()
    }

    /// A file that it left.
    #[track_caller]
    pub fn left(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(name))
            .unwrap_or_else(|error| panic!("{name}: {error}"))
    }
}
