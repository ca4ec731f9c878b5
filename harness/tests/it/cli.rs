//! The program as people and CI systems meet it: exit codes, what is data and what is talk, and bad input.

use std::{
    io::{BufRead, BufReader, Read as _},
    process::Stdio,
};

use crate::support::{Onejob, database, onejob};

/// A target that is a shell script: it prints an address, and something answers there or not.
fn target(start: &str, more: &str) -> String {
    format!(
        "[target]\nname = \"t\"\n{more}\n[target.command]\nstart = [\"sh\", \"-c\", {start:?}]\n\
         address = 'listening on (http://\\S+)'\n[target.submit]\nrequest = \"POST /jobs\"\n\
         headers = {{ idempotency-key = \"{{key}}\" }}\njson = {{ input = \"{{payload}}\" }}\nreads = {{ job = \"/id\", state = \"/state\" }}\n\
         [target.states]\nsucceeded = [\"done\"]\n"
    )
}

const SUBMIT_ONLY: &str = "id = \"plain\"\ntitle = \"A plain submit\"\nwhy = \"It has to work.\"\n[[step]]\nid = \"s\"\n\
    do = \"submit\"\nwith = { key = \"K\", payload = \"P\" }\nexpect = { status = [200, 201] }\n[witness]\nanswered = [\"s\"]\n";

fn against(target: &str) -> Onejob {
    onejob(["run", "--target", "onejob.toml", "--scenarios", "plain.toml"])
        .file("onejob.toml", target)
        .file("plain.toml", SUBMIT_ONLY)
}

/// A server that answers every request with the same bytes. Lives as long as the test's process.
fn answering(answer: &'static [u8]) -> String {
    use std::io::Write as _;

    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { continue };
            let mut buffer = [0; 4096];
            // The head is enough: what the body says changes nothing here.
            let _ = stream.read(&mut buffer);
            let _ = stream.write_all(answer);
        }
    });
    format!("http://{address}")
}

/// A server that answers a request with a key in one way and one without in another.
fn answering_by_key(keyed: &'static str, keyless: &'static str) -> String {
    use std::io::Write as _;

    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { continue };
            let mut seen = Vec::new();
            let mut buffer = [0; 4096];
            while !seen.windows(4).any(|window| window == b"\r\n\r\n") {
                match stream.read(&mut buffer) {
                    Ok(read) if read > 0 => seen.extend_from_slice(&buffer[..read]),
                    _ => break,
                }
            }
            let has_key = String::from_utf8_lossy(&seen).to_lowercase().contains("idempotency-key:");
            let (status, body) = if has_key { ("201 Created", keyed) } else { ("400 Bad Request", keyless) };
            let head = "content-type: application/json\r\nconnection: close";
            let length = body.len();
            let _ = write!(stream, "HTTP/1.1 {status}\r\n{head}\r\ncontent-length: {length}\r\n\r\n{body}");
        }
    });
    format!("http://{address}")
}

fn running_at(base: &str) -> String {
    let whole = target("", "").replace("name = \"t\"", &format!("name = \"t\"\nbase = [\"{base}\"]"));
    let of_command =
        |line: &&str| ["[target.command]", "start", "address"].iter().all(|word| !line.starts_with(word));
    whole.lines().filter(of_command).collect::<Vec<_>>().join("\n")
}

#[test]
fn help_and_version_are_data_and_end_well() {
    onejob(["--help"]).run().exits(0).prints("Exit codes: 0 all passed");
    onejob(["--version"]).run().exits(0).prints("onejob 0.");
}

#[test]
fn a_misspelt_flag_is_a_usage_error_with_a_suggestion() {
    onejob(["run", "--repat", "3"]).run().exits(2).tells("--repeat");
}

#[test]
fn every_code_has_a_page_and_an_unknown_one_is_told() {
    let all = onejob(["explain"]).run().exits(0);
    for line in all.stdout.lines() {
        let code = line.split_whitespace().next().expect("a code");
        onejob(["explain", code]).run().exits(0).prints(code);
    }
    onejob(["explain", "OJ0000"]).run().exits(2).tells("there is no code `OJ0000`");
}

#[test]
fn a_closed_pipe_is_no_error() {
    let (mut command, _folder) = onejob(["list", "--format", "json"]).into_parts();
    let mut child =
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn the_list_is_json_for_programs() {
    let list = onejob(["list", "--format", "json"]).run().exits(0);
    let list: serde_json::Value = serde_json::from_str(&list.stdout).expect("JSON");
    let scenarios = list.as_array().expect("a list");
    assert!(scenarios.iter().any(|scenario| scenario["id"] == "double-click"));
    assert!(scenarios.iter().all(|scenario| scenario["why"].as_str().is_some_and(|why| why.len() > 40)));
}

#[test]
fn a_filter_that_matches_nothing_is_told_by_code_4() {
    onejob(["run", "no-such-scenario"]).run().exits(4).tells("nothing is selected");
    onejob(["list", "no-such-scenario"]).run().exits(4);
}

#[test]
fn an_unknown_key_in_a_scenario_is_told_with_its_place_and_a_suggestion() {
    onejob(["run", "--scenarios", "s.toml"])
        .file("s.toml", &SUBMIT_ONLY.replace("title =", "titel ="))
        .run()
        .exits(2)
        .tells("s.toml:2")
        .tells("title");
}

#[test]
fn a_scenario_that_is_no_toml_is_told_with_its_place() {
    onejob(["run", "--scenarios", "s.toml"])
        .file("s.toml", "id = \n")
        .run()
        .exits(2)
        .tells("s.toml:1")
        .tells("OJ1001");
}

#[test]
fn a_scenario_that_could_not_fail_is_refused() {
    let blind: Vec<&str> = SUBMIT_ONLY.lines().filter(|line| !line.starts_with("expect")).collect();
    onejob(["run", "--scenarios", "s.toml"]).file("s.toml", &blind.join("\n")).run().exits(2).tells("OJ1012");
}

#[test]
fn a_scenario_file_that_is_not_there_is_told() {
    onejob(["run", "--scenarios", "nowhere.toml"]).run().exits(2).tells("nowhere.toml");
}

#[test]
fn an_unknown_key_in_a_target_is_told_with_its_place() {
    let target = running_at("http://127.0.0.1:1").replace("name = \"t\"", "name = \"t\"\nprofil = \"job\"");
    against(&target).run().exits(2).tells("onejob.toml:").tells("profile");
}

#[test]
fn a_variable_that_is_not_set_is_told_by_name() {
    let target = running_at("http://127.0.0.1:1").replace("name = \"t\"", "name = \"${ONEJOB_NOT_SET}\"");
    against(&target).run().exits(2).tells("ONEJOB_NOT_SET");
}

#[test]
fn an_unknown_defect_is_told_with_those_that_there_are() {
    onejob(["run", "--defect", "no-such"]).run().exits(2).tells("check-then-insert");
    onejob(["prove", "--defect", "no-such"]).run().exits(2).tells("check-then-insert");
}

#[test]
fn a_defect_of_somebody_elses_service_can_not_be_switched_on() {
    let (mut command, folder) = against(&running_at("http://127.0.0.1:1")).into_parts();
    let output = command.args(["--defect", "check-then-insert"]).output().expect("the program starts");
    drop(folder);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("OJ6003"));
}

#[test]
fn an_unknown_report_format_is_told_before_anything_runs() {
    onejob(["run", "--report", "pdf=x"]).run().exits(2).tells("junit");
    onejob(["run", "--report", "junit"]).run().exits(2).tells("FORMAT=PATH");
}

#[test]
fn a_malformed_shard_is_told() {
    for shard in ["0/3", "4/3", "1", "a/b"] {
        onejob(["run", "--shard", shard]).run().exits(2).tells("I/N");
    }
}

#[test]
fn a_target_that_refuses_connections_is_told_by_code_10_before_any_submit() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let base = format!("http://{}", listener.local_addr().expect("an address"));
    drop(listener);
    against(&running_at(&base)).run().exits(10).tells("OJ4004").tells(&base);
}

#[test]
fn a_target_that_somebody_else_starts_is_waited_for_as_its_file_says() {
    let base = answering(b"HTTP/1.1 503 Busy\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    let target = running_at(&base)
        .replace("[target.submit]", "[target.ready]\nget = \"/ready\"\nwithin = \"300ms\"\n[target.submit]");
    against(&target).run().exits(10).tells("OJ4001").tells("/ready").tells("503");
}

#[test]
fn a_run_that_ends_before_its_first_cell_leaves_a_report_that_says_why() {
    let base = answering(b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    let outcome =
        onejob(["run", "--target", "onejob.toml", "--scenarios", "plain.toml", "--report", "junit=j.xml"])
            .file("onejob.toml", &running_at(&base))
            .file("plain.toml", SUBMIT_ONLY)
            .file(".onejob/report.json", "an older report")
            .run()
            .exits(12);
    let stored = onejob_reports::json::read(&outcome.left(".onejob/report.json")).expect("a report");
    assert_eq!(stored.not_run, ["plain"]);
    assert!(stored.cells[0].error.as_ref().is_some_and(|error| error.code == "OJ4006"));
    let junit = outcome.left("j.xml");
    assert!(junit.contains("OJ4006") && junit.contains("403"), "{junit}");
}

#[test]
fn where_nothing_can_be_written_no_run_is_spent() {
    for arguments in
        [["--report", "junit=nowhere/j.xml"], ["--report", "junit=."], ["--store", "plain.toml/x"]]
    {
        let call =
            ["run", "--target", "onejob.toml", "--scenarios", "plain.toml"].into_iter().chain(arguments);
        onejob(call)
            .file("onejob.toml", &running_at("http://127.0.0.1:9"))
            .file("plain.toml", SUBMIT_ONLY)
            .run()
            .exits(2)
            .tells("OJ6010");
    }
}

#[test]
fn a_device_is_no_scenario() {
    onejob(["run", "--scenarios", "/dev/zero"]).run().exits(2).tells("OJ1005").tells("it is no file");
}

#[test]
fn a_target_that_answers_with_a_web_page_is_told_by_code_10() {
    let base = answering(
        b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 20\r\nconnection: close\r\n\r\n<html>sign in</html>",
    );
    against(&running_at(&base)).run().exits(10).tells("OJ2020").tells("sign in");
}

#[test]
fn a_pointer_that_finds_nothing_is_told_with_one_that_would() {
    let base = answering(
        b"HTTP/1.1 201 Created\r\ncontent-type: application/json\r\ncontent-length: 29\r\nconnection: close\r\n\r\n{\"job_id\":1, \"state\":\"done\" }",
    );
    against(&running_at(&base)).run().exits(10).tells("OJ2022").tells("job_id");
}

#[test]
fn a_target_that_refuses_a_plain_submit_is_told_by_code_12() {
    let base = answering(b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    against(&running_at(&base)).run().exits(12).tells("OJ4006").tells("403");
}

#[test]
fn a_program_that_does_not_exist_is_told() {
    let target = target("", "").replace("\"sh\", \"-c\", \"\"", "\"no-such-program-anywhere\"");
    against(&target).run().exits(10).tells("no-such-program-anywhere");
}

#[test]
fn a_target_that_ends_at_start_is_told_with_its_last_words() {
    against(&target("echo out of cheese >&2; exit 3", ""))
        .run()
        .exits(10)
        .tells("OJ4002")
        .tells("out of cheese");
}

#[test]
fn a_target_that_prints_no_address_is_told_when_the_time_is_over() {
    let more = "ready = { get = \"/\", within = \"300ms\" }";
    against(&target("echo hello; exec sleep 60", more)).run().exits(10).tells("OJ4003").tells("hello");
}

#[test]
fn a_target_that_never_gets_ready_is_told_with_the_last_answer() {
    let base = answering(b"HTTP/1.1 503 Busy\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    let more = "ready = { get = \"/ready\", within = \"300ms\" }";
    let start = format!("echo listening on {base}; exec sleep 60");
    against(&target(&start, more)).run().exits(10).tells("OJ4001").tells("503");
}

#[test]
fn a_postgres_that_refuses_is_told_by_code_11_and_its_password_is_not() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    drop(listener);
    let url = format!("postgres://me:hunter2-secret@127.0.0.1:{port}/db");
    let outcome = onejob(["run", "--database-url", &url]).run().exits(11).tells("OJ3003");
    assert!(!outcome.stderr.contains("hunter2") && !outcome.stdout.contains("hunter2"));
}

#[test]
fn a_malformed_database_url_is_a_usage_error() {
    onejob(["run", "--database-url", "postgres://["]).run().exits(2).tells("OJ3002");
    onejob(["run", "--postgres", "url"]).run().exits(2).tells("ONEJOB_DATABASE_URL");
}

#[test]
fn no_postgres_anywhere_names_all_three_ways() {
    onejob(["run"])
        .env("DOCKER_HOST", "unix:///nowhere/docker.sock")
        .env("ONEJOB_POSTGRES_PROGRAMS", "/nowhere")
        .run()
        .exits(11)
        .tells("OJ3001")
        .tells("--database-url")
        .tells("Docker")
        .tells("apt install");
}

#[test]
fn the_reference_service_says_what_is_wrong_with_its_flags() {
    onejob(["serve", "--database-url", &database(), "--token", "nonsense"])
        .run()
        .exits(2)
        .tells("NAME=VALUE");
    onejob(["serve", "--database-url", &database(), "--defect", "no-such"])
        .run()
        .exits(2)
        .tells("check-then-insert");
    onejob(["serve", "--database-url", "postgres://127.0.0.1:1/x"]).run().exits(11);
}

#[test]
fn a_port_in_use_is_told() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    onejob(["serve", "--database-url", &database(), "--listen", &address])
        .run()
        .exits(11)
        .tells("OJ5001")
        .tells(&address);
}

#[test]
fn one_breakpoint_passes_with_its_witness_and_leaves_its_reports() {
    let database = database();
    let outcome = onejob(["run", "double-click clicks=2 gate=lock", "--database-url", &database])
        .env("ONEJOB_ALICE_TOKEN", "a-token-that-must-not-be-seen")
        .run()
        .exits(0)
        .prints("requests waited on the lock")
        .prints("1 passed");
    let stored = outcome.left(".onejob/report.json");
    let history = outcome.left(".onejob/history/double-click_clicks=2_gate=lock.1.ndjson");
    for text in [&outcome.stdout, &outcome.stderr, &stored, &history] {
        assert!(!text.contains("must-not-be-seen"), "a secret is in an output");
    }
    assert!(history.lines().count() > 20);
}

#[test]
fn a_full_disk_behind_standard_output_is_told() {
    let run = onejob(["run", "cancel-waiting", "--database-url", &database()]);
    let (mut command, _folder) = run.into_parts();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("a full device");
    let outcome = command.stdout(full).output().expect("it runs");
    assert_eq!(outcome.status.code(), Some(11), "{}", String::from_utf8_lossy(&outcome.stderr));
    assert!(String::from_utf8_lossy(&outcome.stderr).contains("OJ6006"));
}

#[test]
fn a_defect_is_found_by_the_scenario_that_is_about_it() {
    let database = database();
    for (defect, scenario, promise) in [
        ("check-then-insert", "double-click clicks=8 gate=lock", "became 8 jobs"),
        ("mismatch-ignored", "key-reuse first_is=held", "not with 409"),
        ("timeout-is-failed", "unknown-blocks impatience=poll world=stall", "no call was allowed any more"),
        ("last-writer-wins", "reverse-finish-race", "changed"),
        ("status-only-cas", "reverse-finish-exclusive", "result"),
    ] {
        onejob(["run", scenario, "--defect", defect, "--database-url", &database])
            .run()
            .exits(1)
            .prints(promise);
    }
    onejob(["run", "unknown-blocks", "--defect", "unknown-does-not-block", "--database-url", &database])
        .run()
        .exits(1);
}

#[test]
fn reports_are_written_in_every_format_that_is_asked_for() {
    let outcome = onejob([
        "run",
        "key-reuse first_is=held",
        "--database-url",
        &database(),
        "--format",
        "json",
        "--report",
        "junit=out.xml",
        "--report",
        "json=out.json",
    ])
    .run()
    .exits(0);
    let printed: serde_json::Value =
        serde_json::from_str(&outcome.stdout).expect("standard output is JSON and nothing else");
    assert_eq!(printed["cells"][0]["verdict"], "pass");
    assert!(outcome.left("out.xml").contains("<testcase"));
    let written: serde_json::Value = serde_json::from_str(&outcome.left("out.json")).expect("JSON");
    assert_eq!(written["cells"], printed["cells"]);
    assert!(outcome.stderr.contains("1 passed"), "people are told on standard error");
}

#[test]
fn what_did_not_pass_can_be_run_again_alone() {
    let database = database();
    let folder = tempfile::tempdir().expect("a folder");
    let store = folder.path().to_str().expect("UTF-8");
    let flags = ["--database-url", &database, "--store", store];
    let first = [
        "run",
        "double-click clicks=2 gate=lock",
        "key-reuse first_is=held",
        "--defect",
        "check-then-insert",
    ];
    onejob(first.iter().chain(&flags)).run().exits(1);
    onejob(["run", "--last-failed"].iter().chain(&flags))
        .run()
        .exits(0)
        .prints("double-click")
        .prints("1 passed");
    onejob(["run", "--last-failed"].iter().chain(&flags)).run().exits(4);
}

#[test]
fn an_interrupted_run_writes_its_report_and_leaves_nothing_running() {
    interrupted_by(rustix::process::Signal::INT);
}

#[test]
fn a_terminal_that_goes_away_interrupts_a_run_like_any_other_signal() {
    interrupted_by(rustix::process::Signal::HUP);
}

fn interrupted_by(signal: rustix::process::Signal) {
    let (mut command, folder) =
        onejob(["run", "double-click", "--postgres", "local", "--repeat", "500"]).into_parts();
    let mut child =
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let server = lines.next().expect("a line").expect("UTF-8");
    assert!(server.contains("against reference"), "{server}");
    // One cell has begun as soon as the opening line is out; whichever step it is at, the signal must end it.
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, signal).expect("it runs");
    let rest: Vec<String> = lines.map_while(Result::ok).collect();
    let status = child.wait().expect("it ends");
    assert_eq!(status.code(), Some(130), "{rest:?}");
    let report = std::fs::read_to_string(folder.path().join(".onejob/report.json")).expect("a report");
    let report: serde_json::Value = serde_json::from_str(&report).expect("JSON");
    assert_eq!(report["interrupted"], true);
    assert_eq!(children_in(folder.path()), Vec::<String>::new());
}

#[test]
fn a_store_keeps_what_is_not_its_own_and_drops_the_histories_of_the_last_run() {
    let old = r#"{"onejob_history":1,"cell":"x","repeat":1}"#;
    let outcome = against(&target_words("exit 3"))
        .file(".onejob/history/thesis.txt", "precious")
        .file(".onejob/history/notes.ndjson", "{}")
        .file(".onejob/history/old.1.ndjson", old)
        .env("API_TOKEN", "x")
        .run()
        .exits(10);
    assert_eq!(outcome.left(".onejob/history/thesis.txt"), "precious");
    assert_eq!(outcome.left(".onejob/history/notes.ndjson"), "{}");
    let gone = outcome.folder().join(".onejob/history/old.1.ndjson");
    assert!(!gone.exists(), "a history of an earlier run would be judged with those of this one");
}

#[test]
fn the_same_scenario_by_two_ways_is_refused() {
    onejob(["list", "--scenarios", "one.toml", "--scenarios", "./one.toml"])
        .file("one.toml", SUBMIT_ONLY)
        .run()
        .exits(2)
        .tells("is taken");
}

#[test]
fn an_error_far_along_a_line_is_shown_with_what_stands_around_it() {
    let line = format!("x = \"{}\n", "a".repeat(66_000));
    let outcome = onejob(["run", "--target", "onejob.toml"]).file("onejob.toml", &line).run().exits(2);
    assert!(outcome.stderr.len() < 4_000, "{} bytes", outcome.stderr.len());
    let escape = "[target]\nname = \"\u{1b}[2J\u{7}\"";
    let outcome = onejob(["run", "--target", "onejob.toml"]).file("onejob.toml", escape).run().exits(2);
    assert!(!outcome.stderr.contains('\u{1b}') && !outcome.stderr.contains('\u{7}'), "{}", outcome.stderr);
}

#[test]
fn where_nobody_can_be_told_the_exit_code_still_says_it() {
    for (arguments, code) in [(["run", "no-such-scenario"], 4), (["run", "--target=nowhere.toml"], 2)] {
        let (mut command, _folder) = onejob(arguments).into_parts();
        let full = std::fs::File::options().write(true).open("/dev/full").expect("a full device");
        let status = command.stderr(full).status().expect("the program starts");
        assert_eq!(status.code(), Some(code), "{arguments:?}");
    }
}

#[test]
fn more_cells_or_requests_than_anybody_waits_for_are_refused() {
    let values = (0..30).map(|n| n.to_string()).collect::<Vec<_>>().join(", ");
    let matrix = ["a", "b", "c", "d", "e", "f"].map(|name| format!("{name} = [{values}]\n")).concat();
    let many = format!("{SUBMIT_ONLY}\n[matrix]\n{matrix}");
    onejob(["list", "--scenarios", "one.toml"]).file("one.toml", &many).run().exits(2).tells("cells");
    let many = SUBMIT_ONLY.replacen("do = \"submit\"", "do = \"submit\"\ntimes = 1000000000", 1);
    assert_ne!(many, SUBMIT_ONLY);
    onejob(["list", "--scenarios", "one.toml"]).file("one.toml", &many).run().exits(2).tells("requests");
}

/// Command lines of processes that work in a folder.
fn children_in(folder: &std::path::Path) -> Vec<String> {
    let processes = std::fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok);
    processes
        .filter(|entry| std::fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd.starts_with(folder)))
        .filter_map(|entry| std::fs::read_to_string(entry.path().join("cmdline")).ok())
        .map(|line| line.replace('\0', " "))
        .collect()
}

#[test]
fn a_secret_in_an_answer_reaches_nobody() {
    let base = answering(
        b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 33\r\nconnection: close\r\n\r\n<html>sk-topsecret-12345 is yours",
    );
    let target = running_at(&base).replace("name = \"t\"", "name = \"t\"\nsecrets = [\"API_TOKEN\"]");
    let target = target.replace("headers = { ", "headers = { x-token = \"${API_TOKEN}\", ");
    let outcome = against(&target).env("API_TOKEN", "sk-topsecret-12345").run().exits(10).tells("OJ2020");
    assert!(!outcome.stderr.contains("topsecret"), "{}", outcome.stderr);
    let words = target_words("echo sk-topsecret-12345 >&2; exit 3");
    let outcome = against(&words).env("API_TOKEN", "sk-topsecret-12345").run().exits(10).tells("OJ4002");
    assert!(!outcome.stderr.contains("topsecret"), "{}", outcome.stderr);
}

#[test]
fn a_secret_in_an_error_is_a_broken_promise_and_is_not_repeated() {
    let base = answering_by_key(
        r#"{"id": "1", "state": "done"}"#,
        r#"{"error": "no key in the request of sk-topsecret-12345"}"#,
    );
    let target = running_at(&base).replace("name = \"t\"", "name = \"t\"\nsecrets = [\"API_TOKEN\"]");
    let target = target.replace("headers = { ", "headers = { x-token = \"${API_TOKEN}\", ");
    let keyless = SUBMIT_ONLY.replace("key = \"K\", ", "").replace("[200, 201]", "[400]");
    let outcome = onejob(["run", "--target", "onejob.toml", "--scenarios", "keyless.toml"])
        .file("onejob.toml", &target)
        .file("keyless.toml", &keyless)
        .env("API_TOKEN", "sk-topsecret-12345")
        .run()
        .exits(1)
        .prints("holds a secret of the target file");
    assert!(
        !outcome.stdout.contains("topsecret") && !outcome.stderr.contains("topsecret"),
        "{}",
        outcome.stdout
    );
}

#[test]
fn a_target_that_takes_requests_and_never_answers_is_told_by_code_12() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    // Connections wait in the listener's queue, where the kernel takes them and nobody answers.
    let target = running_at(&format!("http://{address}"));
    let target = target.replace("name = \"t\"", "name = \"t\"\nanswer_within = \"300ms\"");
    against(&target).run().exits(12).tells("no answer").tells("longer than it may");
    drop(listener);
}

#[test]
fn a_profile_has_a_page_with_its_source() {
    onejob(["target", "--profile", "stripe"])
        .run()
        .exits(0)
        .prints("https://docs.stripe.com/api/idempotent_requests")
        .prints("A known key with another payload is refused with 400.");
    onejob(["target", "--profile", "strip"]).run().exits(2).tells("aws-client-token");
}

#[test]
fn a_profile_that_is_unknown_or_has_no_source_is_told_with_its_place() {
    let with = |profile: &str, more: &str| {
        let target = running_at("http://127.0.0.1:1");
        format!(
            "{}\n{more}",
            target.replace("name = \"t\"", &format!("name = \"t\"\nprofile = \"{profile}\""))
        )
    };
    against(&with("strip", "")).run().exits(2).tells("onejob.toml:3").tells("did you mean `stripe`?");
    against(&with("custom", "")).run().exits(2).tells("[promises]");
    against(&with("custom", "[promises]\nsource = \"hearsay\"")).run().exits(2).tells("nobody has published");
    against(&with("ietf", "[promises]\nsource = \"https://example.org\""))
        .run()
        .exits(2)
        .tells("has its own");
}

#[test]
fn effects_are_counted_by_a_query_or_by_a_request_of_the_target() {
    let printed = onejob(["target", "--print", "reference"]).run().exits(0).stdout;
    let counting = |how: &str| {
        let target = format!("{printed}\n[target.effects]\n{how}\n");
        onejob(["run", "key-case", "--target", "onejob.toml"])
            .file("onejob.toml", &target)
            .env("ONEJOB_DATABASE_URL", database())
            .run()
    };
    counting("request = \"GET /v1/jobs?idempotency_key={key}\"\ncount = \"/jobs\"").exits(0);
    counting("sql = \"SELECT 1 + count(*) FROM jobs WHERE owner = $1 AND idempotency_key = $2\"")
        .exits(1)
        .prints("as the target counts: 4");
    counting("count = \"/jobs\"").exits(2).tells("in one way");
    counting("request = \"GET /v1/jobs\"").exits(2).tells("never says `{key}`");
    counting("request = \"GET /v1/jobs/{key}\"\ncount = \"/nothing\"")
        .exits(10)
        .tells("could not be counted");
}

fn target_words(start: &str) -> String {
    let target = target(start, "secrets = [\"API_TOKEN\"]");
    target.replace("headers = { ", "headers = { x-token = \"${API_TOKEN}\", ")
}
