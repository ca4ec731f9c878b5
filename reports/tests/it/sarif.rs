use onejob_reports::{model::RunReport, sarif::log};
use serde_json::Value;

use crate::fixtures::{CellBuilder, all_green, interrupted, one_of_each, report, suite};

fn run(report: &RunReport) -> Value {
    log(report)["runs"][0].clone()
}

#[test]
fn every_log_fits_the_schema() {
    let schema: Value = serde_json::from_str(include_str!("../../schemas/sarif-subset.json")).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let odd = CellBuilder::passing("x").failing().with(|cell| {
        cell.source.file = "ordner mit/ümlaut\\x.toml".into();
        cell.source.line = 0;
        cell.promises[0].sentence.clear();
        cell.why.clear();
    });
    for report in
        [one_of_each(), all_green(), interrupted(), suite(120), report(vec![]), report(vec![odd.build()])]
    {
        let log = log(&report);
        let errors: Vec<String> =
            validator.iter_errors(&log).map(|error| format!("{} {error}", error.instance_path())).collect();
        assert!(errors.is_empty(), "{errors:#?}");
    }
}

#[test]
fn each_broken_promise_is_a_result_at_the_line_that_asked_for_it() {
    let run = run(&one_of_each());
    let results = run["results"].as_array().unwrap();
    assert_eq!(results.len(), 2);
    let place = &results[0]["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "scenarios/reverse-finish.toml");
    assert_eq!(place["region"]["startLine"], 17);
    for result in results {
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(run["tool"]["driver"]["rules"][index]["id"], result["ruleId"]);
    }
}

#[test]
fn what_is_not_about_the_target_is_a_notification_and_no_result() {
    let run = run(&one_of_each());
    let invocation = &run["invocations"][0];
    assert_eq!(invocation["executionSuccessful"], false);
    assert_eq!(invocation["exitCode"], 1);
    let ids: Vec<&str> = invocation["toolExecutionNotifications"]
        .as_array()
        .unwrap()
        .iter()
        .map(|notification| notification["descriptor"]["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, ["inconclusive", "OJ3004", "not-verified"]);
}

#[test]
fn an_interrupted_run_was_not_successful_and_says_what_is_missing() {
    let run = run(&interrupted());
    let invocation = &run["invocations"][0];
    assert_eq!(invocation["executionSuccessful"], false);
    let text = invocation["toolExecutionNotifications"][0]["message"]["text"].as_str().unwrap();
    assert!(text.contains("3 of 5 cells planned did not run"), "{text}");
}

#[test]
fn a_green_run_was_successful_and_took_its_time() {
    let run = run(&all_green());
    let invocation = &run["invocations"][0];
    assert_eq!(invocation["executionSuccessful"], true);
    assert_eq!(invocation["startTimeUtc"], "2026-12-01T08:00:00.000Z");
    assert_eq!(invocation["endTimeUtc"], "2026-12-01T08:00:03.210Z");
    assert_eq!(run["results"].as_array().unwrap().len(), 0);
}

#[test]
fn the_timeline_is_the_code_flow_in_the_order_of_what_happened() {
    let run = run(&one_of_each());
    let steps = run["results"][0]["codeFlows"][0]["threadFlows"][0]["locations"].as_array().unwrap();
    let order: Vec<u64> = steps.iter().map(|step| step["executionOrder"].as_u64().unwrap()).collect();
    assert!(order.windows(2).all(|pair| pair[0] < pair[1]), "{order:?}");
    let place = |word: &str| {
        steps
            .iter()
            .position(|step| step["location"]["message"]["text"].as_str().unwrap().contains(word))
            .unwrap()
    };
    assert!(place("[WON]") < place("[DISCARDED]"));
}

#[test]
fn an_alert_keeps_its_fingerprint_from_run_to_run_and_shares_it_with_no_other() {
    let prints = |report: &RunReport| -> Vec<String> {
        run(report)["results"]
            .as_array()
            .unwrap()
            .iter()
            .map(|result| result["partialFingerprints"]["cellAndPromise/v1"].as_str().unwrap().to_owned())
            .collect()
    };
    let mut later = one_of_each();
    later.run_id = "other".into();
    later.seed = 7;
    later.cells[2].promises[0].sentence = "Said otherwise.".into();
    later.cells[2].source.line = 99;
    assert_eq!(prints(&one_of_each()), prints(&later));
    let mut all = prints(&suite(300));
    let count = all.len();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), count);
}
