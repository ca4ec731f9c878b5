use onejob_reports::{Format, render};

use crate::fixtures::{all_green, interrupted, one_of_each, report, suite};

fn rendered(report: &onejob_reports::model::RunReport, format: Format) -> String {
    let mut out = Vec::new();
    render(report, format, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn every_format_is_found_by_its_name() {
    for format in Format::ALL {
        assert_eq!(format.to_string().parse::<Format>().unwrap(), format);
        assert!(!format.extension().is_empty());
    }
}

#[test]
fn an_unknown_format_is_refused_with_the_known_ones() {
    let error = "pdf".parse::<Format>().unwrap_err().to_string();
    assert!(error.contains("`pdf`"), "{error}");
    for format in Format::ALL {
        assert!(error.contains(format.name()), "{error}");
    }
}

#[test]
fn every_format_names_a_broken_cell_and_its_promise() {
    for format in Format::ALL {
        let text = rendered(&one_of_each(), format);
        assert!(text.contains("reverse-finish"), "{format}");
        assert!(text.contains("terminal-never-changes"), "{format}");
        assert!(text.contains("after it had been decided"), "{format}");
    }
}

#[test]
fn every_format_says_what_an_interrupted_run_is_missing() {
    for format in Format::ALL {
        let text = rendered(&interrupted(), format);
        assert!(text.contains("unknown-blocks"), "{format}: {text}");
    }
}

#[test]
fn every_format_renders_a_run_in_which_nothing_was_selected() {
    for format in Format::ALL {
        assert!(!rendered(&report(vec![]), format).is_empty(), "{format}");
    }
}

#[test]
fn every_format_renders_the_same_run_the_same_way() {
    for format in Format::ALL {
        for report in [one_of_each(), all_green(), suite(60)] {
            assert_eq!(rendered(&report, format), rendered(&report, format), "{format}");
        }
    }
}
