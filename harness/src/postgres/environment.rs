use std::ffi::OsString;
use std::path::PathBuf;

/// The image that is asked for when `ONEJOB_POSTGRES_IMAGE` names no other.
pub const DEFAULT_IMAGE: &str = "postgres:15-alpine";

/// What of the surroundings decides where Postgres comes from. Taken from the process once, so that a test or a
/// library user can give another.
#[derive(Debug, Clone)]
pub struct Environment {
    /// `PATH`; none when `ONEJOB_POSTGRES_PROGRAMS` names a folder.
    pub path: Option<OsString>,
    /// `HOME`.
    pub home: Option<PathBuf>,
    /// `XDG_CACHE_HOME`.
    pub cache_home: Option<PathBuf>,
    /// `XDG_RUNTIME_DIR`.
    pub runtime_dir: Option<PathBuf>,
    /// `DOCKER_HOST`. Containers are started by testcontainers, which reads the variable itself: another value here
    /// only serves to find out whether there is an engine.
    pub docker_host: Option<String>,
    /// Where Docker listens when `DOCKER_HOST` says nothing.
    pub docker_socket: PathBuf,
    /// The image to run, `ONEJOB_POSTGRES_IMAGE` or [`DEFAULT_IMAGE`].
    pub image: String,
    /// Where temporary folders go, `TMPDIR` or the system's.
    pub temp: PathBuf,
    /// A folder in memory for data that may vanish, used while it has room: `/dev/shm` where there is one. None when
    /// the user chose a folder by `TMPDIR`; choose one too for a run that goes on after its user has logged out, as
    /// some systems clear `/dev/shm` then.
    pub memory: Option<PathBuf>,
    /// Where Postgres' programs are looked for: the folder in `ONEJOB_POSTGRES_PROGRAMS`, or else those where packages put
    /// them, each with at most one `*` in the place of the version.
    pub program_folders: Vec<String>,
}

impl Environment {
    /// The surroundings of this process.
    #[must_use]
    pub fn of_this_process() -> Self {
        let text = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
        let path = |name: &str| {
            std::env::var_os(name)
                .filter(|value| !value.is_empty())
                .map(PathBuf::from)
                .filter(|p| p.is_absolute())
        };
        // Whoever names a folder wants that version and no other.
        let named = path("ONEJOB_POSTGRES_PROGRAMS").map(|folder| folder.display().to_string());
        Self {
            path: if named.is_some() { None } else { std::env::var_os("PATH") },
            home: path("HOME"),
            cache_home: path("XDG_CACHE_HOME"),
            runtime_dir: path("XDG_RUNTIME_DIR"),
            docker_host: text("DOCKER_HOST"),
            docker_socket: "/var/run/docker.sock".into(),
            image: text("ONEJOB_POSTGRES_IMAGE").unwrap_or_else(|| DEFAULT_IMAGE.to_owned()),
            temp: std::env::temp_dir(),
            memory: Some(PathBuf::from("/dev/shm")).filter(|dir| dir.is_dir() && text("TMPDIR").is_none()),
            program_folders: named
                .map_or_else(|| PACKAGED.iter().map(ToString::to_string).collect(), |folder| vec![folder]),
        }
    }

    /// Where things that are worth keeping between runs go; none when the user has no home.
    pub(super) fn cache(&self) -> Option<PathBuf> {
        let base = self.cache_home.clone().or_else(|| Some(self.home.as_ref()?.join(".cache")))?;
        Some(base.join("onejob"))
    }

    /// The engine's address: `DOCKER_HOST`, else the first well-known socket that exists, else the standard one.
    #[cfg(feature = "testcontainers")]
    pub(super) fn engine_address(&self) -> String {
        if let Some(host) = &self.docker_host {
            return host.clone();
        }
        let in_runtime_dir = self.runtime_dir.iter().map(|dir| dir.join(".docker/run/docker.sock"));
        let in_home = self.home.iter().flat_map(|home| {
            [".docker/run/docker.sock", ".docker/desktop/docker.sock"].map(|rest| home.join(rest))
        });
        let found = std::iter::once(self.docker_socket.clone())
            .chain(in_runtime_dir)
            .chain(in_home)
            .find(|socket| socket.exists());
        format!("unix://{}", found.as_ref().unwrap_or(&self.docker_socket).display())
    }
}

/// Debian and Ubuntu, Fedora and its relatives, Arch and Alpine, Homebrew on both processors, `MacPorts`, Postgres.app.
const PACKAGED: [&str; 8] = [
    "/usr/lib/postgresql/*/bin",
    "/usr/pgsql-*/bin",
    "/usr/libexec/postgresql*",
    "/opt/homebrew/opt/postgresql@*/bin",
    "/usr/local/opt/postgresql@*/bin",
    "/home/linuxbrew/.linuxbrew/opt/postgresql@*/bin",
    "/opt/local/lib/postgresql*/bin",
    "/Applications/Postgres.app/Contents/Versions/*/bin",
];
