/// How a server of ours is set up. A server that the user lent is taken as it is.
#[derive(Debug, Clone)]
pub struct StartOptions {
    /// Keep what protects the data from a power cut. Off, it is worth nothing after a crash of the machine; a crash of
    /// the server alone loses no commit either way.
    pub durable: bool,
    /// Listen on 127.0.0.1 too, with a password. A container always does.
    pub tcp: bool,
    /// Connections at a time.
    pub max_connections: u16,
    /// More settings by name and value; they win over all others.
    pub settings: Vec<(&'static str, String)>,
}

impl Default for StartOptions {
    fn default() -> Self {
        Self { durable: false, tcp: false, max_connections: 300, settings: Vec::new() }
    }
}

/// How a server is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Halt {
    /// Connections are ended and everything is written out.
    Clean,
    /// At once; the next start recovers from the log.
    Crash,
}
