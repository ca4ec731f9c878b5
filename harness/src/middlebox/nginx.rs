//! What nginx is told.

use std::{fmt::Write as _, net::SocketAddr, path::Path};

use super::balancer::{PATIENCE_MS, SOCKET};

/// One process that stays in the foreground, and nothing outside of its folder.
pub(super) fn config(folder: &Path, replicas: &[SocketAddr]) -> String {
    let folder = folder.display();
    let mut servers = String::new();
    for (index, replica) in replicas.iter().enumerate() {
        // Without `max_fails=0` a replica that failed once is left out for ten seconds, unnoticed.
        let role = if index == 0 { "" } else { " backup" };
        let _ = writeln!(servers, "        server {replica} max_fails=0{role};");
    }
    format!(
        "daemon off;
master_process off;
pid {folder}/nginx.pid;
error_log stderr warn;
events {{ worker_connections 256; }}
http {{
    access_log off;
    client_body_temp_path {folder}/client_body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    upstream replicas {{
{servers}    }}
    server {{
        listen unix:{folder}/{SOCKET};
        location / {{
            proxy_pass http://replicas;
            proxy_http_version 1.1;
            proxy_set_header Host $http_host;
            proxy_next_upstream error timeout http_503 non_idempotent;
            proxy_connect_timeout {PATIENCE_MS}ms;
            proxy_read_timeout {PATIENCE_MS}ms;
        }}
    }}
}}
"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_post_is_tried_again_and_the_first_replica_comes_first() {
        let replicas = ["127.0.0.1:1", "127.0.0.1:2"].map(|address| address.parse().expect("an address"));
        let config = config(Path::new("/tmp/x"), &replicas);
        assert!(config.contains("non_idempotent"), "{config}");
        assert!(config.contains("server 127.0.0.1:1 max_fails=0;"), "{config}");
        assert!(config.contains("server 127.0.0.1:2 max_fails=0 backup;"), "{config}");
        assert_eq!(config.matches('{').count(), config.matches('}').count(), "{config}");
    }
}
