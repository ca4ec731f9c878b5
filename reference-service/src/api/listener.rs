use std::pin::pin;
use std::time::Duration;

use axum::Router;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use crate::worker::{Phase, Stop};

/// The largest head of a request, in bytes.
const LARGEST_HEAD: usize = 64 * 1024;

/// Accepts connections until the process drains, then waits until the last request is answered.
pub(crate) async fn listen(listener: TcpListener, router: Router, client_timeout: Duration, stop: Stop) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(converse(stream, router.clone(), client_timeout, stop.clone()));
                }
                Err(error) => {
                    // Out of file descriptors, most likely; connections that end give some back.
                    tracing::warn!(%error, "a connection was not accepted");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            },
            Some(_) = connections.join_next() => {}
            () = stop.reached(Phase::Draining) => break,
        }
    }
    // From here on new connections are refused, and a load balancer goes elsewhere.
    drop(listener);
    while connections.join_next().await.is_some() {}
}

async fn converse(stream: TcpStream, router: Router, client_timeout: Duration, stop: Stop) {
    // Answers are small and waited for; where it can't be set they are only slower.
    let _ = stream.set_nodelay(true);
    let mut builder = Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(client_timeout)
        .max_buf_size(LARGEST_HEAD)
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(client_timeout)
        .max_header_list_size(64 * 1024);
    let mut connection =
        pin!(builder.serve_connection(TokioIo::new(stream), TowerToHyperService::new(router)));
    // How a connection ends is the client's affair.
    tokio::select! {
        _ = connection.as_mut() => {}
        () = stop.reached(Phase::Draining) => {
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        }
    }
}
