use std::path::PathBuf;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, UnixStream};
use tokio::sync::watch;

/// The line between a service and its database, which the test may cut without anybody noticing: bytes vanish and
/// connections stay open.
pub(crate) struct Wire {
    pub(crate) url: String,
    silent: watch::Sender<bool>,
}

impl Wire {
    /// A line to the server behind a URL with `?host=`, on its usual port.
    pub(crate) async fn to(url: &str) -> Self {
        let (head, folder) = url.split_once("?host=").expect("a private cluster");
        let database = head.rsplit('/').next().expect("a database");
        let socket = PathBuf::from(folder).join(".s.PGSQL.5432");
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let (silent, is_silent) = watch::channel(false);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let server = UnixStream::connect(&socket).await.expect("the server");
                let (mut from_client, mut to_client) = client.into_split();
                let (mut from_server, mut to_server) = server.into_split();
                let (up, down) = (is_silent.clone(), is_silent.clone());
                tokio::spawn(async move {
                    let mut buffer = vec![0; 16 * 1024];
                    while let Ok(read @ 1..) = from_client.read(&mut buffer).await {
                        if *up.borrow() {
                            std::future::pending::<()>().await;
                        }
                        if to_server.write_all(&buffer[..read]).await.is_err() {
                            break;
                        }
                    }
                });
                tokio::spawn(async move {
                    let mut buffer = vec![0; 16 * 1024];
                    while let Ok(read @ 1..) = from_server.read(&mut buffer).await {
                        if *down.borrow() {
                            std::future::pending::<()>().await;
                        }
                        if to_client.write_all(&buffer[..read]).await.is_err() {
                            break;
                        }
                    }
                });
            }
        });
        Self { url: format!("postgres://postgres@127.0.0.1:{port}/{database}"), silent }
    }

    /// Cuts every connection that is there and every one to come. Healing lets new ones through; the old ones stay
    /// dead.
    pub(crate) fn cut(&self, cut: bool) {
        self.silent.send(cut).expect("the line is there");
    }
}
