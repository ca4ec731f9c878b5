//! A provider that does to a connection whatever a test wants.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// What happens to one request after it was read.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    /// A whole answer.
    Answer { status: u16, headers: Vec<(String, String)>, body: Vec<u8> },
    /// Headers of a chunked answer and these pieces, then the connection is cut without the last chunk.
    HalfStream(Vec<Vec<u8>>),
    /// Headers and these pieces, then nothing, with the connection left open.
    StallAfter(Vec<Vec<u8>>),
    /// The request is read and never answered.
    Hold,
    /// The request is read and the connection closed.
    Close,
}

impl Act {
    pub(crate) fn json(status: u16, body: &str) -> Self {
        Self::Answer {
            status,
            headers: vec![("content-type".into(), "application/json".into())],
            body: body.as_bytes().to_vec(),
        }
    }
}

/// A provider on a loopback port. Acts come in order; the last again and again.
pub(crate) struct Double {
    pub(crate) url: String,
    received: Arc<AtomicUsize>,
    task: tokio::task::JoinHandle<()>,
}

impl Double {
    pub(crate) async fn start(acts: Vec<Act>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let received = Arc::new(AtomicUsize::new(0));
        let (acts, counter) = (Arc::new(acts), Arc::clone(&received));
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&acts), Arc::clone(&counter)));
            }
        });
        Self { url, received, task }
    }

    /// How many whole requests arrived.
    pub(crate) fn received(&self) -> usize {
        self.received.load(Ordering::SeqCst)
    }
}

impl Drop for Double {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(mut stream: TcpStream, acts: Arc<Vec<Act>>, counter: Arc<AtomicUsize>) {
    let mut buffer = Vec::new();
    while read_request(&mut stream, &mut buffer).await {
        let number = counter.fetch_add(1, Ordering::SeqCst);
        let Some(act) = acts.get(number).or(acts.last()) else { return };
        match act {
            Act::Answer { status, headers, body } => {
                let mut head = format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\n", body.len());
                for (name, value) in headers {
                    head = head + name + ": " + value + "\r\n";
                }
                head.push_str("\r\n");
                if stream.write_all(&[head.as_bytes(), body].concat()).await.is_err() {
                    return;
                }
            }
            Act::HalfStream(pieces) => {
                let _ = chunks(&mut stream, pieces).await;
                return;
            }
            Act::StallAfter(pieces) => {
                let _ = chunks(&mut stream, pieces).await;
                std::future::pending::<()>().await;
            }
            Act::Hold => std::future::pending::<()>().await,
            Act::Close => return,
        }
    }
}

async fn chunks(stream: &mut TcpStream, pieces: &[Vec<u8>]) -> std::io::Result<()> {
    stream.write_all(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n").await?;
    for piece in pieces {
        stream.write_all(format!("{:x}\r\n", piece.len()).as_bytes()).await?;
        stream.write_all(piece).await?;
        stream.write_all(b"\r\n").await?;
    }
    stream.flush().await
}

/// Reads one request with its body; false at the end of the connection.
async fn read_request(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> bool {
    loop {
        if let Some(end) = buffer.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&buffer[..end]).to_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
            let length: usize = length.and_then(|length| length.trim().parse().ok()).unwrap_or(0);
            if buffer.len() >= end + 4 + length {
                buffer.drain(..end + 4 + length);
                return true;
            }
        }
        let mut piece = vec![0; 16 * 1024];
        match stream.read(&mut piece).await {
            Ok(0) | Err(_) => return false,
            Ok(count) => buffer.extend_from_slice(&piece[..count]),
        }
    }
}
