//! Cells with more events than are kept in memory.

use std::process::Command;

use onejob::history::Event;

use crate::support::{database, onejob};

/// Eighty rounds of a job that is read again and again.
const MANY: &str = "id = \"many\"\ntitle = \"A job is told of as it is\"\nwhy = \"It has to be.\"\nrounds = 80\n[[step]]\n\
    id = \"start\"\ndo = \"submit\"\nwith = { key = \"K\", payload = \"P\" }\nexpect = { status = [200, 201, 202] }\n[[step]]\n\
    id = \"look\"\ndo = \"read\"\njob = \"start\"\ntimes = 28\nexpect = { status = [200] }\n[witness]\nanswered = [\"look\"]\n";

#[test]
fn a_cell_of_many_rounds_is_kept_whole_and_judged_the_same_again() {
    let url = database();
    let (mut command, folder) =
        onejob(["run", "--scenarios", "many.toml", "--database-url", &url, "--format", "json"])
            .file("many.toml", MANY)
            .into_parts();
    let run = command.output().expect("the program starts");
    assert_eq!(run.status.code(), Some(0), "{}", String::from_utf8_lossy(&run.stdout));
    let report: serde_json::Value = serde_json::from_slice(&run.stdout).expect("JSON");
    let cell = &report["cells"][0];
    assert_eq!((&cell["verdict"], &cell["rounds"]), (&"pass".into(), &80.into()));
    assert_eq!(cell["witnesses"][0]["rounds_seen"], 80, "every round was judged");
    let history =
        std::fs::read_to_string(folder.path().join(".onejob/history/many.1.ndjson")).expect("it is kept");
    let events: Vec<Event> =
        history.lines().skip(1).map(|line| serde_json::from_str(line).expect("an event")).collect();
    assert!(events.len() > 4_096, "so some of it was out of memory: {}", events.len());
    assert!(events.iter().zip(0..).all(|(event, place)| event.seq == place), "nothing is missing or twice");
    assert!(events.windows(2).all(|pair| pair[0].at_us <= pair[1].at_us), "time never goes back");
    // What passes shows its first moments, and says how many there were; all of a round is in the history.
    let last = events.iter().filter(|event| event.round == 80).count() as u64;
    let shown = cell["timeline"].as_array().expect("moments").len() as u64;
    assert!(
        shown <= 100 && shown + cell["moments_left_out"].as_u64().unwrap_or(0) <= last,
        "{shown} of {last}"
    );
    let again = Command::new(env!("CARGO_BIN_EXE_onejob"))
        .args(["report", "--rejudge", "--scenarios", "many.toml"])
        .current_dir(folder.path())
        .output()
        .expect("the program starts");
    let told = String::from_utf8_lossy(&again.stderr);
    assert!(again.status.success() && told.contains("no difference in 1 cell"), "{told}");
}
