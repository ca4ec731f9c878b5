//! Benchmarks in their formats.

use std::collections::BTreeSet;

use onejob_reports::{
    bench::{BenchFormat, BenchReport, Limit, ReadBenchError, read, render, schema, text},
    redact::Secrets,
};

use crate::bench_fixtures::{bench_report, comparison};

fn written(report: &BenchReport, format: BenchFormat) -> String {
    let mut out = Vec::new();
    render(report, format, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn compared() -> BenchReport {
    BenchReport { comparison: Some(comparison()), ..bench_report() }
}

#[test]
fn in_markdown() {
    insta::assert_snapshot!(written(&compared(), BenchFormat::Markdown));
}

#[test]
fn in_csv_every_point_has_a_line_and_what_was_not_measured_is_empty() {
    let text = written(&bench_report(), BenchFormat::Csv);
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let head = reader.headers().unwrap().clone();
    assert_eq!(head.iter().collect::<BTreeSet<_>>().len(), head.len(), "no name twice: {head:?}");
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 24);
    let at = |row: usize, name: &str| {
        let column = head.iter().position(|column| column == name).unwrap();
        rows[row][column].to_owned()
    };
    assert_eq!(
        (at(0, "strategy"), at(0, "contenders"), at(0, "wins")),
        ("cas".into(), "2".into(), "12000".into())
    );
    assert_eq!((at(0, "wal_syncs"), at(12, "wal_syncs")), (String::new(), "1.02".into()));
    assert_eq!((at(0, "to_baseline_low"), at(4, "to_baseline")), (String::new(), "0.8".into()));
}

#[test]
fn what_is_written_as_json_is_read_back_and_fits_its_schema() {
    let report = compared();
    let text = written(&report, BenchFormat::Json);
    assert_eq!(read(&text).unwrap(), report);
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    let validator = jsonschema::validator_for(&schema()).unwrap();
    let wrong: Vec<String> = validator.iter_errors(&value).map(|error| error.to_string()).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn a_newer_benchmark_another_report_and_what_is_none_are_told_apart() {
    let mut value = serde_json::to_value(bench_report()).unwrap();
    value["schema_version"] = 99.into();
    value["new_field"] = true.into();
    assert!(matches!(read(&value.to_string()), Err(ReadBenchError::Newer { found: 99 })));
    let run = serde_json::to_string(&crate::fixtures::one_of_each()).unwrap();
    assert!(matches!(read(&run), Err(ReadBenchError::OfSomethingElse)));
    for other in ["", "{}", "[]", "{\"subject\":\"cas\"}"] {
        assert!(matches!(read(other), Err(ReadBenchError::Malformed(_))), "{other}");
    }
}

#[test]
fn a_page_has_plots_for_each_cluster_and_loads_nothing() {
    let page = written(&bench_report(), BenchFormat::Html);
    let plots = page.matches("<svg class=\"plot\"").count();
    assert_eq!(plots, 2 * 5, "rates, ratios, p99 of all, p99 of losers, distribution");
    for sign in [" src=", "@import", "url(", "<link", "<iframe", " style=", " onerror="] {
        assert!(!page.contains(sign), "{sign}");
    }
    assert!(page.contains("Throughput: durable") && page.contains("for-update × 32"), "{page}");
}

#[test]
fn one_number_in_flight_is_a_table_and_no_plot_over_it() {
    let mut report = bench_report();
    report.rows.retain(|row| row.contenders == 8 && row.cluster == "scratch");
    let page = written(&report, BenchFormat::Markdown);
    assert!(page.contains("| cas × 8 |"), "{page}");
    assert!(!page.contains("medians with their bounds"), "{page}");
    assert!(page.contains("### Throughput\n"), "one cluster needs no name: {page}");
}

#[test]
fn open_loops_and_shares_of_duplicates_are_lines_of_their_own() {
    let mut report = bench_report();
    for (index, row) in report.rows.iter_mut().enumerate() {
        row.duplicates = Some(if index % 2 == 0 { 50.0 } else { 99.0 });
        row.intended_rate = Some(400.0);
    }
    let page = written(&report, BenchFormat::Markdown);
    assert!(page.contains("cas 50 % taken at 400/s") && page.contains("cas 99 % taken at 400/s"), "{page}");
}

#[test]
fn the_word_of_the_page_says_how_it_came_out() {
    let word = |report: &BenchReport| {
        let page = written(report, BenchFormat::Markdown);
        page.lines().next().unwrap().to_owned()
    };
    let mut report = compared();
    assert!(word(&report).ends_with("❌ 1 regression"));
    for point in report.comparison.iter_mut().flat_map(|comparison| &mut comparison.points) {
        point.regression = false;
    }
    assert!(word(&report).ends_with("✅ no regression"));
    report.comparison = None;
    assert!(word(&report).ends_with(" measured"));
    report.not_measured = vec!["cas 64 durable".into()];
    assert!(word(&report).ends_with("❔ 1 point not measured"));
    assert!(written(&report, BenchFormat::Html).contains("There was no time for 1 point"));
    report.interrupted = true;
    assert!(word(&report).ends_with("❔ interrupted"));
    assert!(text(&report, 100).contains("not measured: cas 64 durable"));
    (report.interrupted, report.not_measured) = (false, Vec::new());
    report.rows.clear();
    assert!(word(&report).ends_with("❔ nothing measured"));
}

#[test]
fn an_absent_limit_is_said_and_not_guessed() {
    let mut report = bench_report();
    report.limit = Limit::Absent { why: "pgbench was not found".into() };
    for row in &mut report.rows {
        row.to_limit = None;
    }
    let page = written(&report, BenchFormat::Html);
    assert!(page.contains("no limit beside the figures: pgbench was not found"), "{page}");
    assert_eq!(page.matches("<svg class=\"plot\"").count(), 2 * 4);
    assert!(text(&report, 100).contains("pgbench was not found"));
}

#[test]
fn on_a_terminal_it_fits_the_width() {
    insta::assert_snapshot!(text(&compared(), 120));
    let narrow = text(&bench_report(), 60);
    assert!(narrow.lines().take(26).all(|line| line.chars().count() <= 60), "{narrow}");
}

#[test]
fn a_secret_in_every_text_of_a_benchmark_reaches_no_format() {
    const SECRET: &str = "hunter2hunter2";
    let interrupted = BenchReport { not_measured: vec!["cas 64".into()], ..compared() };
    let mut value = serde_json::to_value(interrupted).unwrap();
    let planted = crate::planting::plant(&mut value, SECRET, &["cas", "pgbench"]);
    let report: BenchReport = serde_json::from_value(value).unwrap();
    let all = |report: &BenchReport| {
        BenchFormat::ALL.map(|format| written(report, format)).join("\n") + &text(report, 500)
    };
    assert!(planted > 80 && all(&report).matches(SECRET).count() > planted, "so this test can fail");
    let clean = all(&Secrets::new().value(SECRET).bench(report));
    assert!(!clean.contains(SECRET), "{clean}");
    let mut named = bench_report();
    named.settings.insert("api_key".into(), "1234".into());
    assert_eq!(Secrets::new().bench(named).settings["api_key"], "[redacted]");
}
