//! Stored histories, judged again.

use std::fmt::Write as _;

use onejob::history::{Answer, Event, Kind};
use serde_json::json;

use crate::{
    checkers::{push, sent},
    story::job,
    support::{Onejob, Outcome, onejob},
};

const SCENARIO: &str = "id = \"plain\"\ntitle = \"One job\"\nwhy = \"It has to be.\"\n[[step]]\nid = \"s\"\n\
    do = \"submit\"\ntimes = 2\nwith = { key = \"K\", payload = \"P\" }\nexpect = { status = [200, 201] }\n\
    [witness]\nanswered = [\"s\"]\n";

/// Two submits of one key, answered with these jobs.
fn history(first: &str, second: &str) -> Vec<Event> {
    let mut events = Vec::new();
    for (request, told) in [(1, first), (2, second)] {
        push(&mut events, sent(request, &format!("s.{request}"), "submit", &["K", "P"]));
        let answer: Answer = job(201, told, "accepted");
        push(&mut events, Kind::Answered { request, answer });
    }
    push(&mut events, Kind::RoundEnded);
    events
}

fn lines(version: u32, events: &[Event]) -> String {
    let mut text = format!("{}\n", json!({ "onejob_history": version, "cell": "plain", "repeat": 1 }));
    for event in events {
        writeln!(text, "{}", serde_json::to_string(event).expect("JSON")).expect("a string takes all");
    }
    text
}

/// A store with a run whose one cell came to `verdict`.
fn store(verdict: &str, history: &str) -> Onejob {
    let report = json!({
        "schema_version": onejob_reports::model::SCHEMA_VERSION, "tool_version": "0.0.1", "run_id": "r",
        "started_at": "2026-01-01T00:00:00Z", "duration_us": 1, "target": "reference",
        "profile": { "name": "job", "widens": [] }, "defects": [], "database": null, "seed": 1,
        "interrupted": false, "shard": null, "planned": 1, "not_run": [],
        "cells": [{
            "scenario": "plain", "title": "One job", "why": "It has to be.", "tags": [], "covers": [], "at": {},
            "source": { "file": "plain.toml", "line": 1 }, "verdict": verdict, "flaky": false, "rounds": 1,
            "repeats": [], "duration_us": 7, "setup_us": 3, "gate": null, "promises": [], "witnesses": [],
            "skipped": null, "error": null, "timeline": [], "replay": "onejob run plain", "curl": [],
        }],
    });
    onejob(["report", "--rejudge", "--store", "kept", "--scenarios", "plain.toml", "--format", "json"])
        .file("plain.toml", SCENARIO)
        .file("kept/report.json", &report.to_string())
        .file("kept/history/plain.1.ndjson", history)
}

fn verdict(outcome: &Outcome) -> serde_json::Value {
    let report: serde_json::Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    assert_eq!(report["cells"][0]["duration_us"], 7, "the run's own times are kept");
    report["cells"][0]["verdict"].clone()
}

#[test]
fn a_verdict_that_stands_is_confirmed() {
    let outcome =
        store("pass", &lines(1, &history("a", "a"))).run().exits(0).tells("no difference in 1 cell");
    assert_eq!(verdict(&outcome), "pass");
}

#[test]
fn a_verdict_that_the_laws_of_today_see_otherwise_is_told() {
    let outcome = store("pass", &lines(1, &history("a", "b"))).run().exits(1);
    assert_eq!(verdict(&outcome), "fail");
    outcome.tells("newly broken (1)").tells("became 2 jobs");
    let outcome = store("fail", &lines(1, &history("a", "a"))).run().exits(0);
    assert_eq!(verdict(&outcome), "pass");
    outcome.tells("newly passing (1)");
}

#[test]
fn a_history_of_another_version_is_not_guessed_at() {
    store("pass", &lines(7, &history("a", "a"))).run().exits(2).tells("OJ6011").tells("in version 7");
}

#[test]
fn a_line_that_breaks_off_ends_the_history() {
    let whole = lines(1, &history("a", "a"));
    let torn = whole.trim_end();
    let torn = &torn[..torn.len() - 5];
    // The last line was the end of the round; without it the round shows less, but the same answers.
    store("pass", torn).run().exits(0).tells("ends in the middle of line 6: judged up to there");
}

#[test]
fn a_history_that_was_changed_is_refused_with_its_line() {
    let whole = lines(1, &history("a", "a"));
    let spoilt = whole.replacen("\"answered\"", "\"answred\"", 1);
    store("pass", &spoilt).run().exits(2).tells("OJ6011").tells("line 3");
    let mut without_a_line: Vec<&str> = whole.lines().collect();
    without_a_line.remove(2);
    let without_a_line = format!("{}\n", without_a_line.join("\n"));
    store("pass", &without_a_line).run().exits(2).tells("is not whole: line 3 holds event 2");
}

#[test]
fn a_store_without_histories_is_told() {
    onejob(["report", "--rejudge", "--store", "nowhere"]).run().exits(2).tells("OJ6007");
}
