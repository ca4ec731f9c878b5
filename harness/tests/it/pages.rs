//! Pages that commands write for people.

use crate::support::onejob;

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
