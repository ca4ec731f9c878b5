//! Explorations in their formats.

use onejob_reports::{
    explore::{ExploreReport, explore_schema, sheet, text},
    redact::Secrets,
    sheet::{html, markdown},
};

use crate::explore_fixtures::{calm_exploration, exploration};

fn page(report: &ExploreReport) -> String {
    let mut out = Vec::new();
    html(&sheet(report), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn summary(report: &ExploreReport) -> String {
    let mut out = Vec::new();
    markdown(&sheet(report), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn in_markdown() {
    insta::assert_snapshot!(summary(&exploration()));
}

#[test]
fn on_a_terminal() {
    insta::assert_snapshot!(text(&exploration()));
}

#[test]
fn each_failure_has_its_steps_and_the_command_that_shows_it_again_the_surest_first() {
    let page = page(&exploration());
    let place = |what: &str| page.find(what).unwrap_or_else(|| panic!("{what}: {page}"));
    assert!(place("Plan 12 broke") < place("Plan 5 broke"));
    assert_eq!(page.matches("--scenarios .onejob/explored/seed-1-plan-12.toml").count(), 1);
    assert_eq!(page.matches("do = \"submit\"").count() + page.matches("do = &quot;submit&quot;").count(), 2);
}

#[test]
fn what_was_never_reached_is_named() {
    let page = summary(&calm_exploration());
    assert!(page.starts_with("## onejob explore: ✅ nothing broke"), "{page}");
    assert!(page.contains("6 of 12 pairs of an event"), "{page}");
    assert!(page.contains("| fault | new, accepted, failed | 3 |"), "{page}");
    assert!(page.contains("| submit | failed | 3 |"), "{page}");
}

#[test]
fn a_log_that_tells_of_no_attempts_is_said_to() {
    let mut report = calm_exploration();
    report.coverage.attempts.reached.clear();
    assert!(page(&report).contains("tells of no attempts"));
    assert!(text(&report).contains("tells of no attempts"));
}

#[test]
fn the_word_says_whether_anything_can_be_said() {
    let word = |report: &ExploreReport| sheet(report).word;
    assert_eq!(word(&exploration()), "2 failures");
    let calm = calm_exploration();
    assert_eq!(word(&ExploreReport { interrupted: true, ..calm.clone() }), "interrupted");
    assert_eq!(word(&ExploreReport { played: 0, ..calm.clone() }), "nothing played");
    assert_eq!(word(&ExploreReport { faults: exploration().faults, ..calm }), "not all could be played");
}

#[test]
fn its_json_fits_its_schema_and_is_read_back() {
    let validator = jsonschema::validator_for(&explore_schema()).unwrap();
    for report in [exploration(), calm_exploration()] {
        let value = serde_json::to_value(&report).unwrap();
        let wrong: Vec<String> = validator.iter_errors(&value).map(|error| error.to_string()).collect();
        assert!(wrong.is_empty(), "{wrong:?}");
        assert_eq!(serde_json::from_value::<ExploreReport>(value).unwrap(), report);
    }
}

#[test]
fn a_secret_in_every_text_of_an_exploration_reaches_no_format() {
    const SECRET: &str = "hunter2hunter2";
    let mut value = serde_json::to_value(exploration()).unwrap();
    let planted = crate::planting::plant(&mut value, SECRET, &[]);
    let report: ExploreReport = serde_json::from_value(value).unwrap();
    let all = |report: &ExploreReport| {
        format!("{}{}{}{}", page(report), summary(report), text(report), serde_json::json!(report))
    };
    assert!(planted > 40 && all(&report).matches(SECRET).count() > planted, "so this test can fail");
    let clean = all(&Secrets::new().value(SECRET).exploration(report));
    assert!(!clean.contains(SECRET), "{clean}");
}
