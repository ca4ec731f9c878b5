//! The commands: exit codes, and what goes where.

use std::path::Path;

use clap::Parser;
use onejob_contracts::cli::{ContractCommand, run};

use crate::support::Workspace;
use crate::tour;

#[derive(Parser)]
#[command(name = "contract")]
struct Line {
    #[command(subcommand)]
    command: ContractCommand,
}

fn command(args: &[&str]) -> ContractCommand {
    Line::parse_from([&["contract"], args].concat()).command
}

/// Runs a command with paths inside of `folder`: code, stdout, stderr.
pub(crate) async fn output(folder: &Path, args: &[&str]) -> (u8, String, String) {
    let paths = ["toml", "json", "pem", "jsonl"];
    let mut line: Vec<String> = args
        .iter()
        .map(|arg| {
            let is_path =
                Path::new(arg).extension().is_some_and(|ending| paths.iter().any(|known| ending == *known));
            if is_path { folder.join(arg).display().to_string() } else { (*arg).to_owned() }
        })
        .collect();
    let attestations = folder.join("attestations").display().to_string();
    match args[0] {
        "can-failover" | "drift" => line.extend(["--attestations".to_owned(), attestations]),
        "attest" => line.extend(["--out".to_owned(), attestations]),
        _ => {}
    }
    let line: Vec<&str> = line.iter().map(String::as_str).collect();
    let (mut out, mut talk) = (Vec::new(), Vec::new());
    let outcome = run(command(&line), &mut out, &mut talk).await;
    (outcome.code(), String::from_utf8(out).unwrap(), String::from_utf8(talk).unwrap())
}

#[tokio::test]
async fn lint_says_0_for_a_sound_contract_and_1_for_one_that_can_not_be_decided() {
    let files = tour::copy();
    let (code, out, talk) = output(files.path(), &["lint", "contract.toml", "--provider", "all"]).await;
    assert_eq!(code, 0, "{out}{talk}");
    assert!(talk.contains("with cheap, fallback, primary"), "{talk}");
    let text = std::fs::read_to_string(files.path().join("contract.toml")).unwrap();
    std::fs::write(files.path().join("contract.toml"), text.replace("per_case = 12", "per_case = 5"))
        .unwrap();
    let (code, out, _) = output(files.path(), &["lint", "contract.toml"]).await;
    assert_eq!(code, 1);
    assert!(
        out.contains("BLOCK(needs_more_samples)")
            && out.contains("that takes 35")
            && out.contains("contract.toml:"),
        "{out}"
    );
}

#[tokio::test]
async fn a_mistyped_name_or_file_is_usage_and_says_what_there_is() {
    let files = tour::copy();
    let (code, _, talk) = output(
        files.path(),
        &["check", "contract.toml", "--provider", "falback", "--replay", "doubles.cassette.json"],
    )
    .await;
    assert_eq!(code, 2);
    assert!(talk.contains("`falback`") && talk.contains("cheap, fallback, primary"), "{talk}");
    let (code, _, talk) = output(files.path(), &["lint", "nowhere.toml"]).await;
    assert!(code == 2 && talk.contains("nowhere.toml") && talk.contains("OJ7001"), "{talk}");
    let same = [
        "compare",
        "contract.toml",
        "--primary",
        "primary",
        "--fallback",
        "primary",
        "--replay",
        "doubles.cassette.json",
    ];
    assert_eq!(output(files.path(), &same).await.0, 2);
}

#[tokio::test]
async fn a_missing_key_is_named_by_its_variable_and_nothing_is_sent() {
    let files = tour::copy();
    let (code, _, talk) = output(files.path(), &["check", "contract.toml", "--provider", "primary"]).await;
    assert_eq!(code, 2);
    assert!(talk.contains("PRIMARY_API_KEY"), "{talk}");
}

#[tokio::test]
async fn a_dry_run_says_what_it_would_cost_and_sends_nothing() {
    let files = tour::copy();
    let (code, out, _) =
        output(files.path(), &["check", "contract.toml", "--provider", "primary", "--dry-run"]).await;
    assert_eq!(code, 0);
    for part in [
        "3 canaries and 36 samples",
        "needs 35 samples",
        "USD",
        "\"total_cents\"",
        "at most 7800 tokens out",
        "the first prompt has an estimated",
    ] {
        assert!(out.contains(part), "{part}: {out}");
    }
}

#[tokio::test]
async fn a_failed_check_shows_the_sample_its_request_its_answer_and_the_rule() {
    let files = tour::copy();
    let (code, out, talk) = output(
        files.path(),
        &["check", "contract.toml", "--provider", "cheap", "--replay", "smollm2.cassette.json"],
    )
    .await;
    assert_eq!(code, 1);
    for part in [
        "first failure: case",
        "$.total_cents is ",
        "request {",
        "answer  {",
        "FAIL(value_mismatch)",
        "samples 36, passed 0",
    ] {
        assert!(out.contains(part), "{part}: {out}");
    }
    assert!(talk.contains("S2 samples (36 calls)"), "{talk}");
}

#[tokio::test]
async fn nobody_there_is_inconclusive_and_not_a_failed_contract() {
    let workspace = Workspace::plain();
    // A port that was free a moment ago and that nobody listens on.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let text = std::fs::read_to_string(workspace.path("providers.toml")).unwrap();
    workspace.write("providers.toml", &text.replace("127.0.0.1:9", &format!("127.0.0.1:{port}")));
    let text = std::fs::read_to_string(workspace.path("contract.toml")).unwrap();
    workspace.write("contract.toml", &text.replace("retries = 2", "retries = 0"));
    let (code, out, _) =
        output(workspace.folder(), &["check", "contract.toml", "--provider", "fallback"]).await;
    assert_eq!(code, 3, "{out}");
    assert!(out.contains("INCONCLUSIVE(infrastructure:connect)"), "{out}");
}

#[tokio::test]
async fn the_dialects_are_listed_for_people_and_machines() {
    let folder = Path::new("/");
    let (code, out, _) = output(folder, &["dialects"]).await;
    assert_eq!(code, 0);
    for name in [
        "openai-responses",
        "anthropic",
        "gemini",
        "mistral",
        "cohere",
        "bedrock-converse",
        "ollama",
        "vllm",
        "llama-cpp",
        "openrouter",
        "groq",
        "deepseek",
        "azure-openai",
        "plain",
    ] {
        assert!(out.contains(name), "{name}: {out}");
    }
    let (_, json, _) = output(folder, &["dialects", "--format", "json"]).await;
    let all: Vec<serde_json::Value> = serde_json::from_str(&json).unwrap();
    assert_eq!(all.len(), 16);
    assert!(all.iter().all(|one| one["probe"].is_string() && one["finish"].is_object()));
}

#[tokio::test]
async fn verify_shows_what_an_attestation_says_and_refuses_another_key() {
    let files = tour::copy();
    tour::attested(files.path()).await;
    let file = "attestations/invoice.primary.fallback.attestation.json";
    let (code, out, talk) = output(files.path(), &["verify", file, "--trust", "key.pub.pem"]).await;
    assert_eq!(code, 0, "{talk}");
    assert!(
        out.contains("fallback may stand in for primary")
            && out.contains("36 of 36")
            && out.contains("from a cassette"),
        "{out}"
    );
    output(files.path(), &["key", "--out", "other.pem"]).await;
    let (code, _, talk) = output(files.path(), &["verify", file, "--trust", "other.pub.pem"]).await;
    assert!(code == 1 && talk.contains("not among the trusted keys"), "{talk}");
    let (code, _, talk) = output(files.path(), &["key", "--out", "other.pem"]).await;
    assert!(code == 2 && talk.contains("exists"), "{talk}");
}

#[test]
fn the_arguments_are_consistent() {
    use clap::CommandFactory;
    Line::command().debug_assert();
}
