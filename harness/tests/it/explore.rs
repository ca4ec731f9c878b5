//! `onejob explore`: the same seed gives the same plans, an honest service passes them, a defect is found and replayed.

use serde_json::Value;

use super::support::{database, onejob};

fn explore(more: &[&str]) -> super::support::Outcome {
    let url = database();
    let all = ["explore", "--database-url", &url, "--postgres", "url", "--format", "json"];
    onejob(all.iter().chain(more)).run()
}

fn read(outcome: &super::support::Outcome) -> Value {
    serde_json::from_str(&outcome.stdout)
        .unwrap_or_else(|error| panic!("{error}\n{}\n{}", outcome.stdout, outcome.stderr))
}

#[test]
fn the_honest_service_breaks_no_promise_and_the_seed_says_which_plans_were_played() {
    let outcome = explore(&["--seed", "11", "--plans", "16"]);
    let told = read(&outcome);
    assert_eq!(outcome.code, Some(0), "{told:#}\n{}", outcome.stderr);
    assert_eq!(told["played"], 16);
    assert_eq!(told["seed"], 11);
    assert!(told["failure"].is_null());
    let reached = told["coverage"]["jobs"]["reached"].as_array().expect("pairs");
    assert!(reached.iter().any(|pair| pair["event"] == "submit"), "{told:#}");
    assert!(!told["coverage"]["attempts"]["reached"].as_array().expect("pairs").is_empty(), "{told:#}");
    // What is played depends on the seed alone, and not on how many plans there is time for.
    let again = read(&explore(&["--seed", "11", "--plans", "1"]));
    assert_eq!(again["digest"], told["digest"]);
    let other = read(&explore(&["--seed", "12", "--plans", "1"]));
    assert_ne!(other["digest"], told["digest"]);
}

#[test]
fn a_defect_is_found_shrunk_and_written_as_a_scenario_that_fails_again() {
    let out = tempfile::tempdir().expect("a folder");
    let folder = out.path().display().to_string();
    let outcome =
        explore(&["--seed", "1", "--plans", "200", "--defect", "failed-frees-key", "--out", &folder]);
    let told = read(&outcome);
    assert_eq!(outcome.code, Some(1), "{told:#}\n{}", outcome.stderr);
    let failure = &told["failure"];
    assert!(failure["steps"].as_u64().is_some_and(|steps| steps <= 8), "{told:#}");
    let file = failure["file"].as_str().expect("a file");
    let page = std::fs::read_to_string(file).expect("the scenario");
    assert!(page.starts_with("# Found by `onejob explore --seed 1 --defect failed-frees-key`"), "{page}");
    let url = database();
    let replay = |more: &[&str]| {
        let all = ["run", "--database-url", &url, "--postgres", "url", "--scenarios", file];
        onejob(all.iter().chain(more)).run()
    };
    let broken = replay(&["--defect", "failed-frees-key"]);
    assert_eq!(broken.code, Some(1), "{}\n{}\n{page}", broken.stdout, broken.stderr);
    let honest = replay(&[]);
    assert_ne!(honest.code, Some(1), "{}\n{}\n{page}", honest.stdout, honest.stderr);
}

#[test]
fn a_defect_that_is_not_there_is_a_mistake_of_the_command_line() {
    let outcome = onejob(["explore", "--defect", "no-such-defect", "--plans", "1"]).run();
    assert_eq!(outcome.code, Some(2), "{}", outcome.stderr);
}
