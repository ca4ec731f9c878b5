//! Pages that commands write for people.

use std::io::{Read as _, Write as _};

use crate::support::{database, onejob};

const STORED: &str = include_str!("../../../reports/tests/data/report-v1.json");
const INVOICE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../provider-contracts/contracts/invoice");

#[test]
fn without_a_display_the_place_of_the_last_page_is_printed() {
    let opened = onejob(["report", "open"]).file(".onejob/report.json", STORED);
    let opened = ["DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME"]
        .iter()
        .fold(opened, |call, name| call.env(name, ""));
    let outcome = opened.run().exits(0).prints(".onejob/report.html").tells("no display");
    assert!(outcome.left(".onejob/report.html").contains("<!doctype html>"));
}

#[test]
fn where_there_was_no_run_there_is_nothing_to_open() {
    onejob(["report", "open"]).run().exits(2).tells("OJ6007").tells("onejob run");
}

#[test]
fn a_failing_contract_is_shown_with_its_bounds_and_the_samples_that_failed() {
    let (contract, tape) = (format!("{INVOICE}/contract.toml"), format!("{INVOICE}/smollm2.cassette.json"));
    let check = ["contract", "check", &contract, "--provider", "cheap", "--replay", &tape];
    let outcome = onejob(check.into_iter().chain(["--report", "html=x.html", "--report", "markdown=x.md"]))
        .run()
        .exits(1);
    for page in ["x.html", "x.md"] {
        let page = outcome.left(page);
        // Markdown escapes the underscores of names.
        let page = page.replace('\\', "");
        for told in ["lower bound", "90.0 %", "total_cents is 12, expected 1250", "value_mismatch"] {
            assert!(page.contains(told), "{told}: {page}");
        }
    }
}

#[test]
fn a_comparison_shows_both_rates_side_by_side() {
    let (contract, tape) = (format!("{INVOICE}/contract.toml"), format!("{INVOICE}/doubles.cassette.json"));
    let compare = ["contract", "compare", &contract, "--primary", "primary", "--fallback", "fallback"];
    let more = ["--replay", &tape, "--report", "markdown=x.md"];
    let page = onejob(compare.into_iter().chain(more)).run().exits(0).left("x.md");
    assert!(page.contains("|  | primary | fallback |") && page.contains("### Agreement"), "{page}");
}

#[test]
fn a_page_that_nothing_would_write_is_refused_before_any_work() {
    let contract = format!("{INVOICE}/contract.toml");
    onejob(["contract", "lint", &contract, "--report", "html=x.html"]).run().exits(2).tells("check");
    onejob(["contract", "lint", &contract, "--report", "html=nowhere/x.html"])
        .run()
        .exits(11)
        .tells("nowhere");
    onejob(["prove", "--report", "junit=x.xml"]).run().exits(2).tells("markdown");
}

#[test]
fn an_exploration_writes_what_it_reached_as_a_page_a_summary_and_json() {
    let url = database();
    let flags = ["explore", "--database-url", &url, "--seed", "11", "--plans", "2", "--format", "json"];
    let reports = ["--report", "html=x.html", "--report", "markdown=x.md", "--report", "json=x.json"];
    let outcome = onejob(flags.iter().chain(&reports)).run().exits(0);
    let told: serde_json::Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    let kept: serde_json::Value = serde_json::from_str(&outcome.left("x.json")).expect("JSON");
    assert_eq!(told, kept);
    assert_eq!(
        (&kept["played"], &kept["command"]),
        (&2.into(), &"onejob explore --seed 11 --plans 2".into())
    );
    let page = outcome.left("x.html");
    assert!(page.contains("nothing broke") && page.contains("never reached"), "{page}");
    assert!(outcome.left("x.md").contains("pairs of an event and the state that it met"));
}

#[test]
fn what_explore_cannot_write_is_refused_before_any_work() {
    onejob(["explore", "--report", "junit=x.xml"]).run().exits(2).tells("OJ6004").tells("json=PATH");
}

const SECRET: &str = "sk-t0psecret/12+34=";

/// Ways in which the secret could be written.
const WRITTEN: [&str; 4] = ["t0psecret", "t0psecret%2F12", "t0psecret\\/12", "c2stdDBwc2VjcmV0"];

/// A provider that sends its caller's key back: as it is, and as others write it.
fn echoing() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { continue };
            let _ = stream.read(&mut vec![0; 65_536]);
            let body = format!(
                "{{\"error\": {{\"message\": \"bad key {SECRET} at /x?k=sk-t0psecret%2F12%2B34%3D c2stdDBwc2VjcmV0LzEyKzM0PQ==\"}}}}"
            );
            let head = "content-type: application/json\r\nconnection: close";
            let length = body.len();
            let _ = write!(
                stream,
                "HTTP/1.1 400 Bad Request\r\n{head}\r\ncontent-length: {length}\r\n\r\n{body}"
            );
        }
    });
    format!("http://{address}")
}

#[test]
fn a_key_that_a_provider_sends_back_is_on_no_page() {
    let providers = format!(
        "[provider.p]\ndialect = \"openai-chat\"\nbase_url = \"{}/v1\"\nmodel = \"m\"\nkey_env = \"P_KEY\"\n\
         parameters = {{ temperature = 0, max_output_tokens = 200 }}\n",
        echoing()
    );
    let contract = format!("{INVOICE}/contract.toml");
    let check =
        ["contract", "check", &contract, "--providers", "p.toml", "--provider", "p", "--per-case", "1"];
    let reports = ["--report", "html=x.html", "--report", "markdown=x.md", "--report", "json=x.json"];
    let outcome = onejob(check.iter().chain(&reports)).file("p.toml", &providers).env("P_KEY", SECRET).run();
    for page in ["x.html", "x.md", "x.json"] {
        let page = outcome.left(page);
        assert!(page.contains("bad key"), "so this test can fail: {page}");
        for written in WRITTEN {
            assert!(!page.contains(written), "{written}: {page}");
        }
    }
}
