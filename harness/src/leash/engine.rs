use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

/// A Docker engine's address. Speaks just enough HTTP to probe, sweep and remove with nothing but the standard
/// library: the watchdog has to do it while everything else has gone.
#[derive(Debug, Clone)]
pub(crate) enum Engine {
    Unix(PathBuf),
    Tcp(String),
}

/// Why an engine did not do as asked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EngineError {
    /// An address of another kind, such as `ssh://`.
    #[error("the engine address {0:?} is neither unix:///PATH nor tcp://HOST:PORT")]
    Address(String),
    /// Nobody there, or no permission, or no answer in time.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// It answered, but with an error.
    #[error("the engine answered {status}: {message}")]
    Status { status: u16, message: String },
    /// It answered something that isn't Docker's.
    #[error("the engine's answer makes no sense: {0}")]
    Garbled(String),
}

/// The lines of an answer that is still being written.
#[cfg(feature = "testcontainers")]
type LineStream = io::Lines<BufReader<Box<dyn Read + Send>>>;

impl Engine {
    /// An address in the form of `DOCKER_HOST`.
    pub(crate) fn at(address: &str) -> Result<Self, EngineError> {
        if let Some(path) = address.strip_prefix("unix://").filter(|path| path.starts_with('/')) {
            return Ok(Self::Unix(path.into()));
        }
        match address.strip_prefix("tcp://").or_else(|| address.strip_prefix("http://")) {
            Some(rest) if !rest.is_empty() => Ok(Self::Tcp(rest.trim_end_matches('/').to_owned())),
            _ => Err(EngineError::Address(address.to_owned())),
        }
    }

    /// One request; its answer as it is.
    pub(crate) fn text(&self, method: &str, path: &str, within: Duration) -> Result<String, EngineError> {
        Ok(String::from_utf8_lossy(&self.bytes(method, path, within)?).into_owned())
    }

    /// One request; the bytes of its answer.
    pub(crate) fn bytes(&self, method: &str, path: &str, within: Duration) -> Result<Vec<u8>, EngineError> {
        let mut body = Vec::new();
        self.open(method, path, within)?.read_to_end(&mut body)?;
        Ok(body)
    }

    /// Removes a container by force, with its anonymous volumes. One that isn't there is fine.
    pub(crate) fn remove_container(&self, name: &str, within: Duration) -> Result<(), EngineError> {
        match self.text("DELETE", &format!("/containers/{name}?force=true&v=true"), within) {
            Ok(_) | Err(EngineError::Status { status: 404, .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn open(
        &self,
        method: &str,
        path: &str,
        within: Duration,
    ) -> Result<BufReader<Box<dyn Read + Send>>, EngineError> {
        // HTTP/1.0: the answer ends with the connection, and never comes in chunks.
        let request = format!("{method} {path} HTTP/1.0\r\nHost: docker\r\nContent-Length: 0\r\n\r\n");
        let stream: Box<dyn Read + Send> = match self {
            Self::Unix(socket) => {
                let mut stream = UnixStream::connect(socket)?;
                stream.set_read_timeout(Some(within))?;
                stream.set_write_timeout(Some(within))?;
                stream.write_all(request.as_bytes())?;
                Box::new(stream)
            }
            Self::Tcp(host) => {
                let address = host
                    .to_socket_addrs()?
                    .next()
                    .ok_or_else(|| io::Error::from(io::ErrorKind::AddrNotAvailable))?;
                let mut stream = TcpStream::connect_timeout(&address, within)?;
                stream.set_read_timeout(Some(within))?;
                stream.set_write_timeout(Some(within))?;
                stream.write_all(request.as_bytes())?;
                Box::new(stream)
            }
        };
        let mut answer = BufReader::new(stream);
        let status = read_head(&mut answer)?;
        if (200..400).contains(&status) {
            return Ok(answer);
        }
        let mut body = String::new();
        drop(answer.take(64 * 1024).read_to_string(&mut body));
        let message = serde_json::from_str::<Value>(&body)
            .ok()
            .and_then(|body| body.get("message")?.as_str().map(str::to_owned))
            .unwrap_or_else(|| body.trim().to_owned());
        Err(EngineError::Status { status, message })
    }
}

/// What only starting containers needs; the watchdog does without.
#[cfg(feature = "testcontainers")]
impl Engine {
    /// The address again, in the form of `DOCKER_HOST`.
    pub(crate) fn address(&self) -> String {
        match self {
            Self::Unix(path) => format!("unix://{}", path.display()),
            Self::Tcp(host) => format!("tcp://{host}"),
        }
    }

    /// One request; its answer as JSON, `Null` when it had no body.
    pub(crate) fn request(&self, method: &str, path: &str, within: Duration) -> Result<Value, EngineError> {
        let text = self.text(method, path, within)?;
        if text.trim().is_empty() {
            return Ok(Value::Null);
        }
        serde_json::from_str(&text).map_err(|error| EngineError::Garbled(error.to_string()))
    }

    /// One request whose answer comes line by line; `within` bounds the silence before each.
    pub(crate) fn lines(
        &self,
        method: &str,
        path: &str,
        within: Duration,
    ) -> Result<LineStream, EngineError> {
        Ok(self.open(method, path, within)?.lines())
    }
}

fn read_head(answer: &mut impl BufRead) -> Result<u16, EngineError> {
    let mut line = String::new();
    answer.read_line(&mut line)?;
    let status = line
        .strip_prefix("HTTP/1.")
        .and_then(|rest| rest.split(' ').nth(1)?.trim().parse().ok())
        .ok_or_else(|| EngineError::Garbled(line.trim().chars().take(80).collect()))?;
    loop {
        line.clear();
        if answer.read_line(&mut line)? == 0 || line.trim_end().is_empty() {
            return Ok(status);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_socket_or_a_host_and_nothing_else() {
        assert!(matches!(Engine::at("unix:///run/docker.sock"), Ok(Engine::Unix(_))));
        assert!(matches!(Engine::at("tcp://127.0.0.1:2375"), Ok(Engine::Tcp(_))));
        for refused in ["ssh://me@there", "unix://relative", "", "tcp://", "npipe:////./pipe/docker"] {
            assert!(matches!(Engine::at(refused), Err(EngineError::Address(_))), "{refused:?} was accepted");
        }
    }

    #[test]
    fn an_answer_that_is_not_http_is_called_garbled() {
        let mut answer = io::Cursor::new(b"SSH-2.0-OpenSSH_9.2\r\n".to_vec());
        assert!(matches!(read_head(&mut answer), Err(EngineError::Garbled(line)) if line.starts_with("SSH")));
    }
}
