use std::collections::BTreeMap;

use onejob_reports::{junit, model::RunReport};
use quick_xml::{Reader, events::Event};

use crate::fixtures::{CellBuilder, all_green, interrupted, one_of_each, report, suite};

pub(crate) fn xml(report: &RunReport) -> String {
    let mut out = Vec::new();
    junit::render(report, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[derive(Debug, Default)]
struct Element {
    name: String,
    attributes: BTreeMap<String, String>,
    text: String,
    children: Vec<Element>,
}

impl Element {
    fn all(&self, name: &str) -> Vec<&Element> {
        let mut found: Vec<&Element> = self.children.iter().filter(|child| child.name == name).collect();
        found.extend(self.children.iter().flat_map(|child| child.all(name)));
        found
    }

    fn attribute(&self, name: &str) -> &str {
        self.attributes.get(name).unwrap_or_else(|| panic!("<{}> has no {name}", self.name))
    }
}

/// The document as a tree; what isn't well-formed panics.
fn parse(xml: &str) -> Element {
    let mut reader = Reader::from_str(xml);
    reader.config_mut().check_end_names = true;
    let mut stack = vec![Element::default()];
    let open = |tag: &quick_xml::events::BytesStart<'_>| Element {
        name: String::from_utf8(tag.name().as_ref().to_vec()).unwrap(),
        attributes: tag
            .attributes()
            .map(|attribute| {
                let attribute = attribute.unwrap();
                let value = std::str::from_utf8(&attribute.value).unwrap();
                (
                    String::from_utf8(attribute.key.as_ref().to_vec()).unwrap(),
                    quick_xml::escape::unescape(value).unwrap().into_owned(),
                )
            })
            .collect(),
        ..Element::default()
    };
    loop {
        match reader.read_event().unwrap() {
            Event::Start(tag) => stack.push(open(&tag)),
            Event::Empty(tag) => stack.last_mut().unwrap().children.push(open(&tag)),
            Event::End(_) => {
                let done = stack.pop().unwrap();
                stack.last_mut().unwrap().children.push(done);
            }
            Event::Text(text) => stack.last_mut().unwrap().text.push_str(&text.decode().unwrap()),
            Event::GeneralRef(name) => {
                let entity = format!("&{};", name.decode().unwrap());
                stack.last_mut().unwrap().text.push_str(&quick_xml::escape::unescape(&entity).unwrap());
            }
            Event::CData(text) => {
                stack.last_mut().unwrap().text.push_str(std::str::from_utf8(&text.into_inner()).unwrap());
            }
            Event::Eof => break,
            _ => {}
        }
    }
    let mut root = stack.pop().unwrap();
    assert!(stack.is_empty() && root.children.len() == 1, "one root, everything closed");
    root.children.pop().unwrap()
}

fn case<'a>(root: &'a Element, classname: &str) -> &'a Element {
    root.all("testcase").into_iter().find(|case| case.attribute("classname") == classname).unwrap()
}

#[test]
fn a_run_with_every_verdict_is_this_document() {
    insta::assert_snapshot!(xml(&one_of_each()));
}

#[test]
fn counts_are_those_of_the_cases_at_every_level() {
    for report in [one_of_each(), all_green(), interrupted(), suite(120)] {
        let root = parse(&xml(&report));
        let count = |element: &Element, name: &str| element.all(name).len().to_string();
        for element in std::iter::once(&root).chain(root.all("testsuite")) {
            assert_eq!(element.attribute("tests"), count(element, "testcase"));
            assert_eq!(element.attribute("failures"), count(element, "failure"));
            assert_eq!(element.attribute("errors"), count(element, "error"));
        }
        for suite in root.all("testsuite") {
            assert_eq!(suite.attribute("skipped"), count(suite, "skipped"));
        }
    }
}

#[test]
fn a_broken_promise_is_a_failure_and_nothing_else_is() {
    let root = parse(&xml(&one_of_each()));
    let failures = root.all("failure");
    assert_eq!(failures.len(), 1);
    assert_eq!(failures[0].attribute("type"), "terminal-never-changes");
    assert!(failures[0].text.contains("scenarios/reverse-finish.toml:17"), "{}", failures[0].text);
    assert!(failures[0].text.contains("onejob run reverse-finish"), "{}", failures[0].text);
}

#[test]
fn a_missing_witness_is_an_error_and_never_green() {
    let root = parse(&xml(&one_of_each()));
    let error = &case(&root, "unknown-blocks").all("error")[0];
    assert_eq!(error.attribute("type"), "inconclusive");
    assert!(error.attribute("message").contains("`overlap` was not seen"));
}

#[test]
fn a_skipped_cell_says_why() {
    let root = parse(&xml(&one_of_each()));
    let skipped = &case(&root, "replica-joins").all("skipped")[0];
    assert_eq!(skipped.attribute("message"), "the target has no `replicas`");
}

#[test]
fn a_cell_that_passed_on_a_repeat_tells_of_the_failed_one() {
    let root = parse(&xml(&one_of_each()));
    let flaky = case(&root, "key-reuse");
    assert_eq!(flaky.all("flakyFailure").len(), 1);
    assert!(flaky.all("failure").is_empty());
}

#[test]
fn a_cell_that_failed_three_times_of_four_counts_once_and_tells_of_two_more() {
    use onejob_reports::model::Verdict::{Fail, Pass};
    let cell = CellBuilder::passing("x").failing().with(|cell| {
        cell.flaky = true;
        cell.repeats = vec![Fail, Pass, Fail, Fail];
    });
    let root = parse(&xml(&report(vec![cell.build()])));
    assert_eq!(root.attribute("failures"), "1");
    assert_eq!(root.all("rerunFailure").len(), 2);
}

#[test]
fn what_is_known_of_a_cell_stands_among_the_properties_of_its_suite() {
    let root = parse(&xml(&one_of_each()));
    let properties = root.all("property");
    let value = |name: &str| {
        let found = properties.iter().find(|property| property.attribute("name") == name);
        found.unwrap_or_else(|| panic!("no property {name}")).attribute("value")
    };
    assert_eq!(value("clicks=8: gate"), "lock");
    assert_eq!(value("order=late-first: promise.terminal-never-changes"), "broke");
    assert_eq!(value("order=late-first: verdict"), "fail");
}

#[test]
fn the_timeline_stands_in_system_out() {
    let root = parse(&xml(&one_of_each()));
    let out = &case(&root, "reverse-finish").all("system-out")[0].text;
    let won = out.find("WON").unwrap();
    let discarded = out.find("DISCARDED").unwrap();
    assert!(won < discarded, "{out}");
    assert!(out.contains("curl -X POST"), "{out}");
}

#[test]
fn a_run_that_was_interrupted_is_not_green() {
    let root = parse(&xml(&interrupted()));
    assert_eq!(root.attribute("errors"), "1");
    assert!(root.all("error")[0].attribute("message").contains("3 of 5 cells planned did not run"));
}

#[test]
fn characters_that_xml_forbids_do_not_reach_the_document() {
    let cell = CellBuilder::passing("x").failing().with(|cell| {
        cell.promises[0].sentence = "a\u{0}b\u{1b}[31mc<&>\"'\u{ffff}]]>".into();
        cell.timeline[0].what = "\u{8} <script>".into();
        cell.curl = vec!["curl -d '\u{b}&amp;'".into()];
    });
    let xml = xml(&report(vec![cell.build()]));
    assert!(!xml.contains(['\u{0}', '\u{8}', '\u{b}', '\u{1b}', '\u{ffff}']));
    let root = parse(&xml);
    assert!(root.all("failure")[0].attribute("message").contains("c<&>\"'"));
    assert!(root.all("system-out")[0].text.contains("<script>"));
}
