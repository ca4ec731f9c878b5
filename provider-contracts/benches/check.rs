//! What it costs to check one answer: reading it in its provider's dialect, strict JSON, schema, expectations and rules.

use std::{hint::black_box, time::Duration};

use criterion::Criterion;
use onejob_contracts::{
    answer::{Judge, Meta, TokenExpectation, read_answer},
    contract,
    dialect::Catalogue,
};

const CONTRACT: &str = r#"
name = "bench"
[prompt]
messages = [{ role = "user", content = "{{ input.text }}" }]
[output]
inline_schema = { type = "object", properties = { vendor = { type = "string" }, total_cents = { type = "integer" }, due = { type = "string", format = "date" } }, required = ["vendor", "total_cents", "due"], additionalProperties = false }
[[case]]
name = "a"
input = { text = "ACME asks for 12.50 EUR." }
expect = [{ select = "$.total_cents", equals = 1250 }]
[[rule]]
name = "range"
cel = "output.total_cents > 0 && output.total_cents < 100000 && output.vendor.size() > 0"
[samples]
per_case = 1
[thresholds]
pass_rate = 0.9
"#;

const BODY: &str = r#"{"id":"c","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"{\"vendor\":\"ACME\",\"total_cents\":1250,\"due\":\"2026-03-01\"}"},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":20,"total_tokens":30}}"#;

fn main() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("contract.toml");
    std::fs::write(&path, CONTRACT).expect("written");
    let contract = contract::load(&path).expect("a contract");
    let dialect = Catalogue::embedded().expect("dialects").get("openai-chat").expect("a dialect");
    let judge = Judge::new(&contract).expect("a schema");
    let body: serde_json::Value = serde_json::from_str(BODY).expect("JSON");
    let (meta, expected) = (Meta::default(), TokenExpectation::default());
    let whole = || {
        let answer = read_answer(&dialect, black_box(&body));
        judge.judge(&dialect, &contract.cases[0], &answer, &meta, &expected, None)
    };
    // A check that does not pass does not do all the work.
    let judged = whole();
    assert!(judged.verdict.code().is_none(), "{judged:?}");

    let mut criterion = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
        .configure_from_args();
    criterion.bench_function("contract/read", |bench| bench.iter(|| read_answer(&dialect, black_box(&body))));
    criterion.bench_function("contract/check", |bench| bench.iter(whole));
    criterion.final_summary();
}
