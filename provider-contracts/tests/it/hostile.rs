//! Files as they should not be: every one gets an answer, and none of them ends the process.

use onejob_contracts::attest::{SigningKey, TrustedKeys, sign, verify};
use onejob_contracts::gate::Attestations;
use onejob_contracts::provider::load_providers;
use serde_json::json;

use crate::support::Workspace;

/// What is said of a contract with this text, which must be an error.
fn contract(text: &[u8]) -> String {
    let workspace = Workspace::plain();
    std::fs::write(workspace.path("contract.toml"), text).unwrap();
    workspace.contract().expect_err("refused").to_string()
}

#[test]
fn contracts_of_the_wrong_kind_are_refused_with_place_and_remedy() {
    let good = std::fs::read_to_string(Workspace::plain().path("contract.toml")).unwrap();
    for (from, to) in [
        ("per_case = 4", "per_case = \"four\""),
        ("per_case = 4", "per_case = -1"),
        ("per_case = 4", "per_case = 99999999999999999999"),
        ("per_case = 4", "per_case = 1e9"),
        ("pass_rate = 0.5", "pass_rate = true"),
        ("name = \"invoice\"", "name = \"../../etc/passwd\""),
        ("name = \"invoice\"", "name = \"\""),
        ("schema = \"invoice.schema.json\"", "schema = \"/\""),
        ("schema = \"invoice.schema.json\"", "schema = \"nowhere.json\""),
        ("{{ input.text }}", "{% for %}"),
    ] {
        assert!(good.contains(from), "{from}");
        let told = contract(good.replace(from, to).as_bytes());
        assert!(told.contains("OJ700") && told.contains("help:"), "{to}: {told}");
        assert!(told.len() < 2000, "{to}: {}", told.len());
    }
    for text in [&b""[..], b"\0", b"\xff\xfe", b"[[[[", b"name = ", b"{}"] {
        let told = contract(text);
        assert!(told.contains("OJ700"), "{told}");
    }
    let nested = format!("name = \"x\"\na = {}1{}", "[".repeat(20_000), "]".repeat(20_000));
    assert!(contract(nested.as_bytes()).contains("OJ7002"));
}

#[test]
fn a_byte_order_mark_in_json_is_named_and_line_ends_of_either_kind_are_read() {
    let workspace = Workspace::plain();
    let text = std::fs::read_to_string(workspace.path("contract.toml")).unwrap();
    let schema = std::fs::read_to_string(workspace.path("invoice.schema.json")).unwrap();
    workspace.write("contract.toml", &text.replace('\n', "\r\n"));
    workspace.write("invoice.schema.json", &schema.replace('\n', "\r\n"));
    workspace.contract().unwrap();
    workspace.write("invoice.schema.json", &format!("\u{feff}{schema}"));
    let told = workspace.contract().unwrap_err().to_string();
    assert!(told.contains("byte order mark") && told.contains("invoice.schema.json"), "{told}");
    workspace.write("invoice.schema.json", &schema);
    workspace.write(
        "contract.toml",
        &text.replace("name = \"invoice\"", "name = \"invoice\"\ncases = \"c.jsonl\""),
    );
    workspace.write("c.jsonl", "\u{feff}{\"name\": \"a\"}\r\n");
    let told = workspace.contract().unwrap_err().to_string();
    assert!(told.contains("byte order mark"), "{told}");
    workspace.write("c.jsonl", "{\"name\": \"a\"}\r\n\r\n{\"name\": \"b\"}");
    assert_eq!(workspace.contract().unwrap().cases.len(), 3);
}

#[test]
fn a_line_of_a_hundred_megabytes_is_read_or_shown_in_part() {
    let workspace = Workspace::plain();
    let text = std::fs::read_to_string(workspace.path("contract.toml")).unwrap();
    workspace.write(
        "contract.toml",
        &text.replace("name = \"invoice\"", "name = \"invoice\"\ncases = \"c.jsonl\""),
    );
    let long = "x".repeat(100 << 20);
    workspace.write("c.jsonl", &format!("{{\"name\": \"a\", \"input\": \"{long}\"}}\n"));
    assert_eq!(workspace.contract().unwrap().cases.len(), 2);
    workspace.write("c.jsonl", &format!("{{\"name\": \"a\", \"input\": \"{long}\" oops}}\n"));
    let told = workspace.contract().unwrap_err().to_string();
    assert!(told.len() < 2000 && told.contains("c.jsonl:1:"), "{}", told.len());
}

#[cfg(unix)]
#[test]
fn what_is_no_file_is_said_to_be_none() {
    let workspace = Workspace::plain();
    let path = workspace.path("contract.toml");
    std::fs::remove_file(&path).unwrap();
    for kind in ["folder", "loop", "device"] {
        match kind {
            "folder" => std::fs::create_dir(&path).unwrap(),
            "loop" => std::os::unix::fs::symlink(&path, &path).unwrap(),
            _ => std::os::unix::fs::symlink("/dev/zero", &path).unwrap(),
        }
        let told = workspace.contract().unwrap_err().to_string();
        assert!(told.contains("OJ7001") && told.contains("contract.toml"), "{kind}: {told}");
        std::fs::remove_file(&path).or_else(|_| std::fs::remove_dir(&path)).unwrap();
    }
}

#[test]
fn providers_whose_numbers_or_names_mean_nothing_are_refused() {
    let workspace = Workspace::plain();
    let provider = |name: &str, more: &str| {
        let text = format!("[provider.{name}]\ndialect = \"plain\"\nbase_url = \"http://h\"\n{more}\n");
        workspace.write("providers.toml", &text);
        load_providers(&workspace.path("providers.toml")).map(drop).map_err(|error| error.to_string())
    };
    assert_eq!(provider("p", "token_factor = 2.0\nprice = { input = 0.0, output = 1.5 }"), Ok(()));
    for (name, more) in [
        ("p", "token_factor = nan"),
        ("p", "token_factor = 0.0"),
        ("p", "token_tolerance = inf"),
        ("p", "price = { input = -1.0, output = 1.0 }"),
        ("p", "price = { input = 1.0, output = nan }"),
        ("p", "window = 0"),
        ("\"../../p\"", ""),
        ("\"\"", ""),
        ("\"a b\"", ""),
    ] {
        let told = provider(name, more).expect_err(more);
        assert!(told.contains("OJ7002") && told.contains("help:"), "{name} {more}: {told}");
    }
    let text = "[provider.p]\ndialect = \"plain\"\nbase_url = \"http://u:hunter22@h/?key=hunter33\"\n";
    workspace.write("providers.toml", text);
    let told = load_providers(&workspace.path("providers.toml")).unwrap_err().to_string();
    assert!(told.contains("key_env") && !told.contains("hunter"), "{told}");
}

#[test]
fn no_part_of_an_envelope_passes_for_the_whole() {
    let (private, public) = SigningKey::generate().unwrap();
    let key = SigningKey::from_pem(&private, "test").unwrap();
    let mut trusted = TrustedKeys::default();
    trusted.add(&public, "test").unwrap();
    let text = serde_json::to_string(&sign(&json!({"a": [1, 2, 3]}), &key)).unwrap();
    assert!(verify(&text, &trusted).is_ok());
    for length in 0..text.len() {
        assert!(verify(&text[..length], &trusted).is_err(), "{length}");
    }
    let mut unsigned: serde_json::Value = serde_json::from_str(&text).unwrap();
    unsigned["signatures"] = json!([]);
    assert!(verify(&unsigned.to_string(), &trusted).is_err());
}

#[test]
fn a_key_of_another_kind_is_no_key() {
    // Made for this test: a P-256 public key, and an X25519 one, which is as long as an Ed25519 key and is none.
    const P256: &str = "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEX1n1tq0nq0J9r7bJ4s8m1Yk0bq6i\nZ5e8y1w9QmE3n4o3B6wq7g8v0k2lq9Qx5r1c7d4z6Y8H2J3K4L5M6N7P8Q==\n-----END PUBLIC KEY-----\n";
    const X25519: &str = "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VuAyEAhSDwCYkwp1R0i33ctD73Wg2/Og0mOBr066SpjqqbTmo=\n-----END PUBLIC KEY-----\n";
    for pem in [P256, X25519, "", "-----BEGIN PUBLIC KEY-----", "ssh-ed25519 AAAA"] {
        let told = TrustedKeys::default().add(pem, "trust.pem").unwrap_err().to_string();
        assert!(told.contains("OJ7030") && told.contains("trust.pem"), "{told}");
        assert!(SigningKey::from_pem(pem, "key.pem").is_err());
    }
}

#[cfg(unix)]
#[test]
fn links_are_followed_and_what_can_not_be_read_proves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let keys = TrustedKeys::default();
    // As a mounted volume does it: the entry is a link into a folder that is swapped.
    std::fs::create_dir(at("..data")).unwrap();
    std::fs::write(at("..data/a.attestation.json"), "{}").unwrap();
    std::os::unix::fs::symlink("..data/a.attestation.json", at("a.attestation.json")).unwrap();
    std::os::unix::fs::symlink("loop.attestation.json", at("loop.attestation.json")).unwrap();
    std::fs::create_dir(at("folder.attestation.json")).unwrap();
    std::fs::write(at("binary.attestation.json"), b"\xff\x00").unwrap();
    let read = Attestations::load(folder.path(), &keys).unwrap();
    let mut bad: Vec<&str> =
        read.bad.iter().filter_map(|bad| bad.file.rsplit('/').next()?.split('.').next()).collect();
    bad.sort_unstable();
    assert_eq!(bad, ["a", "binary", "folder", "loop"]);
    assert!(!read.is_stale(folder.path()));
    std::fs::write(at("..data/a.attestation.json"), "{ }").unwrap();
    assert!(read.is_stale(folder.path()), "a change behind a link is a change");
    // A suspension that can't be read could be about anybody.
    std::os::unix::fs::symlink("s.suspended.json", at("s.suspended.json")).unwrap();
    assert!(Attestations::load(folder.path(), &keys).is_err());
}
