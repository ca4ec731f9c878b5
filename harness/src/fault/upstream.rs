use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use tokio::net::{TcpStream, UnixStream};

use super::side::Side;

/// Where a proxy passes bytes on to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Upstream {
    /// Host and port.
    Tcp(SocketAddr),
    /// A socket in the file system, such as a private Postgres server's.
    Unix(PathBuf),
}

impl Upstream {
    pub(super) async fn connect(&self) -> io::Result<Side> {
        match self {
            Self::Tcp(address) => Side::tcp(TcpStream::connect(address).await?),
            Self::Unix(path) => Ok(Side::unix(UnixStream::connect(path).await?)),
        }
    }
}
