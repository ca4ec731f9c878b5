//! The HTML report in a real browser.
//!
//! Needs Chromium on `PATH`, and axe-core for the accessibility checks: `fetch-axe.sh` beside this file gets it. With
//! `ONEJOB_SCREENSHOTS=FOLDER` the pictures of the gallery are written.

use std::path::PathBuf;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use devtools::Browser;
use onejob_reports::{
    Format,
    bench::{self, BenchReport},
    explore,
    model::RunReport,
    render,
    sheet::{self, Sheet},
};
use serde_json::{Value, json};
use tempfile::TempDir;

#[path = "../it/bench_fixtures.rs"]
mod bench_fixtures;
mod devtools;
#[path = "../it/explore_fixtures.rs"]
mod explore_fixtures;
#[path = "../it/fixtures.rs"]
#[expect(dead_code, reason = "shared with the other tests")]
mod fixtures;

#[path = "../it/sheet_fixtures.rs"]
#[expect(dead_code, reason = "shared with the other tests")]
mod sheet_fixtures;

use fixtures::{CellBuilder, all_green, interrupted, one_of_each, report, suite};

const RED: &str = "#cell-reverse-finish-order-late-first";

/// A report on disk, and a browser that has it open.
struct Page {
    browser: Browser,
    url: String,
    _folder: TempDir,
}

impl Page {
    fn of(report: &RunReport) -> Self {
        Self::prepared(report, |_| {})
    }

    fn prepared(report: &RunReport, prepare: impl FnOnce(&mut Browser)) -> Self {
        Self::written(|file| render(report, Format::Html, file).unwrap(), prepare)
    }

    fn of_sheet(sheet: &Sheet) -> Self {
        Self::written(|file| sheet::html(sheet, file).unwrap(), |_| {})
    }

    fn written(write: impl FnOnce(&mut std::fs::File), prepare: impl FnOnce(&mut Browser)) -> Self {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("report.html");
        write(&mut std::fs::File::create(&path).unwrap());
        let url = format!("file://{}", path.display());
        let mut browser = Browser::start();
        prepare(&mut browser);
        browser.open(&url);
        Self { browser, url, _folder: folder }
    }

    fn eval(&mut self, expression: &str) -> Value {
        self.browser.eval(expression)
    }

    /// Waits until something is so; looks once a frame.
    fn until(&mut self, condition: &str) {
        self.eval(&format!(
            "new Promise((done, fail) => {{ const end = performance.now() + 30000; const look = () => {{ \
             if ({condition}) done(true); else if (performance.now() > end) fail(new Error('never so')); \
             else requestAnimationFrame(look); }}; look(); }})"
        ));
    }

    fn visible_cells(&mut self) -> Vec<String> {
        let ids = self.eval(
            "[...document.querySelectorAll('.cell')].filter((c) => c.checkVisibility()).map((c) => c.id)",
        );
        serde_json::from_value(ids).unwrap()
    }

    /// Whatever the test did, the page asked for nothing and complained of nothing.
    fn was_quiet(mut self) {
        let requests = self.browser.requests(&self.url);
        assert!(requests.is_empty(), "the page asked for {requests:?}");
        let complaints = self.browser.complaints();
        assert!(complaints.is_empty(), "{complaints:#?}");
    }
}

/// Where the mark of each moment with this word is drawn, from left to right, in pixels.
fn marks(page: &mut Page, cell: &str, class: &str) -> Vec<f64> {
    let places = page.eval(&format!(
        "[...document.querySelectorAll({:?})].map((u) => u.getBoundingClientRect()).map((b) => b.x + b.width / 2)",
        format!("{cell} .m.{class} use")
    ));
    serde_json::from_value(places).unwrap()
}

#[test]
fn a_reader_goes_from_what_broke_to_the_timeline_of_winner_and_discarded_result() {
    let mut page = Page::of(&one_of_each());
    let sentence = page.eval("document.querySelector('.troubles .sentence').textContent");
    assert_eq!(
        sentence,
        "The job's result changed from attempt 2's to attempt 1's after it had been decided."
    );
    page.browser.click(".troubles a");
    page.until(&format!("document.querySelector({RED:?}).open"));
    // The bar with the filter stays at the top of the window, and must not cover the cell.
    page.until(&format!(
        "document.querySelector('.filter').getBoundingClientRect().bottom <= document.querySelector({RED:?}).getBoundingClientRect().top"
    ));
    let words = page.eval(&format!("document.querySelector({:?}).textContent", format!("{RED} svg.tl")));
    let words = words.as_str().unwrap();
    assert!(words.contains("WON") && words.contains("DISCARDED") && words.contains("BROKE"), "{words}");
    let (won, discarded) = (marks(&mut page, RED, "won"), marks(&mut page, RED, "discarded"));
    let broke = marks(&mut page, RED, "broke");
    assert_eq!((won.len(), discarded.len(), broke.len()), (1, 1, 1));
    assert!(
        won[0] > 0.0 && won[0] < discarded[0] && discarded[0] < broke[0],
        "{won:?} {discarded:?} {broke:?}"
    );
    page.was_quiet();
}

#[test]
fn the_filter_leaves_what_it_was_asked_for() {
    let mut page = Page::of(&one_of_each());
    assert_eq!(page.visible_cells().len(), 7);
    page.browser.key("/");
    page.browser.type_text("double clicks=8");
    assert_eq!(page.visible_cells(), ["cell-double-click-clicks-8"]);
    assert_eq!(page.eval("document.querySelector('#shown').textContent"), "1 of 7 cells");
    page.browser.key("Escape");
    assert_eq!(page.visible_cells().len(), 7);
    page.browser.click(".switch.pass");
    assert_eq!(page.visible_cells().len(), 4);
    page.browser.key("/");
    page.browser.type_text("terminal-never-changes");
    assert_eq!(page.visible_cells(), [&RED[1..]]);
    page.was_quiet();
}

#[test]
fn a_link_to_a_cell_that_the_filter_hides_shows_it_again() {
    let mut page = Page::of(&one_of_each());
    page.browser.key("/");
    page.browser.type_text("double");
    assert!(!page.visible_cells().contains(&RED[1..].to_owned()));
    page.browser.click(".matrix td.sq.fail a");
    page.until(&format!("document.activeElement.closest('.cell')?.id === {:?}", &RED[1..]));
    assert!(page.visible_cells().contains(&RED[1..].to_owned()));
    page.was_quiet();
}

#[test]
fn the_keyboard_reaches_every_failure_opens_it_and_reads_its_timeline() {
    let mut page = Page::of(&one_of_each());
    page.browser.key("n");
    assert_eq!(page.eval("document.activeElement.closest('.cell').id"), RED[1..]);
    page.browser.key("Enter");
    page.until(&format!("document.querySelector({:?})", format!("{RED} .tools")));
    page.eval(&format!("document.querySelector({:?}).focus()", format!("{RED} .pan")));
    let mut told = Vec::new();
    for _ in 0..14 {
        page.browser.key("ArrowRight");
        told.push(
            page.eval(&format!("document.querySelector({:?}).textContent", format!("{RED} .tools output"))),
        );
    }
    let told: Vec<&str> = told.iter().map(|told| told.as_str().unwrap()).collect();
    let place =
        |word: &str| told.iter().position(|told| told.contains(word)).unwrap_or_else(|| panic!("{told:#?}"));
    assert!(told[0] == "0.000 ms, client submit: POST /v1/jobs → 201 queued (2.1 ms)", "{told:#?}");
    assert!(place("WON") < place("DISCARDED") && place("DISCARDED") < place("BROKE"), "{told:#?}");
    page.browser.key("n");
    assert_eq!(page.eval("document.activeElement.closest('.cell').id"), "cell-unknown-blocks");
    page.browser.key("p");
    assert_eq!(page.eval("document.activeElement.closest('.cell').id"), RED[1..]);
    page.was_quiet();
}

#[test]
fn zooming_stretches_the_axis_and_keeps_the_order() {
    let mut page = Page::of(&one_of_each());
    page.browser.click(".troubles a");
    page.until(&format!("document.querySelector({:?})", format!("{RED} .tools")));
    let width = |page: &mut Page| {
        page.eval(&format!(
            "document.querySelector({:?}).getBoundingClientRect().width",
            format!("{RED} svg.tl")
        ))
        .as_f64()
        .unwrap()
    };
    let before = width(&mut page);
    let apart = |page: &mut Page| marks(page, RED, "discarded")[0] - marks(page, RED, "won")[0];
    let apart_before = apart(&mut page);
    page.browser.key("+");
    page.browser.key("+");
    assert!(width(&mut page) > before * 1.8, "{} of {before}", width(&mut page));
    let ratio = apart(&mut page) / apart_before;
    assert!((ratio - 2.25).abs() < 0.01, "{ratio}");
    let high = page.eval(&format!(
        "document.querySelector({:?}).getBoundingClientRect().height",
        format!("{RED} svg.tl .m text")
    ));
    assert!(high.as_f64().unwrap() < 20.0, "text keeps its size: {high}");
    page.browser.key("0");
    assert!((width(&mut page) - before).abs() < 0.5);
    assert!((apart(&mut page) - apart_before).abs() < 0.5);
    page.was_quiet();
}

#[test]
fn labels_of_a_timeline_do_not_cover_each_other() {
    let mut page = Page::of(&one_of_each());
    page.browser.click("[data-do=open]");
    let covered = page.eval(
        "[...document.querySelectorAll('svg.tl')].flatMap((svg) => { \
           const texts = [...svg.querySelectorAll('.m text, .w')].map((t) => [t.textContent, t.getBoundingClientRect()]); \
           return texts.flatMap(([a, x], i) => texts.slice(i + 1).filter(([, y]) => \
             Math.min(x.right, y.right) - Math.max(x.left, y.left) > 1 && Math.min(x.bottom, y.bottom) - Math.max(x.top, y.top) > 4) \
             .map(([b]) => `${a} / ${b}`)); })",
    );
    assert_eq!(covered, json!([]));
    page.was_quiet();
}

#[test]
fn without_javascript_everything_is_there_and_opens() {
    let mut page = Page::prepared(&one_of_each(), |browser| {
        browser.call("Emulation.setScriptExecutionDisabled", &json!({ "value": true }));
    });
    assert_eq!(page.visible_cells().len(), 7);
    assert_eq!(page.eval("document.querySelector('.filter').checkVisibility()"), false, "no dead controls");
    assert_eq!(page.eval("document.querySelectorAll('.cell button').length"), 0, "no dead controls");
    page.browser.click(&format!("{RED} summary"));
    assert_eq!(
        page.eval(&format!("document.querySelector({:?}).checkVisibility()", format!("{RED} svg.tl"))),
        true
    );
    assert_eq!(marks(&mut page, RED, "won").len(), 1);
}

#[test]
fn what_a_target_answered_is_never_run() {
    let attack = "</title></script><script>document.title='owned'</script><img src=http://127.0.0.1:9/x onerror=document.title='owned'>\"'`<b>";
    let cell = CellBuilder::passing("x").at("k", attack).failing().with(|cell| {
        cell.scenario = attack.into();
        cell.title = attack.into();
        cell.why = attack.into();
        cell.promises[0].name = attack.into();
        cell.promises[0].sentence = attack.into();
        cell.witnesses[0].detail = attack.into();
        cell.timeline[0].what = attack.into();
        cell.timeline[1].who = attack.into();
        cell.replay = attack.into();
        cell.curl = vec![attack.into()];
        cell.gate = Some(attack.into());
    });
    let mut run = report(vec![cell.build()]);
    run.target = attack.into();
    run.database = Some(attack.into());
    run.profile.widens = vec![attack.into()];
    let mut page = Page::of(&run);
    page.browser.click("[data-do=open]");
    let title = page.eval("document.title");
    assert!(title.as_str().unwrap().contains("</script>"), "{title}");
    assert_eq!(page.eval("document.querySelectorAll('img, main script, main b b').length"), 0);
    page.was_quiet();
}

#[test]
fn on_paper_what_is_not_green_is_open() {
    let mut page = Page::of(&one_of_each());
    page.eval("dispatchEvent(new Event('beforeprint'))");
    assert_eq!(page.eval("[...document.querySelectorAll('.cell[open]')].length"), 3);
    let pdf = page.browser.call("Page.printToPDF", &json!({}));
    assert!(pdf["data"].as_str().unwrap().len() > 20_000);
    page.eval("dispatchEvent(new Event('afterprint'))");
    assert_eq!(page.eval("[...document.querySelectorAll('.cell[open]')].length"), 0);
    page.was_quiet();
}

#[test]
fn five_hundred_cells_are_filtered_and_opened_all_the_same() {
    let mut page = Page::of(&suite(500));
    assert_eq!(page.visible_cells().len(), 500);
    page.browser.click(".switch.pass");
    assert_eq!(page.visible_cells().len(), 10);
    page.browser.click("[data-do=open]");
    assert_eq!(page.eval("document.querySelectorAll('.cell[open] svg.tl').length"), 10);
    page.was_quiet();
}

/// Pages of what isn't a run.
fn sheets() -> [(&'static str, Sheet); 5] {
    let bench =
        BenchReport { comparison: Some(bench_fixtures::comparison()), ..bench_fixtures::bench_report() };
    [
        ("kill-matrix", sheet_fixtures::kill_matrix()),
        ("bench", bench::sheet(&bench)),
        ("contract", sheet_fixtures::contract()),
        ("explore", explore::sheet(&explore_fixtures::exploration())),
        ("explore-calm", explore::sheet(&explore_fixtures::calm_exploration())),
    ]
}

/// The accessibility rules of axe-core, in light and in dark, after each of the states.
fn check_with_axe(name: &str, page: &mut Page, states: &[&str]) {
    let path = std::env::var_os("ONEJOB_AXE")
        .map(PathBuf::from)
        .expect("set ONEJOB_AXE to the path of axe.min.js; `reports/tests/browser/fetch-axe.sh FOLDER` gets it and prints the path");
    let axe = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    page.eval(&axe);
    for scheme in ["light", "dark"] {
        let media = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        page.browser.call("Emulation.setEmulatedMedia", &media);
        for state in states {
            page.eval(state);
            let found = page.eval(
                "axe.run(document, { resultTypes: ['violations'] }).then((r) => r.violations.map((v) => \
                 `${v.id}: ${v.help}: ${v.nodes.slice(0, 3).map((n) => n.html + ' ' + n.failureSummary).join(' | ')}`))",
            );
            assert_eq!(found, json!([]), "{name}, {scheme}, after {state}");
        }
    }
}

const OPEN_ALL: &str = "document.querySelectorAll('details').forEach((d) => { d.open = true; })";

#[test]
fn axe_finds_no_violation_in_the_report_of_a_run() {
    let help = "document.querySelector('#help').showModal()";
    let close = "document.querySelector('#help').close()";
    check_with_axe("each", &mut Page::of(&one_of_each()), &["0", OPEN_ALL, help, close]);
    for (name, report) in [("green", all_green()), ("interrupted", interrupted()), ("empty", report(vec![]))]
    {
        check_with_axe(name, &mut Page::of(&report), &[OPEN_ALL]);
    }
}

#[test]
fn axe_finds_no_violation_in_the_other_pages() {
    for (name, sheet) in sheets() {
        let mut page = Page::of_sheet(&sheet);
        check_with_axe(name, &mut page, &["0", OPEN_ALL]);
        page.was_quiet();
    }
}

/// The picture of what is in the window; written where the gallery is wanted.
fn take(page: &mut Page, name: &str, scheme: &str) {
    let media = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
    page.browser.call("Emulation.setEmulatedMedia", &media);
    let picture = page.browser.call("Page.captureScreenshot", &json!({ "format": "png" }));
    let picture = STANDARD.decode(picture["data"].as_str().unwrap()).unwrap();
    assert!(picture.starts_with(b"\x89PNG") && picture.len() > 10_000, "{name}");
    if let Some(folder) = std::env::var_os("ONEJOB_SCREENSHOTS").map(PathBuf::from) {
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(name), picture).unwrap();
    }
}

#[test]
fn the_pictures_of_the_gallery_are_taken() {
    let mut page = Page::of(&one_of_each());
    take(&mut page, "overview.png", "light");
    page.browser.click(".troubles a");
    page.until(&format!("document.querySelector({:?})", format!("{RED} .tools")));
    take(&mut page, "failing-cell.png", "light");
    take(&mut page, "failing-cell-dark.png", "dark");
    page.was_quiet();
    for (name, sheet) in sheets() {
        let mut page = Page::of_sheet(&sheet);
        take(&mut page, &format!("{name}.png"), "light");
        page.was_quiet();
    }
}

#[test]
fn every_page_can_be_read_on_a_narrow_screen_and_without_javascript() {
    let width = |browser: &mut Browser| {
        let size = json!({ "width": 400, "height": 800, "deviceScaleFactor": 1, "mobile": false });
        browser.call("Emulation.setDeviceMetricsOverride", &size);
        browser.call("Emulation.setScriptExecutionDisabled", &json!({ "value": true }));
    };
    let check = |name: &str, mut page: Page| {
        for (state, open) in [("closed", "0"), ("open", OPEN_ALL)] {
            page.eval(open);
            let wide = page.eval("document.documentElement.scrollWidth");
            assert!(wide.as_f64().unwrap() <= 400.0, "{name}, {state}: {wide} px wide");
        }
    };
    check("run", Page::prepared(&one_of_each(), width));
    for (name, sheet) in sheets() {
        check(name, Page::written(|file| sheet::html(&sheet, file).unwrap(), width));
    }
}
