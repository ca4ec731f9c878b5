//! Errors in a user's files: file, line, excerpt, what to do.

use crate::support::Workspace;

fn broken(text: &str) -> String {
    let workspace = Workspace::plain();
    workspace.write("contract.toml", text);
    workspace.contract().err().unwrap_or_else(|| panic!("accepted: {text}")).to_string()
}

const GOOD: &str = r#"
name = "invoice"
[prompt]
messages = [{ role = "user", content = "{{ input.text }}" }]
[output]
schema = "invoice.schema.json"
[[case]]
name = "a"
input = { text = "x" }
[[rule]]
name = "positive"
cel = "output.total_cents > 0"
[samples]
per_case = 40
[thresholds]
pass_rate = 0.9
"#;

#[test]
fn every_mistake_is_shown_with_its_place_and_a_way_out() {
    let cases = [
        ("pass_rate = 0.9", "pass_rat = 0.9", "contract.toml:16", "unknown field `pass_rat`"),
        (
            "cel = \"output.total_cents > 0\"",
            "cel = \"output. > 0\"",
            "contract.toml:12",
            "not a CEL expression",
        ),
        ("per_case = 40", "per_case = \"many\"", "contract.toml:14", "invalid type"),
        ("role = \"user\"", "role = \"human\"", "contract.toml:4", "`human` is no role"),
        ("{{ input.text }}", "{{ input.text }", "contract.toml:4", "syntax error"),
        ("name = \"invoice\"", "name = \"In voice\"", "contract.toml:2", "is no name for a contract"),
        ("[samples]", "[[samples]]", "contract.toml:13", "invalid type"),
    ];
    for (good, bad, place, problem) in cases {
        let shown = broken(&GOOD.replace(good, bad));
        assert!(shown.contains(place), "{bad}: {shown}");
        assert!(shown.contains(problem), "{bad}: {shown}");
        assert!(shown.contains("help:") && shown.contains('^') && shown.starts_with("OJ7"), "{bad}: {shown}");
    }
}

#[test]
fn a_selector_that_is_no_path_is_shown_where_it_stands() {
    let text = GOOD.replace(
        "input = { text = \"x\" }",
        "input = { text = \"x\" }\nexpect = [{ select = \"total\", equals = 1 }]",
    );
    let shown = broken(&text);
    assert!(shown.contains("contract.toml:10") && shown.contains("`total` is no JSONPath"), "{shown}");
}

#[test]
fn a_wrong_line_of_a_jsonl_file_is_named() {
    let workspace = Workspace::plain();
    workspace
        .write("cases.jsonl", "{\"name\":\"b\",\"input\":{\"text\":\"y\"}}\n{\"name\":\"c\",\"inptu\":{}}\n");
    workspace.write("contract.toml", &GOOD.replace("[prompt]", "cases = \"cases.jsonl\"\n[prompt]"));
    let shown = workspace.contract().unwrap_err().to_string();
    assert!(shown.contains("cases.jsonl:2") && shown.contains("inptu"), "{shown}");

    workspace.write("cases.jsonl", "{\"name\":\"b\",\"input\":{\"text\":\"y\"}}\n\n");
    let contract = workspace.contract().unwrap();
    assert_eq!(contract.cases.iter().map(|case| case.name.as_str()).collect::<Vec<_>>(), ["a", "b"]);

    workspace.write("cases.jsonl", "{\"name\":\"a\"}\n");
    let shown = workspace.contract().unwrap_err().to_string();
    assert!(shown.contains("two cases are called `a`"), "{shown}");
}

#[test]
fn a_missing_schema_file_is_named() {
    let shown = broken(&GOOD.replace("invoice.schema.json", "nowhere.json"));
    assert!(shown.contains("nowhere.json") && shown.contains("help:"), "{shown}");
}

#[test]
fn a_secret_in_a_providers_file_is_refused_and_not_repeated() {
    let workspace = Workspace::plain();
    workspace.write(
        "providers.toml",
        "[provider.p]\ndialect = \"plain\"\nbase_url = \"http://h\"\nheaders = { authorization = \"Bearer sk-secret\" }\n",
    );
    let shown = onejob_contracts::provider::load_providers(&workspace.path("providers.toml"))
        .unwrap_err()
        .to_string();
    assert!(shown.contains("key_env") && shown.contains("providers.toml:4"), "{shown}");
    assert!(!shown.contains("sk-secret"), "{shown}");
}

#[test]
fn lint_refuses_what_can_not_be_decided() {
    let verdicts = |text: &str| -> Vec<String> {
        let workspace = Workspace::plain();
        workspace.write("contract.toml", text);
        let contract = workspace.contract().unwrap_or_else(|error| panic!("{error}"));
        onejob_contracts::contract::lint(&contract)
            .0
            .iter()
            .map(|finding| finding.verdict.to_string())
            .collect()
    };
    assert_eq!(verdicts(GOOD), [""; 0]);
    let cases = [
        ("per_case = 40", "per_case = 20", "BLOCK(needs_more_samples)"),
        ("pass_rate = 0.9", "pass_rate = 1.0", "BLOCK(needs_more_samples)"),
        ("pass_rate = 0.9", "pass_rate = 90.0", "BLOCK(lint:bar)"),
        ("cel = \"output.total_cents > 0\"", "cel = \"outptu.total_cents > 0\"", "BLOCK(lint:rule)"),
        ("cel = \"output.total_cents > 0\"", "cel = \"input.text == 'x'\"", "BLOCK(lint:rule)"),
        ("[samples]", "[budget]\ncalls = 5\n[samples]", "BLOCK(lint:budget)"),
        ("[samples]", "[[agree]]\nselect = \"$.vendor\"\n[samples]", "BLOCK(lint:agree)"),
        (
            "[samples]",
            "[[agree]]\nselect = \"$.vendor\"\nat_least = 0.99\n[samples]",
            "BLOCK(needs_more_samples)",
        ),
        ("name = \"invoice\"", "name = \"invoice\"\nexpires_after_hours = 0", "BLOCK(lint:expiry)"),
        (
            "name = \"invoice\"",
            "name = \"invoice\"\nfailover_on = [\"server_error\"]",
            "BLOCK(lint:failover_on)",
        ),
        ("[samples]", "[latency]\ndeadline_ms = 0\n[samples]", "BLOCK(lint:latency)"),
        ("[samples]", "[latency]\ndeadline_ms = 9000000000000000000\n[samples]", "BLOCK(lint:latency)"),
        ("pass_rate = 0.9", "pass_rate = nan", "BLOCK(lint:bar)"),
        ("pass_rate = 0.9", "pass_rate = 0.9\nmax_refusal_rate = nan", "BLOCK(lint:bar)"),
        ("pass_rate = 0.9", "pass_rate = -inf", "BLOCK(lint:bar)"),
        ("per_case = 40", "per_case = 40\nconcurrency = 1000000000", "BLOCK(lint:concurrency)"),
        ("per_case = 40", "per_case = 0", "BLOCK(needs_more_samples)"),
        ("[samples]", "[budget]\nusd = nan\n[samples]", "BLOCK(lint:budget)"),
        ("[samples]", "[budget]\nusd = -1.0\n[samples]", "BLOCK(lint:budget)"),
        ("[samples]", "[[agree]]\nselect = \"$.vendor\"\nat_least = nan\n[samples]", "BLOCK(lint:agree)"),
        (
            "[samples]",
            "[[agree]]\nselect = \"$.total_cents\"\nat_least = 0.5\ntolerance = inf\n[samples]",
            "BLOCK(lint:tolerance)",
        ),
        ("name = \"invoice\"", "name = \"invoice\"\nexpires_after_hours = 4294967295", "BLOCK(lint:expiry)"),
        ("schema = \"invoice.schema.json\"", "inline_schema = { \"$ref\" = \"#\" }", "BLOCK(lint:schema)"),
        ("[samples]", "[latency]\ndeadline_ms = 900\np95_ms = 900\n[samples]", "BLOCK(lint:latency)"),
        ("schema = \"invoice.schema.json\"", "inline_schema = { type = \"strnig\" }", "BLOCK(lint:schema)"),
        (
            "schema = \"invoice.schema.json\"",
            "schema = \"invoice.schema.json\"\nnull_equals_missing = [\"nothing\"]",
            "BLOCK(lint:null_equals_missing)",
        ),
        (
            "input = { text = \"x\" }",
            "input = { text = \"x\" }\nexpect = [{ select = \"$.vendor\" }]",
            "BLOCK(lint:expectation)",
        ),
    ];
    for (good, bad, verdict) in cases {
        let found = verdicts(&GOOD.replace(good, bad));
        assert!(found.iter().any(|one| one == verdict), "{bad}: {found:?}");
    }
}
