//! A socket that tells the outbox what has left, and that can end with a reset.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
};

use hyper::body::Bytes;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
};

use super::outbox::Outbox;

/// The socket.
#[derive(Debug)]
pub(super) struct Tap {
    /// Nothing only while it is dropped.
    stream: Option<TcpStream>,
    /// Bytes read to find out which HTTP is spoken.
    ahead: Bytes,
    outbox: Outbox,
}

impl Tap {
    pub(super) fn new(stream: TcpStream, ahead: Bytes, outbox: Outbox) -> Self {
        Self { stream: Some(stream), ahead, outbox }
    }

    fn stream(&mut self) -> io::Result<Pin<&mut TcpStream>> {
        self.stream.as_mut().map(Pin::new).ok_or_else(|| io::ErrorKind::NotConnected.into())
    }
}

impl Drop for Tap {
    fn drop(&mut self) {
        let Some(reset) = self.outbox.take_reset() else { return };
        if let Some(stream) = self.stream.take() {
            // A lingering time of zero turns the close into a reset. It can only fail on a socket that is dead anyway.
            let _ = stream.set_zero_linger();
        }
        reset.gone_out();
    }
}

impl AsyncRead for Tap {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if !self.ahead.is_empty() {
            let take = self.ahead.len().min(buf.remaining());
            buf.put_slice(&self.ahead.split_to(take));
            return Poll::Ready(Ok(()));
        }
        self.stream()?.poll_read(cx, buf)
    }
}

impl AsyncWrite for Tap {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let wrote = std::task::ready!(self.stream()?.poll_write(cx, buf))?;
        self.outbox.wrote(&buf[..wrote]);
        Poll::Ready(Ok(wrote))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        std::task::ready!(self.stream()?.poll_flush(cx))?;
        self.outbox.flushed_now();
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream()?.poll_shutdown(cx)
    }
}
