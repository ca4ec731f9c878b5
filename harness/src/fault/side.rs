use std::io;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UnixStream};

/// As much as is read at a time.
const CHUNK: usize = 16 * 1024;

/// One end of a connection, with what has come and was not taken yet.
#[derive(Debug)]
pub(super) struct Side {
    reader: Reader,
    pub(super) writer: Writer,
}

/// What comes.
#[derive(Debug)]
pub(super) struct Reader {
    stream: Stream<tokio::net::tcp::OwnedReadHalf, tokio::net::unix::OwnedReadHalf>,
    buffer: Vec<u8>,
    ended: bool,
}

/// What goes.
#[derive(Debug)]
pub(super) struct Writer(Stream<tokio::net::tcp::OwnedWriteHalf, tokio::net::unix::OwnedWriteHalf>);

#[derive(Debug)]
enum Stream<T, U> {
    Tcp(T),
    Unix(U),
}

impl Side {
    pub(super) fn tcp(stream: TcpStream) -> io::Result<Self> {
        // A proxy that waits for more bytes would add delays that nobody asked for.
        stream.set_nodelay(true)?;
        let (reader, writer) = stream.into_split();
        Ok(Self::new(Stream::Tcp(reader), Stream::Tcp(writer)))
    }

    pub(super) fn unix(stream: UnixStream) -> Self {
        let (reader, writer) = stream.into_split();
        Self::new(Stream::Unix(reader), Stream::Unix(writer))
    }

    fn new(
        reader: Stream<tokio::net::tcp::OwnedReadHalf, tokio::net::unix::OwnedReadHalf>,
        writer: Stream<tokio::net::tcp::OwnedWriteHalf, tokio::net::unix::OwnedWriteHalf>,
    ) -> Self {
        let reader = Reader { stream: reader, buffer: Vec::new(), ended: false };
        Self { reader, writer: Writer(writer) }
    }

    pub(super) fn split(&mut self) -> (&mut Reader, &mut Writer) {
        (&mut self.reader, &mut self.writer)
    }

    pub(super) fn reader(&mut self) -> &mut Reader {
        &mut self.reader
    }

    /// Ends the connection abruptly, where the kind of socket knows that.
    pub(super) fn reset(self) {
        if let Stream::Tcp(stream) = self.writer.0 {
            // A connection that is gone already can't be reset any more.
            let _ = stream.as_ref().set_zero_linger();
            // Dropping this half would end the connection in order first.
            stream.forget();
        }
    }
}

impl Reader {
    /// What has come so far.
    pub(super) fn buffered(&self) -> &[u8] {
        &self.buffer
    }

    /// Takes the first bytes of what has come.
    pub(super) fn take(&mut self, count: usize) -> Vec<u8> {
        let rest = self.buffer.split_off(count.min(self.buffer.len()));
        std::mem::replace(&mut self.buffer, rest)
    }

    /// Waits for more. False at the end. Nothing is lost when this is given up halfway.
    pub(super) async fn more(&mut self) -> io::Result<bool> {
        if self.ended {
            return Ok(false);
        }
        self.buffer.reserve(CHUNK);
        let count = match &mut self.stream {
            Stream::Tcp(stream) => stream.read_buf(&mut self.buffer).await?,
            Stream::Unix(stream) => stream.read_buf(&mut self.buffer).await?,
        };
        self.ended = count == 0;
        Ok(!self.ended)
    }

    /// Whether the end has been seen.
    pub(super) fn has_ended(&self) -> bool {
        self.ended
    }
}

impl Writer {
    pub(super) async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.0 {
            Stream::Tcp(stream) => stream.write_all(bytes).await,
            Stream::Unix(stream) => stream.write_all(bytes).await,
        }
    }

    /// Says that nothing more will come; the other direction stays.
    pub(super) async fn finish(&mut self) -> io::Result<()> {
        match &mut self.0 {
            Stream::Tcp(stream) => stream.shutdown().await,
            Stream::Unix(stream) => stream.shutdown().await,
        }
    }
}
