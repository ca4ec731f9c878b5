//! From an answer to the harness's words.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Misfit, Operation, States, pointer::Locator, pointer::nearest_pointer};
use crate::history::Answer;

/// How much of a body is kept.
const KEPT: usize = 4096;

/// Reads an answer as the target file says.
///
/// An answer that is not a success may lack anything: what is found is read. A success has to be what the file says:
/// JSON where a pointer is to be followed, with the job and the state where they are said to be.
pub fn read_answer(
    operation: &Operation,
    words: &States,
    status: u16,
    headers: &[(String, String)],
    body: &[u8],
) -> Result<Answer, Misfit> {
    let text = String::from_utf8_lossy(body);
    let by_name = lower(headers);
    let parsed: Option<Value> = serde_json::from_slice(body).ok();
    let status = told_status(operation, parsed.as_ref()).unwrap_or(status);
    let success = (200..300).contains(&status);
    let follows =
        operation.reads.values().any(|place| matches!(Locator::parse(place), Ok(Locator::Pointer(_))));
    if success && follows && parsed.is_none() {
        return Err(not_json(operation, status, &by_name, &text));
    }
    let mut answer = Answer {
        status,
        refused: refused(operation, status),
        body: cut(&text),
        headers: by_name,
        ..Answer::default()
    };
    for (field, place) in &operation.reads {
        let found = find(place, status, &answer.headers, parsed.as_ref());
        let Some(value) = found else {
            // Where a job or its state is missing, every law would judge by nothing.
            if let (true, "job" | "state", Some(json)) = (success, field.as_str(), &parsed)
                && !ends_at_a_list(place, json)
            {
                return Err(Misfit::Pointer {
                    request: operation.request.clone(),
                    field: field.clone(),
                    place: place.clone(),
                    status,
                    nearest: nearest_pointer(place, json),
                    excerpt: excerpt(&text),
                });
            }
            continue;
        };
        put(&mut answer, field, value, words);
    }
    Ok(answer)
}

/// An answer of which nothing was read but what every answer has.
#[must_use]
pub fn unread_answer(status: u16, headers: &[(String, String)], body: &[u8]) -> Answer {
    let body = cut(&String::from_utf8_lossy(body));
    Answer { status, headers: lower(headers), body, ..Answer::default() }
}

/// The status that the body tells, where the file says that it does: a batch tells one for each of its jobs.
fn told_status(operation: &Operation, parsed: Option<&Value>) -> Option<u16> {
    let Ok(Locator::Pointer(pointer)) = Locator::parse(operation.reads.get("status")?) else { return None };
    let told = parsed?.pointer(&pointer)?.as_u64()?;
    u16::try_from(told).ok()
}

/// The state in the harness's words, or nothing where the file doesn't know the target's.
#[must_use]
pub fn state_of(words: &States, word: &str) -> Option<&'static str> {
    words
        .by_meaning()
        .into_iter()
        .find(|(_, own)| own.iter().any(|known| known == word))
        .map(|(state, _)| state)
}

/// Whether the target's file knows the state that an answer tells. To be asked once, at the baseline: in a race an
/// unknown word is for the laws to judge.
pub fn known_state(operation: &Operation, words: &States, answer: &Answer) -> Result<(), Misfit> {
    let known = |word: &str| words.by_meaning().iter().any(|(state, own)| *state == word && !own.is_empty());
    match &answer.state {
        Some(word) if !known(word) => {
            Err(Misfit::State { request: operation.request.clone(), word: word.clone() })
        }
        _ => Ok(()),
    }
}

fn refused(operation: &Operation, status: u16) -> bool {
    if operation.refused.is_empty() {
        (400..500).contains(&status)
    } else {
        operation.refused.contains(&status)
    }
}

fn find(
    place: &str,
    status: u16,
    headers: &BTreeMap<String, String>,
    body: Option<&Value>,
) -> Option<String> {
    match Locator::parse(place).ok()? {
        Locator::Status => Some(status.to_string()),
        Locator::Header(name) => headers.get(&name).cloned(),
        Locator::Pointer(pointer) => as_text(body?.pointer(&pointer)?),
    }
}

/// Whether the pointer asks for an entry that a list doesn't have: a search that found nothing is no mistake in the file.
fn ends_at_a_list(place: &str, json: &Value) -> bool {
    let mut there = json;
    for (end, _) in place.match_indices('/').skip(1).chain([(place.len(), "")]) {
        match json.pointer(&place[..end]) {
            Some(next) => there = next,
            None => return there.is_array(),
        }
    }
    false
}

/// A field's text: a string as it is, null as nothing, anything else as JSON.
pub(super) fn as_text(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

fn put(answer: &mut Answer, field: &str, value: String, words: &States) {
    match field {
        "job" => answer.job = Some(value),
        "state" => answer.state = Some(state_of(words, &value).map_or(value, str::to_owned)),
        "result" => answer.result = Some(value),
        "version" => answer.version = Some(value),
        "winner" => answer.winner = Some(value),
        "replayed" => answer.replayed = !["false", "0", ""].contains(&value.to_ascii_lowercase().as_str()),
        other => {
            answer.fields.insert(other.to_owned(), value);
        }
    }
}

fn lower(headers: &[(String, String)]) -> BTreeMap<String, String> {
    let mut by_name = BTreeMap::<String, String>::new();
    for (name, value) in headers {
        by_name
            .entry(name.to_ascii_lowercase())
            .and_modify(|known| {
                known.push_str(", ");
                known.push_str(value);
            })
            .or_insert_with(|| value.clone());
    }
    by_name
}

fn not_json(operation: &Operation, status: u16, headers: &BTreeMap<String, String>, text: &str) -> Misfit {
    let request = operation.request.clone();
    let typed = headers.get("content-type").is_some_and(|media| media.to_ascii_lowercase().contains("html"));
    if typed || text.trim_start().starts_with('<') {
        return Misfit::Html { request, status, excerpt: excerpt(text) };
    }
    Misfit::NotJson { request, status, excerpt: excerpt(text) }
}

/// The first words of a body, on one line.
fn excerpt(text: &str) -> String {
    const SHOWN: usize = 160;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.is_empty() {
        return "(an empty body)".to_owned();
    }
    match line.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// The body, cut at a character's end.
fn cut(text: &str) -> String {
    let mut end = text.len().min(KEPT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operation(reads: &[(&str, &str)]) -> Operation {
        Operation {
            request: "GET /jobs/{job}".to_owned(),
            headers: BTreeMap::new(),
            json: None,
            reads: reads.iter().map(|(field, place)| ((*field).to_owned(), (*place).to_owned())).collect(),
            refused: Vec::new(),
        }
    }

    fn usual() -> Operation {
        operation(&[
            ("job", "/id"),
            ("state", "/status"),
            ("result", "/result"),
            ("winner", "/by"),
            ("version", "header:ETag"),
            ("replayed", "header:Idempotent-Replayed"),
            ("problem", "/type"),
        ])
    }

    fn states() -> States {
        States { unknown: vec!["limbo".into()], succeeded: vec!["done".into()], ..States::default() }
    }

    fn read(status: u16, headers: &[(&str, &str)], body: &str) -> Result<Answer, Misfit> {
        let headers: Vec<_> = headers.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        read_answer(&usual(), &states(), status, &headers, body.as_bytes())
    }

    #[test]
    fn fields_are_found_by_pointer_and_header_and_states_take_our_words() {
        let headers = [("ETAG", "\"3\""), ("Idempotent-Replayed", "true")];
        let body = r#"{"id":"j1","status":"done","result":"answer-A","by":2,"type":null}"#;
        let answer = read(200, &headers, body).expect("it fits");
        assert_eq!(answer.job.as_deref(), Some("j1"));
        assert_eq!(answer.state.as_deref(), Some("succeeded"));
        assert_eq!(answer.result.as_deref(), Some("answer-A"));
        assert_eq!(answer.winner.as_deref(), Some("2"));
        assert_eq!(answer.version.as_deref(), Some("\"3\""));
        assert!(answer.replayed && !answer.refused);
        assert_eq!(answer.field("problem"), None);
    }

    #[test]
    fn a_state_that_the_file_does_not_know_stays_the_targets_word() {
        let answer = read(200, &[], r#"{"id":"j1","status":"weird"}"#).expect("it fits");
        assert_eq!(answer.state.as_deref(), Some("weird"));
        let misfit = known_state(&usual(), &states(), &answer).expect_err("an unknown word");
        assert!(matches!(misfit, Misfit::State { word, .. } if word == "weird"));
    }

    #[test]
    fn a_refusal_may_lack_everything() {
        let answer = read(409, &[], r#"{"type":"/problems/conflict"}"#).expect("refusals always fit");
        assert!(answer.refused);
        assert_eq!(answer.job, None);
        assert_eq!(answer.field("problem").as_deref(), Some("/problems/conflict"));
        assert!(!read(503, &[], "<html>").expect("so do errors").refused);
    }

    #[test]
    fn only_the_named_statuses_are_refusals_where_some_are_named() {
        let operation = Operation { refused: vec![423], ..usual() };
        let refused =
            |status| read_answer(&operation, &states(), status, &[], b"{}").expect("it fits").refused;
        assert!(refused(423) && !refused(409));
    }

    #[test]
    fn a_success_that_is_a_web_page_is_a_misfit() {
        let page = "<!DOCTYPE html>\n<title>Sign in</title>";
        for headers in [&[("Content-Type", "text/html; charset=utf-8")][..], &[]] {
            let misfit = read(200, headers, page).expect_err("a page is no job");
            assert!(
                matches!(&misfit, Misfit::Html { excerpt, .. } if excerpt.contains("Sign in")),
                "{misfit:?}"
            );
        }
        assert!(matches!(read(201, &[], "OK"), Err(Misfit::NotJson { .. })));
        assert!(matches!(read(204, &[], ""), Err(Misfit::NotJson { .. })));
    }

    #[test]
    fn a_success_without_the_job_is_a_misfit_that_names_where_it_may_be() {
        let misfit = read(201, &[], r#"{"data":{"id":"j1"},"status":"done"}"#).expect_err("no job");
        let Misfit::Pointer { field, nearest, .. } = misfit else { panic!("{misfit:?}") };
        assert_eq!((field.as_str(), nearest.as_deref()), ("job", Some("/data/id")));
    }

    #[test]
    fn a_search_that_found_nothing_is_no_misfit() {
        let operation = operation(&[("job", "/jobs/0/id"), ("state", "/jobs/0/state")]);
        let read = |body: &[u8]| read_answer(&operation, &states(), 200, &[], body);
        assert_eq!(read(br#"{"jobs":[]}"#).expect("it fits").job, None);
        let found = read(br#"{"jobs":[{"id":"j","state":"done"}]}"#).expect("it fits");
        assert_eq!((found.job.as_deref(), found.state.as_deref()), (Some("j"), Some("succeeded")));
        assert!(matches!(read(br#"{"jobs":[{"key":"k"}]}"#), Err(Misfit::Pointer { .. })));
        assert!(matches!(read(br#"{"items":[]}"#), Err(Misfit::Pointer { .. })));
    }

    #[test]
    fn a_missing_result_is_no_misfit() {
        let answer = read(200, &[], r#"{"id":"j1","status":"limbo"}"#).expect("it fits");
        assert_eq!((answer.result, answer.state.as_deref()), (None, Some("unknown")));
    }

    #[test]
    fn no_pointer_means_that_any_body_will_do() {
        let operation = operation(&[("job", "header:location")]);
        let headers = [("Location".to_owned(), "/jobs/7".to_owned())];
        let answer = read_answer(&operation, &states(), 202, &headers, b"<ok/>").expect("it fits");
        assert_eq!(answer.job.as_deref(), Some("/jobs/7"));
    }

    #[test]
    fn a_long_body_is_cut_between_characters() {
        let body = format!("{{\"id\":\"j\",\"status\":\"done\",\"x\":\"{}\"}}", "é".repeat(4000));
        let answer = read(200, &[], &body).expect("it fits");
        assert!(answer.body.len() <= 4096 && answer.body.len() > 4090);
    }
}
