use onejob_reports::{
    diff::{Diff, Thresholds, diff},
    model::{Cell, RunReport, Verdict},
};

use crate::fixtures::{CellBuilder, all_green, one_of_each, report};

fn compared(before: &RunReport, after: &RunReport) -> Diff {
    diff(before, after, Thresholds::default())
}

fn cell(name: &str) -> CellBuilder {
    CellBuilder::passing(name)
}

fn one(before: Cell, after: Cell) -> Diff {
    compared(&report(vec![before]), &report(vec![after]))
}

#[test]
fn a_run_does_not_differ_from_itself() {
    let diff = compared(&one_of_each(), &one_of_each());
    assert!(diff.is_empty() && !diff.is_worse(), "{diff}");
    assert_eq!(diff.to_string(), "no difference in 7 cells\n");
}

#[test]
fn a_cell_that_breaks_now_is_newly_broken_whatever_it_was() {
    for before in [
        cell("x").build(),
        cell("x").error().build(),
        cell("x").inconclusive().build(),
        cell("x").skipped("no").build(),
    ] {
        let diff = one(before, cell("x").failing().build());
        assert_eq!(diff.newly_broken.len(), 1, "{diff}");
        assert!(diff.is_worse());
    }
}

#[test]
fn a_new_cell_that_breaks_is_newly_broken_and_added() {
    let diff = compared(&all_green(), &report(vec![cell("new").failing().build()]));
    assert_eq!(diff.newly_broken[0].before, None);
    assert_eq!(diff.added, ["new"]);
}

#[test]
fn a_cell_that_passes_now_is_newly_passing_and_nothing_worse() {
    let diff = one(cell("x").failing().build(), cell("x").build());
    assert_eq!(diff.newly_passing[0].before, Some(Verdict::Fail));
    assert!(!diff.is_worse() && !diff.is_empty());
}

#[test]
fn a_cell_that_is_not_verified_any_more_is_worse_though_nothing_broke() {
    let diff = one(cell("x").build(), cell("x").skipped("no `replicas`").build());
    assert_eq!(diff.otherwise_changed.len(), 1);
    assert!(diff.is_worse());
}

#[test]
fn a_cell_that_is_gone_is_worse_because_it_proves_nothing_now() {
    let diff =
        compared(&report(vec![cell("x").build(), cell("y").build()]), &report(vec![cell("x").build()]));
    assert_eq!(diff.removed, ["y"]);
    assert!(diff.is_worse());
}

#[test]
fn an_error_in_place_of_a_broken_promise_is_a_change_and_not_worse() {
    let diff = one(cell("x").failing().build(), cell("x").error().build());
    assert_eq!(diff.otherwise_changed.len(), 1);
    assert!(!diff.is_worse());
}

#[test]
fn slower_needs_both_the_share_and_the_length() {
    let with = |us| cell("x").taking(us).with(|cell| cell.setup_us = 0).build();
    assert!(one(with(10_000), with(40_000)).slower.is_empty(), "30 ms more is noise");
    assert!(one(with(1_000_000), with(1_400_000)).slower.is_empty(), "40 percent more is noise");
    assert_eq!(one(with(100_000), with(200_000)).slower.len(), 1);
    assert!(one(with(200_000), with(100_000)).slower.is_empty());
}

#[test]
fn set_up_does_not_count_as_slower() {
    let with = |setup| cell("x").taking(1_000_000 + setup).with(|cell| cell.setup_us = setup).build();
    assert!(one(with(0), with(900_000)).slower.is_empty());
}

#[test]
fn the_same_scenario_at_another_point_is_another_cell() {
    let diff = one(cell("x").at("clicks", "2").build(), cell("x").at("clicks", "8").build());
    assert_eq!(
        (diff.added.as_slice(), diff.removed.as_slice()),
        (&["x clicks=8".to_owned()][..], &["x clicks=2".to_owned()][..])
    );
}

#[test]
fn the_text_tells_the_worst_first() {
    let before = report(vec![
        cell("was-red").failing().build(),
        cell("was-green").build(),
        cell("slow").taking(100_000).build(),
        cell("gone").build(),
    ]);
    let after = report(vec![
        cell("was-red").build(),
        cell("was-green").failing().build(),
        cell("slow").taking(900_000).build(),
        cell("new").build(),
    ]);
    insta::assert_snapshot!(compared(&before, &after));
}
