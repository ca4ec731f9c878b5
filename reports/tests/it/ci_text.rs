//! Markdown, GitHub's annotations and TAP.

use onejob_reports::{Format, model::RunReport, render};

use crate::fixtures::{CellBuilder, all_green, interrupted, one_of_each, report, suite};

fn text(report: &RunReport, format: Format) -> String {
    let mut out = Vec::new();
    render(report, format, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// A cell with everything in it that a format could take for its own markup.
fn hostile() -> RunReport {
    let cell = CellBuilder::passing("x").at("k", "a|b").failing().with(|cell| {
        let nasty = "a # b \\ `c` ```d``` | e <img src=x onerror=alert(1)> @octocat ::error::x %0A\nok 7 - forged\n\u{1b}[31m";
        cell.promises[0].sentence = nasty.into();
        cell.why = nasty.into();
        cell.replay = format!("onejob {nasty}");
        cell.timeline[0].what = nasty.into();
        cell.curl = vec![nasty.into()];
        cell.source.file = "a,b:c%/x.toml".into();
    });
    report(vec![cell.build()])
}

#[test]
fn markdown_of_a_run_with_every_verdict() {
    insta::assert_snapshot!(text(&one_of_each(), Format::Markdown));
}

#[test]
fn markdown_shows_hostile_text_as_text() {
    let page = text(&hostile(), Format::Markdown);
    assert!(!page.contains('\u{1b}'));
    let mut fence: Option<String> = None;
    for line in page.lines() {
        let ticks: String = line.chars().take_while(|c| *c == '`').collect();
        match &fence {
            None if ticks.len() >= 3 => fence = Some(ticks),
            Some(open) if line.trim() == open => fence = None,
            Some(_) => {}
            None => {
                let outside = without_code_spans(line);
                assert!(!outside.contains("<img") && !outside.contains("@octocat"), "{line}");
            }
        }
    }
    assert_eq!(fence, None, "every fence is closed");
}

fn without_code_spans(line: &str) -> String {
    let mut rest = line;
    let mut outside = String::new();
    while let Some(start) = rest.find('`') {
        if rest[..start].ends_with('\\') {
            outside.push_str(&rest[..=start]);
            rest = &rest[start + 1..];
            continue;
        }
        outside.push_str(&rest[..start]);
        let ticks: String = rest[start..].chars().take_while(|c| *c == '`').collect();
        let after = &rest[start + ticks.len()..];
        let Some(end) = after.find(&ticks) else { break };
        rest = &after[end + ticks.len()..];
    }
    outside + rest
}

#[test]
fn a_markdown_table_row_has_as_many_cells_as_its_heading() {
    for report in [one_of_each(), hostile()] {
        let page = text(&report, Format::Markdown);
        for row in page.lines().filter(|line| line.starts_with("| ")) {
            assert_eq!(row.replace("\\|", "").matches('|').count(), 6, "{row}");
        }
    }
}

#[test]
fn markdown_stays_below_what_github_takes_and_says_what_it_left_out() {
    let mut many = suite(3000);
    for cell in &mut many.cells {
        *cell =
            CellBuilder::passing(&cell.scenario).at("clicks", &cell.at["clicks"].clone()).failing().build();
    }
    let page = text(&many, Format::Markdown);
    assert!(page.len() < 1 << 20, "{}", page.len());
    assert!(page.contains("left out here for length"), "{}", &page[page.len() - 400..]);
}

#[test]
fn annotations_of_a_run_with_every_verdict() {
    insta::assert_snapshot!(text(&one_of_each(), Format::Annotations));
}

#[test]
fn an_annotation_is_one_line_whatever_it_says() {
    let commands = text(&hostile(), Format::Annotations);
    for line in commands.lines() {
        assert!(line.starts_with("::error file=a%2Cb%3Ac%25/x.toml,line="), "{line}");
    }
    assert_eq!(commands.lines().count(), 2, "one for each broken promise: {commands}");
    assert!(!commands.contains('\u{1b}'));
    assert!(commands.contains("%250A%0Aok 7"), "a percent sign is escaped before the line break: {commands}");
}

#[test]
fn a_scenario_that_is_embedded_has_no_file_to_point_to() {
    let cell = CellBuilder::passing("x").failing().with(|cell| cell.source.file = "embedded:x".into());
    let commands = text(&report(vec![cell.build()]), Format::Annotations);
    assert!(commands.starts_with("::error title=x broke terminal-never-changes::"), "{commands}");
}

#[test]
fn no_more_annotations_than_github_shows_and_the_last_counts_the_rest() {
    let commands = text(&suite(1000), Format::Annotations);
    let errors: Vec<&str> = commands.lines().filter(|line| line.starts_with("::error")).collect();
    assert_eq!(errors.len(), 10);
    assert_eq!(errors[9], "::error title=onejob::and 31 more of this kind; the other reports list them all");
}

#[test]
fn a_green_run_has_no_annotation() {
    assert!(text(&all_green(), Format::Annotations).is_empty());
}

#[test]
fn tap_of_a_run_with_every_verdict() {
    insta::assert_snapshot!(text(&one_of_each(), Format::Tap));
}

/// The test points of a TAP stream: number, ok, description with directive. What isn't TAP 14 panics.
fn points(stream: &str) -> (usize, Vec<(bool, String)>) {
    let mut lines = stream.lines();
    assert_eq!(lines.next(), Some("TAP version 14"));
    let plan = lines.next().unwrap().strip_prefix("1..").unwrap();
    let planned: usize = plan.split(' ').next().unwrap().parse().unwrap();
    let (mut points, mut in_yaml) = (Vec::new(), false);
    for line in lines {
        match line {
            "  ---" => {
                assert!(!in_yaml && !points.is_empty());
                in_yaml = true;
            }
            "  ..." => {
                assert!(in_yaml);
                in_yaml = false;
            }
            _ if in_yaml => {
                assert!(line.starts_with("  ") && line.contains(": ") || line.ends_with(':'), "{line}");
            }
            _ if line.starts_with("Bail out!") => {}
            _ => {
                let (ok, rest) = match line.strip_prefix("not ok ") {
                    Some(rest) => (false, rest),
                    None => (true, line.strip_prefix("ok ").unwrap_or_else(|| panic!("no TAP: {line}"))),
                };
                let (number, description) = rest.split_once(" - ").unwrap();
                assert_eq!(number.parse::<usize>().unwrap(), points.len() + 1);
                points.push((ok, description.to_owned()));
            }
        }
    }
    assert!(!in_yaml);
    (planned, points)
}

#[test]
fn tap_is_ok_for_what_passed_or_was_skipped_and_for_nothing_else() {
    let (planned, points) = points(&text(&one_of_each(), Format::Tap));
    assert_eq!(planned, 7);
    let ok: Vec<bool> = points.iter().map(|(ok, _)| *ok).collect();
    assert_eq!(ok, [true, true, false, true, false, false, true]);
    assert!(points[6].1.contains(" # SKIP not verified: the target has no `replicas`"));
}

#[test]
fn a_name_cannot_forge_a_directive_or_a_test_point() {
    let cell = CellBuilder::passing("x # SKIP\nok 2 - forged").failing();
    let (_, points) = points(&text(&report(vec![cell.build()]), Format::Tap));
    assert_eq!(points.len(), 1);
    assert!(!points[0].0 && points[0].1.contains("\\# SKIP"), "{points:?}");
    let (planned, points) = self::points(&text(&hostile(), Format::Tap));
    assert_eq!((planned, points.len()), (1, 1));
}

#[test]
fn an_interrupted_run_plans_more_than_it_has_and_bails_out() {
    let stream = text(&interrupted(), Format::Tap);
    let (planned, points) = points(&stream);
    assert_eq!((planned, points.len()), (5, 2));
    assert!(stream.lines().last().unwrap().starts_with("Bail out! The run was interrupted"), "{stream}");
}

#[test]
fn a_run_without_cells_is_a_skipped_plan() {
    assert_eq!(text(&report(vec![]), Format::Tap), "TAP version 14\n1..0 # SKIP nothing was selected\n");
}
