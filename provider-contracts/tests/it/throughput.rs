//! Memory and the spend cap over many samples.

use std::sync::Arc;

use onejob_contracts::run::{CheckOptions, Silent, check};

use crate::support::{Act, Double, INVOICE, Run, Script, Workspace};
use crate::wire::Wire;

#[tokio::test(start_paused = true)]
async fn a_report_does_not_grow_with_the_number_of_samples() {
    let mut sizes = Vec::new();
    for per_case in [50, 1_000] {
        let contract = format!("[samples]\nper_case = {per_case}\nconcurrency = 8");
        let workspace = Workspace::new(&contract.parse().unwrap(), &toml::Table::new());
        let contract = workspace.contract().unwrap();
        let (provider, dialect) = workspace.provider("fallback");
        let wire = Wire::load("openai-chat");
        let answers = (0..=per_case).map(|number| crate::support::Scripted {
            content: Some(if number % 2 == 0 {
                INVOICE.replace("1250", &number.to_string())
            } else {
                format!("prose {number}")
            }),
            ..crate::support::Scripted::default()
        });
        let run = Run::answering(answers.collect());
        let script = Arc::new(Script::new(run.script(&|content| wire.success(content))));
        let report =
            check(&contract, &provider, &dialect, script, CheckOptions::default(), &Silent).await.unwrap();
        assert_eq!(report.figures.samples, per_case);
        sizes.push(serde_json::to_string(&report).unwrap().len());
    }
    assert!(sizes[1] < sizes[0] * 4, "{sizes:?}");
}

#[tokio::test]
async fn the_spend_cap_ends_a_run_and_is_never_exceeded_at_any_concurrency() {
    // 60 tokens a call. Without a limit on the output calls go out alone; with one as many as can't exceed the cap.
    for limit in ["", "[parameters]\nmax_output_tokens = 30"] {
        let contract = "[samples]\nper_case = 200\nconcurrency = 8\n[budget]\ntokens = 2500";
        let workspace = Workspace::new(&contract.parse().unwrap(), &limit.parse().unwrap());
        let double = Double::start(vec![Act::json(200, &Wire::load("openai-chat").success(INVOICE))]).await;
        let text = std::fs::read_to_string(workspace.path("providers.toml")).unwrap();
        workspace.write("providers.toml", &text.replace("http://127.0.0.1:9", &double.url));
        let contract = workspace.contract().unwrap();
        let (provider, dialect) = workspace.provider("fallback");
        let http = Arc::new(onejob_contracts::transport::Http::new(None).unwrap());
        let report =
            check(&contract, &provider, &dialect, http, CheckOptions::default(), &Silent).await.unwrap();
        assert_eq!(report.verdict.to_string(), "INCONCLUSIVE(budget_exhausted)");
        let spent = report.figures.spent;
        let cap = if limit.is_empty() { 2500 + 60 } else { 2500 };
        assert!(spent.input_tokens + spent.output_tokens <= cap, "{limit}: {spent:?}");
        assert_eq!(spent.calls, double.received() as u64);
        assert_eq!(
            spent.input_tokens + spent.output_tokens,
            60 * double.received() as u64,
            "all of it is booked"
        );
        assert!(double.received() > 20, "{limit}: {}", double.received());
    }
}

#[tokio::test]
async fn a_server_that_accepts_and_stalls_gets_one_request_and_the_outcome_is_unknown() {
    for act in [
        Act::Hold,
        Act::Close,
        Act::StallAfter(vec![b"{\"id\"".to_vec()]),
        Act::HalfStream(vec![b"{\"id\"".to_vec()]),
    ] {
        let workspace = Workspace::new(&"[latency]\ndeadline_ms = 300".parse().unwrap(), &toml::Table::new());
        let double = Double::start(vec![act.clone()]).await;
        let text = std::fs::read_to_string(workspace.path("providers.toml")).unwrap();
        workspace.write("providers.toml", &text.replace("http://127.0.0.1:9", &double.url));
        let contract = workspace.contract().unwrap();
        let (provider, dialect) = workspace.provider("fallback");
        let http = Arc::new(onejob_contracts::transport::Http::new(None).unwrap());
        let report =
            check(&contract, &provider, &dialect, http, CheckOptions::default(), &Silent).await.unwrap();
        assert_eq!(report.verdict.to_string(), "UNKNOWN(outcome_unknown)", "{act:?}: {}", report.reason);
        assert_eq!(double.received(), 1, "{act:?}");
    }
}
