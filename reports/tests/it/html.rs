use std::collections::BTreeSet;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use onejob_reports::{html, model::RunReport};
use regex::Regex;
use sha2::{Digest, Sha256};

use crate::fixtures::{CellBuilder, all_green, interrupted, one_of_each, report, suite};

fn page(report: &RunReport) -> String {
    let mut out = Vec::new();
    html::render(report, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn found(pattern: &str, text: &str) -> Vec<String> {
    Regex::new(pattern).unwrap().captures_iter(text).map(|found| found[1].to_owned()).collect()
}

#[test]
fn five_hundred_cells_stay_below_a_megabyte_with_every_failure_drawn() {
    let page = page(&suite(500));
    assert!(page.len() < 1_000_000, "{}", page.len());
    assert_eq!(page.matches("<figure>").count(), 10);
    assert!(page.contains("The JSON report has them whole"));
}

#[test]
fn a_run_in_which_everything_fails_stays_below_a_megabyte_too() {
    let mut all = suite(350);
    for cell in &mut all.cells {
        *cell =
            CellBuilder::passing(&cell.scenario).at("clicks", &cell.at["clicks"].clone()).failing().build();
    }
    let page = page(&all);
    assert!(page.len() < 1_000_000, "{}", page.len());
    assert!(page.matches("<figure>").count() > 10);
}

#[test]
fn a_run_of_ordinary_size_has_every_timeline_whole() {
    let page = page(&one_of_each());
    let with_timeline = one_of_each().cells.iter().filter(|cell| !cell.timeline.is_empty()).count();
    assert_eq!(page.matches("<figure>").count(), with_timeline);
    assert!(!page.contains("class=\"short\""));
}

#[test]
fn the_page_loads_nothing() {
    for report in [one_of_each(), interrupted(), suite(60)] {
        let page = page(&report);
        for attribute in ["src", "srcset", "action", "data", "xlink:href", "poster", "background"] {
            assert!(found(&format!(r"\s({attribute})="), &page).is_empty(), "{attribute}");
        }
        let links = found(r#"\shref="([^"]*)""#, &page);
        assert!(links.iter().all(|link| link.starts_with('#')), "{links:?}");
        for sign in [
            "@import",
            "url(",
            "fetch(",
            "XMLHttpRequest",
            "<link",
            "<iframe",
            "<object",
            "<embed",
            "import(",
        ] {
            assert!(!page.contains(sign), "{sign}");
        }
    }
}

#[test]
fn the_policy_allows_the_page_s_own_script_and_style_and_nothing_else() {
    let page = page(&one_of_each());
    let policy = found(r#"Content-Security-Policy" content="([^"]*)""#, &page).remove(0);
    let policy = policy.replace("&#x27;", "'").replace("&#x2f;", "/");
    assert!(policy.starts_with("default-src 'none';"), "{policy}");
    for tag in ["style", "script"] {
        let inside = found(&format!(r"(?s)<{tag}>(.*?)</{tag}>"), &page);
        assert_eq!(inside.len(), 1, "one {tag}");
        let hash = STANDARD.encode(Sha256::digest(&inside[0]));
        assert!(policy.contains(&format!("{tag}-src 'sha256-{hash}'")), "{tag}: {policy}");
    }
    // A policy with hashes forbids style and event attributes: there must be none to miss.
    assert!(found(r"(\sstyle=|\son[a-z]+=)", &page).is_empty());
}

#[test]
fn ids_are_unique_and_every_link_has_its_target() {
    let twins = report(vec![
        CellBuilder::passing("a b").build(),
        CellBuilder::passing("a-b").failing().build(),
        CellBuilder::passing("a_b").build(),
        CellBuilder::passing("ü").failing().build(),
    ]);
    for report in [one_of_each(), suite(120), twins] {
        let page = page(&report);
        let ids = found(r#"\sid="([^"]*)""#, &page);
        let set: BTreeSet<&String> = ids.iter().collect();
        assert_eq!(set.len(), ids.len(), "{ids:?}");
        for link in found(r##"\s(?:href|aria-labelledby)="#?([^"]*)""##, &page) {
            assert!(set.contains(&link), "{link}");
        }
    }
}

#[test]
fn a_cell_keeps_its_anchor_when_other_cells_come_and_go() {
    let anchor = "id=\"cell-reverse-finish-order-late-first\"";
    let mut fewer = one_of_each();
    fewer.cells.remove(0);
    assert!(page(&one_of_each()).contains(anchor) && page(&fewer).contains(anchor));
}

#[test]
fn the_matrix_shows_the_worst_outcome_of_a_promise_in_a_scenario_and_links_to_it() {
    let page = page(&report(vec![
        CellBuilder::passing("x").at("clicks", "2").build(),
        CellBuilder::passing("x").at("clicks", "8").failing().build(),
        CellBuilder::passing("y").build(),
    ]));
    let rows = found(r#"<tr><th scope="row"[^>]*>(.*?)</tr>"#, &page);
    assert!(rows[0].starts_with('x') && rows[1].starts_with('y'), "{rows:?}");
    assert_eq!(found(r#"<td class="sq (\w+)">"#, &rows[0]), ["fail", "pass", "fail"], "{rows:?}");
    assert_eq!(found(r#"<td class="sq (\w+)">"#, &rows[1]), ["pass", "pass", "none"], "{rows:?}");
    assert_eq!(found(r##"<td class="sq fail"><a href="#([^"]*)""##, &rows[0])[0], "cell-x-clicks-8");
}

#[test]
fn expectations_of_all_steps_are_one_column() {
    let with = |step: &str| {
        let name = format!("expect:{step}");
        CellBuilder::passing(step).with(|cell| cell.promises[0].name = name).build()
    };
    let page = page(&report(vec![with("submit"), with("retry"), with("read")]));
    assert_eq!(found(r#"<th scope="col" class="up"><span>([^<]*)"#, &page).len(), 2);
}

#[test]
fn the_same_failure_in_many_cells_is_told_once_with_a_link_to_each() {
    let page = page(&suite(500));
    let troubles = found(r#"(?s)<ol class="troubles">(.*?)</ol>"#, &page).remove(0);
    assert_eq!(troubles.matches("<li").count(), 1);
    assert!(troubles.contains("The same in 9 more"), "{troubles}");
    assert_eq!(troubles.matches("href=").count(), 10);
}

#[test]
fn a_run_without_failures_has_no_section_of_failures() {
    assert!(!page(&all_green()).contains("What broke"));
}

#[test]
fn an_interrupted_run_says_at_its_head_what_is_missing() {
    let page = page(&interrupted());
    let head = page.split("<main>").next().unwrap();
    assert!(head.contains("3 of 5 cells planned did not run"), "{head}");
    assert!(head.contains("unknown-blocks"));
}

#[test]
fn a_long_timeline_draws_what_tells_most_and_counts_the_rest() {
    let long = CellBuilder::passing("x").failing().with(|cell| {
        let filler = cell.timeline[3].clone();
        cell.timeline.extend((100..2_100).map(|id| {
            let mut moment = filler.clone();
            (moment.id, moment.at_us, moment.until_us) = (id, 600_000 + id, None);
            moment
        }));
    });
    let page = page(&report(vec![long.build()]));
    assert!(page.len() < 200_000, "{}", page.len());
    for word in ["WON", "DISCARDED", "BROKE"] {
        assert!(page.contains(&format!("<tspan>{word}</tspan>")), "{word}");
    }
    assert!(page.contains("moments not drawn"));
}

#[test]
fn every_moment_of_the_picture_stands_in_the_table_too() {
    let page = page(&one_of_each());
    let drawn = found(r#"<g class="m [^"]*" data-i="(\d+)""#, &page);
    assert_eq!(drawn.len(), one_of_each().cells.iter().map(|cell| cell.timeline.len()).sum::<usize>());
    assert_eq!(found(r#"<tr class="[^"]*" data-i="(\d+)""#, &page).len(), drawn.len());
}
