use std::{fmt, path::PathBuf};

/// Where packages put servers, which is in few people's PATH.
const SERVER_FOLDERS: [&str; 3] = ["/usr/sbin", "/usr/local/sbin", "/sbin"];

/// A program that a scenario may ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Program {
    /// A web server that balances load.
    Nginx,
    /// A load balancer.
    Haproxy,
    /// A pooler of connections to Postgres.
    Pgbouncer,
}

impl Program {
    /// Its name, which is that of Debian's package too.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nginx => "nginx",
            Self::Haproxy => "haproxy",
            Self::Pgbouncer => "pgbouncer",
        }
    }

    /// Where it is on this machine.
    #[must_use]
    pub fn find(self) -> Option<PathBuf> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::env::split_paths(&path).filter(|folder| folder.is_absolute());
        folders
            .chain(SERVER_FOLDERS.map(PathBuf::from))
            .map(|folder| folder.join(self.name()))
            .find(|program| program.is_file())
    }
}

impl fmt::Display for Program {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}
