//! The offline tour: the files under `contracts/invoice`, checked on recorded answers.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use onejob_contracts::contract;
use onejob_contracts::dialect::Catalogue;
use onejob_contracts::provider::load_providers;
use onejob_contracts::run::{CheckOptions, Silent, check};
use onejob_contracts::transport::{
    BoxFuture, CallId, Cassette, Exchange, Received, Recorder, Secrets, Transport,
};

use crate::cli::output;
use crate::wire::Wire;

/// Answers of the doubles of `primary` and `fallback`.
const DOUBLES: &str = "doubles.cassette.json";
/// Answers of a real model.
const REAL: &str = "smollm2.cassette.json";

pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("contracts/invoice")
}

/// A private copy of the tour's files, so that a test may change them.
pub(crate) fn copy() -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    for entry in std::fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        std::fs::copy(&path, copy.path().join(path.file_name().unwrap())).unwrap();
    }
    copy
}

/// What the doubles of `primary` and `fallback` answer.
struct Recording;

impl Recording {
    fn content(case: &str) -> &'static str {
        match case {
            "acme" => r#"{"vendor":"ACME GmbH","total_cents":1250,"currency":"EUR","due":"2026-03-01"}"#,
            "globex" => {
                r#"{"vendor":"Globex Ltd.","total_cents":198000,"currency":"GBP","due":"2026-04-15"}"#
            }
            _ => r#"{"vendor":"Initech","total_cents":705,"currency":"USD","due":"2026-05-09"}"#,
        }
    }
}

impl Transport for Recording {
    fn send<'a>(
        &'a self,
        id: &'a CallId,
        _request: &'a onejob_contracts::provider::Outgoing,
        _deadline: std::time::Duration,
    ) -> BoxFuture<'a, Exchange> {
        let (dialect, model) = match id.provider.as_str() {
            "primary" => ("openai-chat", "primary-1"),
            _ => ("anthropic", "fallback-1"),
        };
        let body = Wire::load(dialect).success(Self::content(&id.case)).replace("model-1", model);
        // Times as they would be, and the same in every recording.
        let number = id.sample.bytes().map(u64::from).sum::<u64>();
        let elapsed = std::time::Duration::from_millis(400 + number * 7 % 300);
        Box::pin(async move {
            Exchange::Answered(Received {
                status: 200,
                headers: vec![("content-type".into(), "application/json".into())],
                body: body.into_bytes(),
                cut: None,
                elapsed,
            })
        })
    }
}

/// `ONEJOB_BLESS=1` writes the cassette anew. That of `cheap` comes from a real model: see `tests/real`.
#[tokio::test]
async fn the_doubles_cassette_is_what_the_doubles_answer() {
    let contract = contract::load(&folder().join("contract.toml")).unwrap();
    let providers = load_providers(&folder().join("providers.toml")).unwrap();
    let made = tempfile::tempdir().unwrap();
    let path = made.path().join("tape.json");
    for (at, name) in ["primary", "fallback"].into_iter().enumerate() {
        let provider = &providers[name];
        let dialect = Catalogue::embedded().unwrap().get(&provider.dialect).unwrap();
        let recorder = Recorder::new(Arc::new(Recording), Secrets::default(), &path, at > 0).unwrap();
        let report =
            check(&contract, provider, &dialect, Arc::new(recorder), CheckOptions::default(), &Silent)
                .await
                .unwrap();
        assert!(report.verdict.is_pass(), "{name}: {}", report.reason);
    }
    let tape = folder().join(DOUBLES);
    if std::env::var_os("ONEJOB_BLESS").is_some() {
        std::fs::copy(&path, &tape).unwrap();
    }
    let (fresh, _) = Cassette::load(&path, false).unwrap();
    let (kept, _) = Cassette::load(&tape, false).unwrap();
    assert_eq!(fresh.0, kept.0, "run this test with ONEJOB_BLESS=1 and look at the difference");
}

#[tokio::test]
async fn one_provider_passes_and_one_fails_for_a_reason_that_a_schema_misses() {
    let files = copy();
    let check = async |provider: &str, tape: &str| {
        output(
            files.path(),
            &["check", "contract.toml", "--provider", provider, "--replay", tape, "--format", "json"],
        )
        .await
    };
    let (code, good, _) = check("fallback", DOUBLES).await;
    assert_eq!(code, 0, "{good}");
    let (code, bad, _) = check("cheap", REAL).await;
    assert_eq!(code, 1, "{bad}");
    let report: onejob_contracts::run::CheckReport = serde_json::from_str(&bad).unwrap();
    assert_eq!(report.figures.failed.keys().map(String::as_str).collect::<Vec<_>>(), ["value_mismatch"]);
    // Every output is valid under the schema.
    let schema = contract::load(&files.path().join("contract.toml")).unwrap().schema.unwrap();
    let checker = onejob_contracts::schema::Checker::new(&schema).unwrap();
    for (case, outcomes) in &report.outcomes {
        assert!(outcomes.outputs.iter().all(|(output, _)| checker.is_valid(output)), "{case}");
    }
}

/// Compares, attests, and gives the arguments that ask the gate.
pub(crate) async fn attested(files: &Path) -> Vec<String> {
    for args in [
        &["key", "--out", "key.pem"][..],
        &[
            "compare",
            "contract.toml",
            "--primary",
            "primary",
            "--fallback",
            "fallback",
            "--replay",
            DOUBLES,
            "--out",
            "result.json",
        ],
        &["attest", "contract.toml", "--result", "result.json", "--key", "key.pem"],
    ] {
        let (code, out, talk) = output(files, args).await;
        assert_eq!(code, 0, "{args:?}\n{out}\n{talk}");
    }
    ["can-failover", "contract.toml", "--from", "primary", "--to", "fallback", "--trust", "key.pub.pem"]
        .map(str::to_owned)
        .to_vec()
}

async fn ask(files: &Path, args: &[String]) -> (u8, String) {
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let (code, out, talk) = output(files, &args).await;
    (code, out + &talk)
}

#[tokio::test]
async fn the_gate_says_yes_and_after_any_change_no_with_the_reason() {
    let files = copy();
    let gate = attested(files.path()).await;
    let (code, said) = ask(files.path(), &gate).await;
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("yes: fallback may stand in for primary"), "{said}");

    let changes = [
        ("contract.toml", "for the ledger", "for the lodger", "changed", "contract"),
        ("contract.toml", "Amounts are in cents", "Amounts are in Cents", "changed", "prompt"),
        ("invoice.schema.json", "\"GBP\"]", "\"GBQ\"]", "changed", "schema"),
        ("cases.jsonl", "12.50", "12.51", "changed", "cases"),
        ("providers.toml", "fallback-1", "fallback-2", "changed", "model"),
        (
            "providers.toml",
            "[provider.fallback]\ndialect = \"anthropic\"\nbase_url = \"http://127.0.0.1:9\"",
            "[provider.fallback]\ndialect = \"anthropic\"\nbase_url = \"http://127.0.0.1:8\"",
            "changed",
            "endpoint",
        ),
        ("providers.toml", "primary-1", "primary-2", "changed", "primary's model"),
        (
            "attestations/invoice.primary.fallback.attestation.json",
            "\"payload\": \"eyJ",
            "\"payload\": \"eyK",
            "untrusted",
            "signature",
        ),
    ];
    for (file, from, to, code, reason) in changes {
        let path = files.path().join(file);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{file} has no {from}");
        std::fs::write(&path, text.replacen(from, to, 1)).unwrap();
        let (exit, said) = ask(files.path(), &gate).await;
        assert_eq!(exit, 21, "{file}: {from} → {to}: {said}");
        assert!(said.contains(&format!("no ({code})")) && said.contains(reason), "{file}: {said}");
        std::fs::write(&path, text).unwrap();
        assert_eq!(ask(files.path(), &gate).await.0, 0, "{file} put back");
    }

    let mut later = gate.clone();
    later.extend(["--at".to_owned(), "2126-01-01T00:00:00Z".to_owned()]);
    let (exit, said) = ask(files.path(), &later).await;
    assert!(exit == 21 && said.contains("no (expired)"), "{said}");

    let mut other = gate.clone();
    other.extend(["--model".to_owned(), "fallback-2".to_owned()]);
    let (exit, said) = ask(files.path(), &other).await;
    assert!(exit == 21 && said.contains("no (model_drift)"), "{said}");
}

#[tokio::test]
async fn a_fallback_that_fails_can_not_be_attested() {
    let files = copy();
    let primary =
        ["check", "contract.toml", "--provider", "primary", "--replay", DOUBLES, "--out", "primary.json"];
    assert_eq!(output(files.path(), &primary).await.0, 0);
    let compare = [
        "compare",
        "contract.toml",
        "--primary",
        "primary",
        "--fallback",
        "cheap",
        "--baseline",
        "primary.json",
        "--replay",
        REAL,
        "--out",
        "result.json",
    ];
    assert_eq!(output(files.path(), &compare).await.0, 1);
    output(files.path(), &["key", "--out", "key.pem"]).await;
    let (code, _, talk) =
        output(files.path(), &["attest", "contract.toml", "--result", "result.json", "--key", "key.pem"])
            .await;
    assert!(code == 2 && talk.contains("can't be attested"), "{talk}");
    let ask =
        ["can-failover", "contract.toml", "--from", "primary", "--to", "cheap", "--trust", "key.pub.pem"];
    let (code, out, _) = output(files.path(), &ask).await;
    assert!(code == 21 && out.contains("no_attestation"), "{out}");
}

#[tokio::test]
async fn drift_suspends_and_the_gate_hears_of_it() {
    let files = copy();
    let gate = attested(files.path()).await;
    let drift = [
        "drift",
        "contract.toml",
        "--provider",
        "fallback",
        "--trust",
        "key.pub.pem",
        "--per-case",
        "4",
        "--replay",
    ];
    let (code, out, _) = output(files.path(), &[&drift[..], &[DOUBLES]].concat()).await;
    assert!(code == 0 && out.contains("no drift"), "{out}");

    // The same provider, a month later: its amounts are wrong.
    let tape = std::fs::read_to_string(files.path().join(DOUBLES)).unwrap();
    std::fs::write(
        files.path().join("later.json"),
        tape.replace("\\\"total_cents\\\":1250", "\\\"total_cents\\\":12"),
    )
    .unwrap();
    let (code, out, _) = output(files.path(), &[&drift[..], &["later.json"]].concat()).await;
    assert!(code == 1 && out.contains("suspended"), "{out}");
    let (code, said) = ask(files.path(), &gate).await;
    assert!(code == 21 && said.contains("no (suspended)"), "{said}");
    std::fs::remove_file(files.path().join("attestations/invoice.fallback.suspended.json")).unwrap();
    assert_eq!(ask(files.path(), &gate).await.0, 0);
}
