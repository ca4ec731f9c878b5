//! `onejob bench`: what is sound is measured, what is not gives no figure, and a run can be held against another.

use std::{os::unix::fs::symlink, path::PathBuf};

use serde_json::{Value, json};

use crate::support::{Onejob, Outcome, onejob};

/// Small enough to end in seconds on a busy machine.
const SMALL: [&str; 8] = ["--postgres", "local", "--rows", "1000", "--count", "40", "--for", "60s"];

fn bench(subject: &str, more: &[&str]) -> Onejob {
    onejob(["bench", subject, "--quiet"].iter().chain(&SMALL).chain(more))
}

fn measured(call: Onejob) -> Value {
    let Outcome { code, stdout, stderr, .. } = call.run();
    assert_eq!(code, Some(0), "{stderr}");
    serde_json::from_str(&stdout).expect("JSON")
}

/// The folder of the newest server programs on this machine.
fn programs() -> PathBuf {
    let versions = std::fs::read_dir("/usr/lib/postgresql").expect("Postgres programs (see .ci/packages)");
    let folders = versions.map(|version| version.expect("listed").path().join("bin"));
    folders.filter(|folder| folder.join("postgres").is_file()).max().expect("a server")
}

#[test]
fn every_strategy_decides_each_job_once_and_has_its_figures() {
    let report = measured(bench("cas", &["--contenders", "8", "--repeats", "2", "--format", "json"]));
    let rows = report["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 8);
    for row in rows {
        let count = |name: &str| row["counts"][name].as_u64().expect("a count");
        let tries = count("wins") + count("losses") + count("busy");
        assert_eq!(count("unknown"), 0, "{row}");
        // All eight tried each job, and one won.
        assert_eq!(tries, 8 * count("wins"), "{row}");
        assert!(count("wins") >= 2 && row["rate"]["median"].as_f64() > Some(0.0), "{row}");
        assert!(row["overlap"].as_f64() > Some(0.0), "nobody met: {row}");
        assert!(row["wal_bytes"].as_f64() > Some(0.0), "{row}");
        // Nothing answers in less, and nothing takes a minute.
        let p50 = row["latency"]["all"]["p50"].as_u64().expect("a median");
        assert!((10..60_000_000).contains(&p50), "{row}");
        let plain = row["strategy"] == "cas";
        assert_eq!(row["to_baseline"].is_null(), plain, "{row}");
    }
}

#[test]
fn a_strategy_that_decides_twice_gives_no_figure() {
    let wrong = ["--contenders", "16", "--strategy", "look-then-update", "--no-limit"];
    let Outcome { code, stdout, stderr, .. } = bench("cas", &wrong).run();
    assert_eq!((code, stdout.as_str()), (Some(23), ""), "{stderr}");
    assert!(stderr.contains("OJ8001") && stderr.contains("there are no figures"), "{stderr}");
}

#[test]
fn a_form_that_leaves_callers_without_a_job_gives_no_figure() {
    let wrong = ["--contenders", "16", "--form", "insert-union-look", "--duplicates", "90", "--no-limit"];
    let Outcome { code, stdout, stderr, .. } = bench("claim", &wrong).run();
    assert_eq!((code, stdout.as_str()), (Some(23), ""), "{stderr}");
    assert!(stderr.contains("OJ8001"), "{stderr}");
}

#[test]
fn claims_find_as_many_keys_taken_as_were_asked_for() {
    let report = measured(bench(
        "claim",
        &["--contenders", "8", "--repeats", "1", "--duplicates", "0,50,90", "--format", "json"],
    ));
    let rows = report["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 15);
    for row in rows {
        let count = |name: &str| row["counts"][name].as_u64().expect("a count");
        let calls = count("wins") + count("losses");
        let taken = row["duplicates"].as_f64().expect("a share");
        #[expect(clippy::cast_precision_loss, reason = "small counts")]
        let found = 100.0 * count("losses") as f64 / calls as f64;
        // Blocks may end in the middle of a key.
        assert!((found - taken).abs() < 8.0, "{found} {row}");
    }
}

#[test]
fn a_run_is_held_against_another_by_what_stood_beside_both() {
    let points = [
        "--contenders",
        "4",
        "--strategy",
        "cas,advisory",
        "--no-limit",
        "--repeats",
        "5",
        "--format",
        "json",
    ];
    let mut earlier = measured(bench("cas", &points));
    // Ten times the rate beside the same plain form: what an improvement would have been that is lost now.
    for repeat in earlier["rows"][1]["repeats"].as_array_mut().expect("repeats") {
        repeat["rate"] = json!(repeat["rate"].as_f64().expect("a rate") * 10.0);
    }
    let earlier = earlier.to_string();
    let compare = ["--compare", "base.json", "--fail-above", "50%"];
    let compared = bench("cas", &[&points[..], &compare].concat()).file("base.json", &earlier).run();
    assert_eq!(compared.code, Some(22), "{}\n{}", compared.stderr, compared.stdout);
    let found: Value = serde_json::from_str(&compared.stdout).expect("JSON");
    let point = &found["comparison"]["points"][0];
    assert_eq!((&point["by"], &point["regression"]), (&json!("to_baseline"), &json!(true)), "{found}");
    assert!(point["p"].as_f64() < Some(0.05) && point["worse_percent"].as_f64() > Some(50.0), "{point}");
    // The plain form has nothing beside it here, and is said to have been left out.
    assert_eq!(found["comparison"]["left_out"].as_array().map(Vec::len), Some(1), "{found}");

    let other = bench("claim", &["--compare", "base.json"]).file("base.json", &earlier).run();
    assert_eq!(other.code, Some(2), "{}", other.stderr);
    assert!(other.stderr.contains("OJ8003") && other.stderr.contains("bench cas"), "{}", other.stderr);
}

#[test]
fn without_pgbench_it_is_said_that_no_limit_stands_beside() {
    let folder = tempfile::tempdir().expect("a folder");
    let programs = programs();
    for name in ["postgres", "initdb"] {
        symlink(programs.join(name), folder.path().join(name)).expect("linked");
    }
    let flags = ["--contenders", "2", "--strategy", "advisory", "--repeats", "1", "--format", "json"];
    let call = bench("cas", &flags).env("ONEJOB_POSTGRES_PROGRAMS", folder.path()).env("PATH", folder.path());
    let report = measured(call);
    assert_eq!(report["limit"]["kind"], "absent");
    assert!(
        report["limit"]["why"].as_str().is_some_and(|why| why.contains("pgbench was found neither")),
        "{report}"
    );
    assert!(report["rows"][0]["to_limit"].is_null());
}

#[test]
fn a_service_is_measured_over_http_beside_empty_exchanges() {
    let flags = "bench lifecycle --quiet --postgres local --contenders 4 --count 40 --repeats 1 --for 60s --format json";
    let report = measured(onejob(flags.split(' ')));
    assert_eq!(report["limit"]["kind"], "empty-exchange");
    let rows = report["rows"].as_array().expect("rows");
    let names: Vec<_> = rows.iter().map(|row| row["strategy"].as_str().expect("a name")).collect();
    assert_eq!(names, ["create", "create-twice", "create-to-result"]);
    for row in rows {
        assert_eq!(row["counts"]["unknown"], 0, "{row}");
        assert!(row["to_limit"]["median"].as_f64() > Some(0.0), "{row}");
    }
    let count = |row: usize, name: &str| rows[row]["counts"][name].as_u64();
    assert_eq!((count(0, "wins"), count(0, "losses")), (Some(40), Some(0)));
    assert_eq!((count(1, "wins"), count(1, "losses")), (Some(20), Some(20)));
    assert_eq!(count(2, "wins"), Some(40));
}

#[test]
fn wrong_flags_are_refused_before_any_work() {
    for (subject, flags) in [
        ("cas", vec!["--strategy", "optimism"]),
        ("claim", vec!["--duplicates", "70"]),
        ("cas", vec!["--fail-above", "5%"]),
        ("cas", vec!["--contenders", "0"]),
        ("cas", vec!["--report", "junit=x.xml"]),
        ("cas", vec!["--compare", "/nowhere/base.json"]),
    ] {
        let Outcome { code, stdout, stderr, .. } = bench(subject, &flags).run();
        assert_eq!((code, stdout.as_str()), (Some(2), ""), "{flags:?}: {stderr}");
    }
}
