//! Recording and replaying.

use std::sync::Arc;

use onejob_contracts::run::{CheckError, CheckOptions, CheckReport, Silent, check};
use onejob_contracts::transport::{Cassette, Http, Recorder, Replayer, RunId, Secrets, Transport};

use crate::support::{Act, Double, Script, Scripted, Workspace};
use crate::wire::Wire;

async fn run(
    workspace: &Workspace,
    transport: Arc<dyn Transport>,
    replayed: bool,
) -> Result<CheckReport, CheckError> {
    carry_out(workspace, transport, CheckOptions { replayed, ..CheckOptions::default() }).await
}

async fn run_as(
    workspace: &Workspace,
    transport: Arc<dyn Transport>,
    run: RunId,
) -> Result<CheckReport, CheckError> {
    carry_out(workspace, transport, CheckOptions { run, ..CheckOptions::default() }).await
}

async fn carry_out(
    workspace: &Workspace,
    transport: Arc<dyn Transport>,
    options: CheckOptions,
) -> Result<CheckReport, CheckError> {
    let contract = workspace.contract().unwrap();
    let (provider, dialect) = workspace.provider("fallback");
    check(&contract, &provider, &dialect, transport, options, &Silent).await
}

fn script(answers: &[&str]) -> Arc<Script> {
    let wire = Wire::load("openai-chat");
    let answer: Vec<Scripted> = answers
        .iter()
        .map(|content| Scripted { content: Some((*content).to_owned()), ..Scripted::default() })
        .collect();
    let run = crate::support::Run::answering(answer);
    Arc::new(Script::new(run.script(&|content| wire.success(content))))
}

#[tokio::test(start_paused = true)]
async fn a_replay_comes_to_the_same_report_without_sending() {
    let workspace = Workspace::plain();
    let path = workspace.path("tape.json");
    let answers = [crate::support::INVOICE, "{\"vendor\":1}", "prose", crate::support::INVOICE];
    let recorder = Recorder::new(script(&answers), Secrets::default(), &path, false).unwrap();
    let original = run(&workspace, Arc::new(recorder), false).await.unwrap();
    let replayed = run(&workspace, Arc::new(Replayer::new(&path).unwrap()), true).await.unwrap();
    assert_eq!(original.verdict, replayed.verdict);
    assert_eq!(original.figures, replayed.figures);
    assert_eq!(original.outcomes, replayed.outcomes);
    let told = |report: &CheckReport| -> Vec<String> {
        report.failures.iter().map(|failure| format!("{} {}", failure.verdict, failure.message)).collect()
    };
    assert_eq!(told(&original), told(&replayed));
    assert_eq!(original.figures.failed.values().sum::<u32>(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_was_not_recorded_is_an_error_and_never_sent() {
    let workspace = Workspace::plain();
    let path = workspace.path("tape.json");
    let recorder =
        Recorder::new(script(&[crate::support::INVOICE]), Secrets::default(), &path, false).unwrap();
    run(&workspace, Arc::new(recorder), false).await.unwrap();
    let contract = std::fs::read_to_string(workspace.path("contract.toml")).unwrap();
    workspace.write("contract.toml", &contract.replace("per_case = 4", "per_case = 5"));
    let problem =
        run(&workspace, Arc::new(Replayer::new(&path).unwrap()), true).await.unwrap_err().to_string();
    assert!(problem.contains("OJ7011") && problem.contains("fallback/acme/4/0"), "{problem}");
}

#[tokio::test(start_paused = true)]
async fn a_changed_prompt_is_not_answered_from_an_old_recording() {
    let workspace = Workspace::plain();
    let path = workspace.path("tape.json");
    let recorder =
        Recorder::new(script(&[crate::support::INVOICE]), Secrets::default(), &path, false).unwrap();
    run(&workspace, Arc::new(recorder), false).await.unwrap();
    let contract = std::fs::read_to_string(workspace.path("contract.toml")).unwrap();
    workspace.write("contract.toml", &contract.replace("Add nothing.", "Add nothing!"));
    let problem =
        run(&workspace, Arc::new(Replayer::new(&path).unwrap()), true).await.unwrap_err().to_string();
    assert!(problem.contains("OJ7012") && problem.contains("/messages/0/content"), "{problem}");
}

#[tokio::test(start_paused = true)]
async fn an_interrupted_run_goes_on_where_it_stopped() {
    let workspace = Workspace::plain();
    let path = workspace.path("tape.json");
    let first = script(&[crate::support::INVOICE]);
    let recorder = Recorder::new(Arc::clone(&first) as _, Secrets::default(), &path, false).unwrap();
    run(&workspace, Arc::new(recorder), false).await.unwrap();
    assert_eq!(first.sends(), 5);

    // Killed in the middle of writing its fourth call.
    let text = std::fs::read_to_string(&path).unwrap();
    let fourth = text.match_indices("\"call\"").nth(3).unwrap().0;
    std::fs::write(&path, &text[..fourth + 40]).unwrap();
    assert!(Replayer::new(&path).err().unwrap().to_string().contains("--resume"));

    let second = script(&[crate::support::INVOICE]);
    let recorder = Recorder::new(Arc::clone(&second) as _, Secrets::default(), &path, true).unwrap();
    let report = run(&workspace, Arc::new(recorder), false).await.unwrap();
    assert_eq!(second.sends(), 2);
    assert!(report.verdict.is_pass());
    let (whole, _) = Cassette::load(&path, false).unwrap();
    assert_eq!(whole.0.len(), 5);
}

#[tokio::test]
async fn an_existing_cassette_is_never_overwritten_by_accident() {
    let workspace = Workspace::plain();
    workspace.write("tape.json", "{}");
    let refused = Recorder::new(script(&["{}"]), Secrets::default(), &workspace.path("tape.json"), false);
    assert!(refused.is_err());
    assert_eq!(std::fs::read_to_string(workspace.path("tape.json")).unwrap(), "{}");
}

#[tokio::test(start_paused = true)]
async fn the_same_run_records_the_same_bytes() {
    let mut texts = Vec::new();
    for _ in 0..2 {
        let workspace = Workspace::plain();
        let path = workspace.path("tape.json");
        let recorder =
            Recorder::new(script(&[crate::support::INVOICE]), Secrets::default(), &path, false).unwrap();
        run(&workspace, Arc::new(recorder), false).await.unwrap();
        texts.push(std::fs::read_to_string(&path).unwrap());
    }
    assert_eq!(texts[0], texts[1]);
}

/// The half that is killed: run by the test below in a process of its own.
#[tokio::test]
#[ignore = "is a part of another test"]
async fn the_half_that_is_killed() {
    let Some(folder) = std::env::var_os("ONEJOB_TEST_FOLDER").map(std::path::PathBuf::from) else { return };
    let contract = onejob_contracts::contract::load(&folder.join("contract.toml")).unwrap();
    let provider = onejob_contracts::provider::load_providers(&folder.join("providers.toml")).unwrap();
    let provider = &provider["fallback"];
    let dialect = onejob_contracts::dialect::Catalogue::embedded().unwrap().get(&provider.dialect).unwrap();
    let http = Arc::new(Http::new(None).unwrap());
    let recorder = Recorder::new(http, Secrets::default(), &folder.join("tape.json"), false).unwrap();
    let options = CheckOptions { run: RunId::fresh(), ..CheckOptions::default() };
    check(&contract, provider, &dialect, Arc::new(recorder), options, &Silent).await.unwrap();
}

#[tokio::test]
async fn after_a_kill_no_sample_is_paid_twice() {
    const ANSWERED: usize = 12;
    const OUT: usize = 4;
    let contract = format!("[samples]\nper_case = 40\nconcurrency = {OUT}");
    let workspace = Workspace::new(&contract.parse().unwrap(), &toml::Table::new());
    let answer = Act::json(200, &Wire::load("openai-chat").success(crate::support::INVOICE));
    let mut acts = vec![answer.clone(); ANSWERED];
    acts.push(Act::Hold);
    let first = Double::start(acts).await;
    let providers = std::fs::read_to_string(workspace.path("providers.toml")).unwrap();
    workspace.write("providers.toml", &providers.replace("http://127.0.0.1:9", &first.url));
    let mut half = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "cassette::the_half_that_is_killed", "--ignored"])
        .env("ONEJOB_TEST_FOLDER", workspace.folder())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let until = std::time::Instant::now() + std::time::Duration::from_mins(1);
    while first.received() < ANSWERED + OUT {
        assert!(std::time::Instant::now() < until, "only {} requests came", first.received());
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    half.kill().unwrap();
    half.wait().unwrap();

    let second = Double::start(vec![answer]).await;
    workspace.write("providers.toml", &providers.replace("http://127.0.0.1:9", &second.url));
    let path = workspace.path("tape.json");
    let run_id = RunId::fresh();
    let http = Arc::new(Http::new(None).unwrap());
    let recorder = Recorder::new(http, Secrets::default().of_run(run_id), &path, true).unwrap();
    assert_eq!(recorder.lost(), OUT, "those that were out are known");
    let report = run_as(&workspace, Arc::new(recorder), run_id).await.unwrap();
    // 40 samples and a canary, each sent once by one of the two runs.
    assert_eq!(first.received() + second.received(), 41);
    assert_eq!((report.figures.samples, report.figures.unknown), (40, 4));
    assert!(!workspace.path("tape.json.sent").exists(), "every call is in the cassette now");
    let replayed = run(&workspace, Arc::new(Replayer::new(&path).unwrap()), true).await.unwrap();
    assert_eq!(replayed.figures.unknown, 4);
}

#[tokio::test]
async fn two_runs_never_record_into_one_file() {
    let workspace = Workspace::plain();
    let path = workspace.path("tape.json");
    let new = |resume| Recorder::new(script(&["{}"]), Secrets::default(), &path, resume);
    let first = new(false).unwrap();
    let told = new(true).err().unwrap().to_string();
    assert!(told.contains("OJ7015"), "{told}");
    let told = new(false).err().unwrap().to_string();
    assert!(told.contains("OJ7013") && told.contains("--resume"), "{told}");
    drop(first);
    assert!(new(true).is_ok(), "an end of the first is enough");
}

#[tokio::test(start_paused = true)]
async fn a_run_of_another_name_records_the_same_bytes_and_no_secret() {
    let mut texts = Vec::new();
    for secret in ["sk-first-secret", "sk-second-secret"] {
        let workspace = Workspace::new(
            &toml::Table::new(),
            &format!("body = {{ api_key = \"{secret}\" }}\nheaders = {{ x-own = \"a-{{key}}\" }}")
                .parse()
                .unwrap(),
        );
        let path = workspace.path("tape.json");
        let run_id = RunId::fresh();
        let recorder =
            Recorder::new(script(&["prose"]), Secrets::new([secret.to_owned()]).of_run(run_id), &path, false)
                .unwrap();
        let report = run_as(&workspace, Arc::new(recorder), run_id).await.unwrap();
        let report = serde_json::to_string(&report).unwrap();
        assert!(!report.contains(secret) && report.contains("[redacted]"), "{report}");
        texts.push(std::fs::read_to_string(&path).unwrap());
        assert!(!texts[texts.len() - 1].contains(secret));
    }
    assert_eq!(texts[0], texts[1]);
}

#[tokio::test]
async fn a_key_that_a_provider_repeats_reaches_no_report() {
    const KEY: &str = "sk-echoed/by \"them\"";
    let body =
        serde_json::json!({ "error": { "message": format!("wrong key {KEY}"), "type": "auth" } }).to_string();
    for status in [401, 400, 200] {
        let double = Double::start(vec![Act::json(status, &body)]).await;
        let workspace = Workspace::plain();
        let text = std::fs::read_to_string(workspace.path("providers.toml")).unwrap();
        workspace.write("providers.toml", &text.replace("http://127.0.0.1:9", &double.url));
        let http = Arc::new(Http::new(Some(KEY.to_owned())).unwrap());
        let report = run(&workspace, http, false).await.unwrap();
        let text = serde_json::to_string(&report).unwrap();
        assert!(!text.contains("sk-echoed") && text.contains("[redacted]"), "{status}: {text}");
    }
}
