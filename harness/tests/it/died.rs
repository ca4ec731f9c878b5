//! Runs that never reached their end: what the store has of them, and what `onejob report` makes of it.

use std::{
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
};

use rustix::process::{Pid, Signal, kill_process};

use crate::support::{database, onejob};

const QUICK: &str = "id = \"quick\"\ntitle = \"One job\"\nwhy = \"It has to be.\"\n[[step]]\nid = \"s\"\n\
    do = \"submit\"\nwith = { key = \"K\", payload = \"P\" }\nexpect = { status = [200, 201, 202] }\n\
    [witness]\nanswered = [\"s\"]\n";

/// Waits for ten minutes for what can't come: whenever the run is killed, this cell has not ended.
const ENDLESS: &str = "id = \"endless\"\ntitle = \"One job\"\nwhy = \"It has to be.\"\nwithin = \"600s\"\n\
    [[provider]]\ncall = \"A\"\nreply = \"hold\"\n[[step]]\nid = \"s\"\ndo = \"submit\"\n\
    with = { key = \"K\", payload = \"P\" }\nopen = true\nexpect = { status = [200, 201, 202] }\n\
    [[step]]\nid = \"end\"\ndo = \"read\"\njob = \"s\"\nuntil = \"cancelled\"\n[witness]\nanswered = [\"s\"]\n";

const FORMATS: [&str; 9] =
    ["term", "junit", "json", "ndjson", "markdown", "annotations", "sarif", "tap", "html"];

/// A run whose first cell has ended, and whose second never will.
fn running() -> (Child, tempfile::TempDir) {
    let flags = ["run", "--scenarios", "s", "--database-url", &database(), "--report", "html=page.html"];
    let (mut command, folder) = onejob(flags).file("s/a.toml", QUICK).file("s/b.toml", ENDLESS).into_parts();
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("the program starts");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let ended =
        lines.by_ref().map_while(Result::ok).any(|line| line.contains("quick") && line.contains("pass"));
    assert!(ended, "the first cell's line comes while the second goes on");
    (child, folder)
}

fn report(folder: &Path, format: &str) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_onejob"));
    let call =
        command.args(["report", "render", "--format", format]).current_dir(folder).env("NO_COLOR", "1");
    let output = call.env("COLUMNS", "400").output().expect("it starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// Every format tells of the cell that ended and of the one that did not.
fn tells_what_is_missing(folder: &Path) {
    for format in FORMATS {
        let (code, page, told) = report(folder, format);
        assert_eq!(code, Some(0), "{format}: {told}");
        assert!(told.contains("the last run has no report"), "{format}: {told}");
        assert!(page.contains("endless") && page.contains("has no end"), "{format}: {page}");
    }
    let (_, page, _) = report(folder, "json");
    let page: serde_json::Value = serde_json::from_str(&page).expect("JSON");
    assert_eq!((&page["planned"], &page["not_run"][0]), (&2.into(), &"endless".into()));
    assert_eq!(page["cells"][0]["verdict"], "pass");
}

#[test]
fn a_run_that_was_killed_is_the_last_run_with_what_it_had_found() {
    let (mut child, folder) = running();
    // The report of a run before it must not be taken for its own.
    let stale = include_str!("../../../reports/tests/data/report-v1.json");
    std::fs::write(folder.path().join(".onejob/report.json"), stale).expect("a file");
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    tells_what_is_missing(folder.path());
    assert!(!folder.path().join("page.html").exists(), "no half of a page");
    // Whoever runs again what failed runs again what did not run.
    let flags = ["run", "--last-failed", "--scenarios", "s/a.toml", "--database-url", &database()];
    let mut command = Command::new(env!("CARGO_BIN_EXE_onejob"));
    let again = command.args(flags).current_dir(folder.path()).output().expect("it starts");
    assert_eq!(again.status.code(), Some(4), "the quick one passed: {again:?}");
}

#[test]
fn who_interrupts_twice_waits_for_nothing_and_finds_what_there_was() {
    let (mut child, folder) = running();
    let pid = Pid::from_child(&child);
    // The first may be answered by a report, where the second comes late; it is there then.
    kill_process(pid, Signal::INT).expect("it runs");
    let _ = kill_process(pid, Signal::INT);
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    let (code, page, told) = report(folder.path(), "json");
    assert_eq!(code, Some(0), "{told}");
    let page: serde_json::Value = serde_json::from_str(&page).expect("JSON");
    assert_eq!((&page["interrupted"], &page["not_run"][0]), (&true.into(), &"endless".into()));
    assert_eq!(page["cells"][0]["verdict"], "pass");
}

#[test]
fn a_journal_that_breaks_off_in_a_cell_is_read_up_to_there() {
    let (mut child, folder) = running();
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    let journal = folder.path().join(".onejob/running.ndjson");
    let whole = std::fs::read(&journal).expect("the journal");
    std::fs::write(&journal, &whole[..whole.len() - 30]).expect("a file");
    let (code, page, told) = report(folder.path(), "term");
    assert_eq!(code, Some(0), "{told}");
    assert!(told.contains("breaks off in line 2"), "{told}");
    assert!(page.contains("2 of 2 cells planned did not run") && page.contains("quick, endless"), "{page}");
}

#[test]
fn a_report_that_cannot_be_one_is_told_what_it_is() {
    let read = |file: &str| onejob(["report", "render", file]);
    read("no.json").run().exits(2).tells("OJ6007").tells("No such file");
    read("folder").file("folder/x", "").run().exits(2).tells("OJ6007").tells("not the folder");
    read("x").file("x", "").run().exits(2).tells("OJ6007").tells("empty");
    read("x").file("x", "<testsuites/>").run().exits(2).tells("OJ6007").tells("no onejob report");
    read("x")
        .file("x", "{\"version\": \"2.1.0\", \"$schema\": \"s\", \"runs\": []}")
        .run()
        .exits(2)
        .tells("SARIF");
    let newer = include_str!("../../../reports/tests/data/report-v1.json").replacen(
        "\"schema_version\": 1",
        "\"schema_version\": 99",
        1,
    );
    read("x").file("x", &newer).run().exits(2).tells("schema version 99").tells("newer");
    read("x").file("x", &newer[..newer.len() / 2]).run().exits(2).tells("schema version 99");
}

/// A stored report as a shard.
fn shard(index: u32, of: u32) -> String {
    let mut report: serde_json::Value =
        serde_json::from_str(include_str!("../../../reports/tests/data/report-v1.json")).expect("JSON");
    report["shard"] = serde_json::json!({ "index": index, "of": of });
    let cells = report["cells"].as_array().expect("cells").clone();
    let mine = cells.into_iter().enumerate().filter(|(at, _)| *at % of as usize == index as usize - 1);
    report["cells"] = mine.map(|(_, cell)| cell).collect();
    report["planned"] = report["cells"].as_array().expect("cells").len().into();
    report.to_string()
}

#[test]
fn shards_that_make_no_run_are_refused_and_torn_ones_are_said_to_be_torn() {
    let (one, two) = (shard(1, 2), shard(2, 2));
    let merge = |files: &[&str]| {
        onejob(["report", "merge"].iter().chain(files)).file("1", &one).file("2", &two).file("whole", STORED)
    };
    merge(&["1", "2"]).run().exits(0).prints("double-click");
    merge(&["1", "1"]).run().exits(2).tells("shard 1 of 2 was given twice");
    merge(&["2"]).run().exits(2).tells("shard of 2 missing: 1");
    merge(&["1", "whole"]).run().exits(2).tells("is not of a shard");
    merge(&["1", "3"]).file("3", &shard(3, 3)).run().exits(2).tells("of one division");
    merge(&["1", "3"])
        .file("3", &two[..two.len() / 2])
        .run()
        .exits(0)
        .prints("Shard 2: The report breaks off");
}

const STORED: &str = include_str!("../../../reports/tests/data/report-v1.json");

#[test]
fn a_diff_of_runs_that_are_not_of_the_same_says_so() {
    let mut other: serde_json::Value = serde_json::from_str(STORED).expect("JSON");
    other["target"] = "another".into();
    other["defects"] = serde_json::json!([]);
    for cell in other["cells"].as_array_mut().expect("cells") {
        cell["scenario"] = format!("other-{}", cell["scenario"].as_str().expect("a name")).into();
    }
    let diff = |before: &str, after: &str| {
        onejob(["report", "diff", before, after]).file("a", STORED).file("b", &other.to_string())
    };
    diff("a", "a").run().exits(0).prints("no difference in 7 cells");
    let outcome = diff("a", "b").run().exits(0).tells("no cell in common").tells("different targets");
    outcome.tells("different defects").prints("only in the first run (7)");
}
