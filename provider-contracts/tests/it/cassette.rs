//! Recording and replaying.

use std::sync::Arc;

use onejob_contracts::run::{CheckError, CheckOptions, CheckReport, Silent, check};
use onejob_contracts::transport::{Cassette, Recorder, Replayer, Secrets, Transport};

use crate::support::{Script, Scripted, Workspace};
use crate::wire::Wire;

async fn run(
    workspace: &Workspace,
    transport: Arc<dyn Transport>,
    replayed: bool,
) -> Result<CheckReport, CheckError> {
    let contract = workspace.contract().unwrap();
    let (provider, dialect) = workspace.provider("fallback");
    let options = CheckOptions { replayed, ..CheckOptions::default() };
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
