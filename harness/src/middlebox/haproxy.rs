//! What `HAProxy` is told.

use std::{fmt::Write as _, net::SocketAddr, path::Path};

use super::balancer::{PATIENCE_MS, SOCKET};

/// `balance first` takes the first replica that has room, and a redispatch avoids the one that failed.
pub(super) fn config(folder: &Path, replicas: &[SocketAddr]) -> String {
    let folder = folder.display();
    let mut servers = String::new();
    for (index, replica) in replicas.iter().enumerate() {
        let _ = writeln!(servers, "    server replica-{} {replica}", index + 1);
    }
    format!(
        "global
    maxconn 256
defaults
    mode http
    timeout connect {PATIENCE_MS}ms
    timeout client 60s
    timeout server {PATIENCE_MS}ms
    retries 2
    retry-on conn-failure empty-response response-timeout junk-response 503
    option redispatch 1
frontend clients
    bind unix@{folder}/{SOCKET}
    default_backend replicas
backend replicas
    balance first
{servers}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_a_replica_does_after_consuming_is_a_reason_to_try_the_next() {
        let replicas = ["127.0.0.1:1", "127.0.0.1:2"].map(|address| address.parse().expect("an address"));
        let config = config(Path::new("/tmp/x"), &replicas);
        for words in
            ["empty-response", "response-timeout", " 503", "redispatch", "server replica-2 127.0.0.1:2"]
        {
            assert!(config.contains(words), "{words} is missing in {config}");
        }
    }
}
