use std::path::Path;

use super::StartOptions;

/// The role that owns a server of ours.
pub(super) const ROLE: &str = "onejob";

/// The settings of a server of ours as name and value, the same for a container and for a private one.
pub(super) fn settings(options: &StartOptions) -> Vec<(&'static str, String)> {
    let mut settings = vec![
        ("max_connections", options.max_connections.to_string()),
        ("log_min_messages", "warning".to_owned()),
        ("timezone", "UTC".to_owned()),
    ];
    if options.durable {
        settings.push(("wal_level", "replica".to_owned()));
    } else {
        // The data is thrown away: what protects it from a power cut only costs time. What protects it from a crash
        // of the server stays (synchronous_commit): a service must not be blamed for a commit that the server lost.
        settings.extend([
            ("fsync", "off".to_owned()),
            ("full_page_writes", "off".to_owned()),
            ("wal_level", "minimal".to_owned()),
            // It may lie in memory.
            ("max_wal_size", "256MB".to_owned()),
            ("max_wal_senders", "0".to_owned()),
        ]);
    }
    settings.extend(options.settings.iter().map(|(name, value)| (*name, value.clone())));
    settings
}

/// The whole `postgresql.conf` of a private server.
pub(super) fn config_file(options: &StartOptions, socket_folder: &Path, port: u16) -> String {
    let mut all = settings(options);
    let listen = if options.tcp { "127.0.0.1" } else { "" };
    all.extend([
        ("listen_addresses", listen.to_owned()),
        ("port", port.to_string()),
        ("unix_socket_directories", socket_folder.display().to_string()),
        // Shared memory in files goes with the folder; the kernel's own kind would stay after SIGKILL.
        ("dynamic_shared_memory_type", "mmap".to_owned()),
        ("log_destination", "stderr".to_owned()),
        ("logging_collector", "off".to_owned()),
    ]);
    let lines: Vec<String> =
        all.iter().map(|(name, value)| format!("{name} = '{}'", value.replace('\'', "''"))).collect();
    lines.join("\n") + "\n"
}

/// Who may connect: over the socket whoever can reach it, which is its folder's owner; over TCP with the password.
pub(super) fn access_file(tcp: bool) -> String {
    // `all` databases leave out the one that a standby asks for.
    let mut lines = "local all all trust\nlocal replication all trust\n".to_owned();
    if tcp {
        // Clear text, as it never leaves the machine; the stronger kind costs a client thousands of hashes.
        lines.push_str("host all all 127.0.0.1/32 password\n");
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_durable_server_keeps_every_safeguard() {
        let durable = StartOptions { durable: true, ..StartOptions::default() };
        let file = config_file(&durable, Path::new("/tmp/x"), 5432);
        for weakened in ["fsync", "synchronous_commit", "full_page_writes"] {
            assert!(!file.contains(weakened), "{weakened} is touched in:\n{file}");
        }
        let scratch = config_file(&StartOptions::default(), Path::new("/tmp/x"), 5432);
        assert!(scratch.contains("fsync = 'off'") && !scratch.contains("synchronous_commit"), "{scratch}");
    }

    #[test]
    fn a_quote_in_a_folder_does_not_end_the_value() {
        let file = config_file(&StartOptions::default(), Path::new("/tmp/it's"), 5432);
        assert!(file.contains("unix_socket_directories = '/tmp/it''s'"), "{file}");
    }

    #[test]
    fn nobody_comes_in_over_tcp_unless_asked_for() {
        assert!(!access_file(false).contains("host"));
        assert!(access_file(true).contains("127.0.0.1/32 password"));
    }
}
