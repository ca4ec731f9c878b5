use onejob_reports::{
    merge::{MergeError, merge},
    model::{Cell, RunReport, Shard},
};

use crate::fixtures::{one_of_each, shards};

#[test]
fn the_shards_of_a_run_make_the_run_again_in_whatever_order_they_come() {
    let whole = one_of_each();
    let mut given = shards();
    given.reverse();
    let merged = merge(&given).unwrap();
    let names = |report: &RunReport| {
        let mut names: Vec<String> = report.cells.iter().map(Cell::name).collect();
        names.sort();
        names
    };
    assert_eq!(names(&merged), names(&whole));
    assert_eq!(merged.planned, whole.planned);
    assert_eq!(merged.shard, None);
    assert_eq!(merge(&shards()).unwrap(), merged);
}

#[test]
fn cells_of_one_scenario_stand_together() {
    let merged = merge(&shards()).unwrap();
    let scenarios: Vec<&str> = merged.cells.iter().map(|cell| cell.scenario.as_str()).collect();
    let first = scenarios.iter().position(|name| *name == "double-click").unwrap();
    assert_eq!(scenarios[first + 1], "double-click", "{scenarios:?}");
}

#[test]
fn shards_ran_side_by_side() {
    let mut given = shards();
    given[0].duration_us = 5;
    given[1].duration_us = 9;
    given[2].duration_us = 7;
    given[1].started_at = "2026-12-01T07:59:00Z".into();
    given[2].database = Some("PostgreSQL 16.1, url".into());
    let merged = merge(&given).unwrap();
    assert_eq!(merged.duration_us, 9);
    assert_eq!(merged.started_at, "2026-12-01T07:59:00Z");
    assert_eq!(merged.database.unwrap(), "PostgreSQL 15.6, local programs; PostgreSQL 16.1, url");
}

#[test]
fn one_interrupted_shard_makes_the_whole_interrupted_and_says_what_is_missing() {
    let mut given = shards();
    let lost = given[2].cells.pop().unwrap();
    given[2].interrupted = true;
    given[2].not_run = vec![lost.name()];
    let merged = merge(&given).unwrap();
    assert!(merged.interrupted);
    assert_eq!(merged.planned, merged.cells.len() + 1);
    assert_eq!(merged.not_run, [lost.name()]);
}

fn refused(change: impl FnOnce(&mut Vec<RunReport>)) -> (MergeError, String) {
    let mut given = shards();
    change(&mut given);
    let error = merge(&given).unwrap_err();
    let text = error.to_string();
    (error, text)
}

#[test]
fn a_missing_shard_is_an_error_that_names_it() {
    let (error, text) = refused(|given| _ = given.remove(1));
    assert_eq!(error, MergeError::Missing { missing: vec![2], of: 3 });
    assert!(text.starts_with("shard of 3 missing: 2;"), "{text}");
}

#[test]
fn a_shard_given_twice_is_an_error() {
    let (error, text) = refused(|given| given.push(given[0].clone()));
    assert!(matches!(error, MergeError::Duplicate { index: 1, of: 3, .. }), "{text}");
}

#[test]
fn a_cell_in_two_shards_is_an_error_that_names_it() {
    let (error, text) = refused(|given| {
        let cell = given[0].cells[0].clone();
        given[2].cells.push(cell);
    });
    assert!(matches!(error, MergeError::CellTwice { first: 1, second: 3, .. }), "{text}");
    assert!(text.contains("double-click clicks=2"), "{text}");
}

#[test]
fn a_report_that_is_no_shard_is_refused() {
    let (error, _) = refused(|given| given[1].shard = None);
    assert!(matches!(error, MergeError::NotAShard { position: 2, .. }));
    assert_eq!(merge(&[]).unwrap_err(), MergeError::Nothing);
}

#[test]
fn shards_of_another_division_or_outside_of_it_are_refused() {
    let (error, _) = refused(|given| given[1].shard = Some(Shard { index: 2, of: 4 }));
    assert!(matches!(error, MergeError::OtherDivision { position: 2, of: 4, expected: 3, .. }));
    let (error, _) = refused(|given| given[1].shard = Some(Shard { index: 0, of: 3 }));
    assert!(matches!(error, MergeError::OutOfRange { position: 2, .. }));
    let (error, _) = refused(|given| given[1].shard = Some(Shard { index: 4, of: 3 }));
    assert!(matches!(error, MergeError::OutOfRange { position: 2, .. }));
}

#[test]
fn shards_that_ran_differently_are_refused_with_the_difference() {
    type Change = fn(&mut RunReport);
    let changes: [(&str, Change); 5] = [
        ("seed", |report| report.seed = 7),
        ("target", |report| report.target = "other".into()),
        ("profile", |report| report.profile.widens.clear()),
        ("defects", |report| report.defects.clear()),
        ("onejob", |report| report.tool_version = "9".into()),
    ];
    for (expected, change) in changes {
        let (error, text) = refused(|given| change(&mut given[1]));
        assert!(
            matches!(error, MergeError::Differs { what, index: 2, first_index: 1, .. } if what == expected),
            "{text}"
        );
    }
}
