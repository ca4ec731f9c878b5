use onejob_reports::{
    json::{Head, NdjsonWriter, ReadError, line_schema, read, read_lines, render, render_lines, schema},
    model::RunReport,
};
use serde_json::Value;

use crate::fixtures::{all_green, interrupted, one_of_each, suite};

fn document(report: &RunReport) -> String {
    let mut out = Vec::new();
    render(report, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn lines(report: &RunReport) -> String {
    let mut out = Vec::new();
    render_lines(report, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn what_is_written_is_read_back_the_same() {
    for report in [one_of_each(), all_green(), interrupted(), suite(60)] {
        assert_eq!(read(&document(&report)).unwrap(), report);
        assert_eq!(read_lines(&lines(&report)).unwrap(), report);
    }
}

#[test]
fn every_report_fits_the_published_schema() {
    let validator = jsonschema::validator_for(&schema()).unwrap();
    let line_validator = jsonschema::validator_for(&line_schema()).unwrap();
    for report in [one_of_each(), all_green(), interrupted(), suite(60)] {
        let value: Value = serde_json::from_str(&document(&report)).unwrap();
        let errors: Vec<String> = validator.iter_errors(&value).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}");
        for line in lines(&report).lines() {
            let value: Value = serde_json::from_str(line).unwrap();
            assert!(line_validator.is_valid(&value), "{line}");
        }
    }
}

#[test]
fn the_schema_refuses_what_is_no_report() {
    let validator = jsonschema::validator_for(&schema()).unwrap();
    let good: Value = serde_json::from_str(&document(&one_of_each())).unwrap();
    let changes: [fn(&mut Value); 4] = [
        |report| report["cells"][0]["verdict"] = "green".into(),
        |report| report["seed"] = "42".into(),
        |report| _ = report.as_object_mut().unwrap().remove("planned"),
        |report| report["extra"] = true.into(),
    ];
    for change in changes {
        let mut bad = good.clone();
        change(&mut bad);
        assert!(!validator.is_valid(&bad), "{bad}");
    }
}

#[test]
fn the_schema_is_the_committed_one() {
    insta::assert_snapshot!(serde_json::to_string_pretty(&schema()).unwrap());
}

/// The stored file is what the first version wrote. It never changes: who stored a report then can read it now.
#[test]
fn a_report_of_schema_version_1_is_still_read() {
    let stored = include_str!("../data/report-v1.json");
    let report = read(stored).unwrap();
    assert_eq!(report.schema_version, 1);
    assert_eq!(report.cells.len(), 7);
    assert_eq!(report.cells[2].promises[0].evidence, [9, 11, 12]);
    assert_eq!(report.cells[5].error.as_ref().unwrap().code, "OJ3004");
    let again: Value = serde_json::from_str(&document(&report)).unwrap();
    let before: Value = serde_json::from_str(stored).unwrap();
    assert_eq!(again, before, "nothing is lost or renamed");
}

#[test]
fn an_ndjson_report_of_schema_version_1_is_still_read() {
    let stored = include_str!("../data/report-v1.ndjson");
    assert_eq!(read_lines(stored).unwrap(), read(include_str!("../data/report-v1.json")).unwrap());
}

#[test]
fn a_report_without_a_list_of_missing_cells_is_read() {
    let mut value: Value = serde_json::from_str(&document(&all_green())).unwrap();
    value.as_object_mut().unwrap().remove("not_run").unwrap();
    assert_eq!(read(&value.to_string()).unwrap(), all_green());
}

#[test]
fn a_newer_report_is_refused_with_the_reason_even_when_its_fields_are_unknown() {
    let newer = r#"{"schema_version": 2, "something": "new"}"#;
    let error = read(newer).unwrap_err();
    assert!(matches!(error, ReadError::Newer { found: 2 }), "{error}");
    let line = r#"{"kind": "run", "schema_version": 2, "something": "new"}"#;
    assert!(matches!(read_lines(line).unwrap_err(), ReadError::Newer { found: 2 }));
}

#[test]
fn what_is_no_report_is_refused_with_a_way_out() {
    for text in ["", "<html>", "{}", "[]", "null"] {
        let error = read(text).unwrap_err().to_string();
        assert!(error.contains("onejob run --report json=PATH"), "{error}");
        assert!(read_lines(text).is_err(), "{text:?}");
    }
}

#[test]
fn a_run_whose_writer_died_is_read_as_interrupted() {
    let whole = lines(&one_of_each());
    let mut cut = whole.len();
    // At whatever byte the writer died after the head, what was complete is there.
    let head = whole.find('\n').unwrap() + 1;
    while cut > head {
        cut -= 977.min(cut - head);
        if !whole.is_char_boundary(cut) {
            continue;
        }
        let text = &whole[..cut];
        let report = read_lines(text).unwrap();
        let complete = text.matches('\n').count() - 1;
        assert!(report.interrupted);
        assert!(report.cells.len() >= complete && report.cells.len() <= complete + 1, "{complete}");
        assert_eq!(report.planned, 7);
    }
}

#[test]
fn damage_in_the_middle_is_an_error_with_its_line() {
    let mut text = lines(&all_green());
    let second = text.find('\n').unwrap() + 1;
    text.insert_str(second, "garbage\n");
    let error = read_lines(&text).unwrap_err().to_string();
    assert!(error.starts_with("line 2 "), "{error}");
}

#[test]
fn two_reports_in_one_file_and_lines_after_the_end_are_errors() {
    let text = lines(&all_green());
    assert!(read_lines(&format!("{text}{text}")).unwrap_err().to_string().contains("after the end"));
    let head = text.lines().next().unwrap();
    assert!(read_lines(&format!("{head}\n{head}\n")).unwrap_err().to_string().contains("second head"));
    let cell = text.lines().nth(1).unwrap();
    assert!(read_lines(&format!("{cell}\n")).unwrap_err().to_string().contains("has to come first"));
}

#[test]
fn a_writer_that_is_dropped_without_an_end_leaves_a_readable_report() {
    let report = all_green();
    let mut out = Vec::new();
    NdjsonWriter::begin(&mut out, Head::of(&report)).unwrap().cell(&report.cells[0]).unwrap();
    let half = read_lines(&String::from_utf8(out).unwrap()).unwrap();
    assert!(half.interrupted);
    assert_eq!((half.cells.len(), half.planned), (1, 3));
}
