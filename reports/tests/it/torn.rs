//! Reports that break off, cut at every byte, and files that are no reports.

use onejob_reports::{
    Format,
    exit::ExitCode,
    json::{Head, NdjsonWriter, ReadError, read_any, render, render_lines},
    model::RunReport,
    tally::shortfall,
};

use crate::fixtures::one_of_each;

fn small() -> RunReport {
    let mut report = one_of_each();
    report.cells.truncate(3);
    report.planned = 3;
    // A character of several bytes, so that one is cut in the middle.
    report.cells[1].title = "Viele Klicks, ein Auftrag: größer geht’s nicht".into();
    report
}

fn document(report: &RunReport) -> Vec<u8> {
    let mut out = Vec::new();
    render(report, &mut out).unwrap();
    out
}

fn lines(report: &RunReport) -> Vec<u8> {
    let mut out = Vec::new();
    render_lines(report, &mut out).unwrap();
    out
}

/// What every format says of a report.
fn in_every_format(report: &RunReport) -> Vec<(Format, String)> {
    Format::ALL
        .into_iter()
        .map(|format| {
            let mut out = Vec::new();
            onejob_reports::render(report, format, &mut out)
                .unwrap_or_else(|error| panic!("{format}: {error}"));
            (format, String::from_utf8(out).unwrap())
        })
        .collect()
}

/// The first bytes say neither that it is a report nor of which version.
fn may_be_unreadable(written: &[u8], error: &ReadError) -> bool {
    let text = String::from_utf8_lossy(written);
    match error {
        ReadError::Empty => text.trim().is_empty(),
        ReadError::TornAtOnce => {
            !text.contains("\"schema_version\": 1,") && !text.contains("\"schema_version\":1,")
        }
        _ => false,
    }
}

#[test]
fn a_report_that_was_cut_at_any_byte_is_read_as_far_as_it_is_whole_and_says_that_it_is_not() {
    let report = small();
    for whole in [document(&report), lines(&report)] {
        let mut seen = [false; 4];
        // The last byte is a line break, without which nothing is missing.
        for length in 0..whole.len() - 1 {
            let torn = &whole[..length];
            let read = match read_any(torn) {
                Ok(read) => read,
                Err(error) => {
                    assert!(
                        may_be_unreadable(torn, &error),
                        "{length}: {error}\n{}",
                        String::from_utf8_lossy(torn)
                    );
                    continue;
                }
            };
            let cells = read.cells.len();
            seen[cells] = true;
            assert_eq!(read.cells[..], report.cells[..cells], "{length}");
            assert!(read.interrupted && read.incomplete.is_some(), "{length}: {read:?}");
            assert!(shortfall(&read).is_some(), "{length}");
            assert_eq!(ExitCode::of_run(&read, false), ExitCode::Interrupted, "{length}");
        }
        assert_eq!(seen, [true; 4], "so every cell was the last one that was whole");
    }
}

#[test]
fn every_format_says_what_is_missing_of_a_report_that_breaks_off() {
    let report = small();
    for whole in [document(&report), lines(&report)] {
        // Before the first cell, in the middle of it, and in the middle of the last one.
        for part in [9, 4, 2] {
            let torn = &whole[..whole.len() - whole.len() / part * (part - 1) - 20];
            let read = read_any(torn).unwrap();
            assert!(read.cells.len() < 3);
            for (format, page) in in_every_format(&read) {
                let page = page.replace('\n', " ");
                let told = match format {
                    // These hold the report itself.
                    Format::Json => page.contains("\"incomplete\": \"The report breaks off"),
                    Format::Ndjson => page.contains("\"incomplete\":\"The report breaks off"),
                    _ => page.contains("breaks off") || page.contains("breaks  off"),
                };
                assert!(told, "{format}: {page}");
            }
        }
    }
}

#[test]
fn a_journal_without_an_end_names_the_cells_that_did_not_run() {
    let report = small();
    let names: Vec<String> = report.cells.iter().map(onejob_reports::model::Cell::name).collect();
    let mut out = Vec::new();
    let head = Head { cells: names.clone(), ..Head::of(&report) };
    let mut writer = NdjsonWriter::begin(&mut out, head).unwrap();
    writer.cell(&report.cells[1]).unwrap();
    let read = read_any(&out).unwrap();
    assert_eq!(read.not_run, [names[0].clone(), names[2].clone()]);
    let missing = shortfall(&read).unwrap();
    assert!(missing.contains("has no end") && missing.contains(&names[2]), "{missing}");
    for (format, page) in in_every_format(&read) {
        assert!(page.contains(&read.not_run[1]), "{format}: {page}");
    }
}

#[test]
fn what_is_none_of_ours_is_told_what_it_is() {
    let error = |bytes: &[u8]| read_any(bytes).unwrap_err().to_string();
    assert!(error(b"").contains("empty") && error(b" \n\n").contains("empty"));
    assert!(error(b"\x89PNG\r\n").contains("byte 0 is not UTF-8"));
    assert!(error(b"<html></html>").contains("no onejob report"));
    assert!(error(b"[1, 2]").contains("no onejob report"));
    assert!(error(b"{\"tests\": 3}").contains("schema_version"));
    assert!(
        error(b"{\"onejob_history\":1,\"cell\":\"a\",\"repeat\":1}\n{\"seq\":0}\n")
            .contains("history of a cell")
    );
    let bench = serde_json::to_vec(&crate::bench_fixtures::bench_report()).unwrap();
    assert!(error(&bench).contains("a benchmark"));
    let exploration = serde_json::to_vec(&crate::explore_fixtures::exploration()).unwrap();
    assert!(error(&exploration).contains("an exploration"));
    let mut sarif = Vec::new();
    onejob_reports::render(&small(), Format::Sarif, &mut sarif).unwrap();
    assert!(error(&sarif).contains("SARIF"));
}

#[test]
fn a_newer_version_is_said_to_be_newer_in_both_forms_also_where_it_breaks_off() {
    for whole in [document(&small()), lines(&small())] {
        let text = String::from_utf8(whole).unwrap();
        let newer = text
            .replacen("\"schema_version\": 1,", "\"schema_version\": 7, \"news\": [],", 1)
            .replacen("\"schema_version\":1,", "\"schema_version\":7,\"news\":[],", 1);
        for text in [&newer[..], &newer[..newer.len() / 2], &newer[..120]] {
            let error = read_any(text.as_bytes()).unwrap_err();
            assert!(matches!(error, ReadError::Newer { found: 7 }), "{error}\n{text}");
        }
    }
}
