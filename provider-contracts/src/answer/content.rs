//! From text to JSON: strictly, and as a lenient consumer would.

use serde_json::Value;

use crate::contract::Extract;
use crate::strict::{Scan, TroubleKind, scan};
use crate::verdict::{Note, Verdict};

/// What was read from a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Content {
    /// The verdict on the text as the consumer reads it.
    pub verdict: Verdict,
    /// Why, when it is no pass.
    pub message: String,
    /// The value, if the consumer gets one.
    pub value: Option<Value>,
    /// The value that a fence-stripping consumer would get where this one gets none.
    pub recovered: Option<Value>,
    /// What is worth knowing.
    pub notes: Vec<Note>,
}

/// Reads `text` the way the consumer does.
#[must_use]
pub fn read_content(text: &str, extract: Extract) -> Content {
    if text.trim().is_empty() {
        return failed(Verdict::fail("empty_content"), "there is no text");
    }
    let inside = whole_fence(text);
    let subject = match (extract, inside) {
        (Extract::Fence, Some(inside)) => inside,
        _ => text,
    };
    match scan(subject) {
        Ok(read) => passed(read),
        Err(trouble) => {
            let verdict = classify(text, trouble.kind, inside.is_some());
            let place = format!("at byte {}: {}", trouble.offset, trouble.detail);
            let recovered = inside.and_then(|inside| scan(inside).ok()).map(|read| read.value);
            Content { recovered, ..failed(verdict, &place) }
        }
    }
}

fn passed(read: Scan) -> Content {
    let notes = read
        .big_integers
        .iter()
        .map(|place| {
            Note::new("int_over_2^53", format!("the integer at {place} is beyond 2^53: JavaScript rounds it"))
        })
        .collect();
    Content {
        verdict: Verdict::Pass,
        message: String::new(),
        value: Some(read.value),
        recovered: None,
        notes,
    }
}

fn failed(verdict: Verdict, message: &str) -> Content {
    Content { verdict, message: message.to_owned(), value: None, recovered: None, notes: Vec::new() }
}

fn classify(text: &str, kind: TroubleKind, fenced: bool) -> Verdict {
    if fenced {
        return Verdict::fail("fenced");
    }
    let starts_like_json = text.trim_start().starts_with(['{', '[', '"']);
    if starts_like_json {
        if kind != TroubleKind::TrailingData && repeats_its_beginning(text) {
            return Verdict::fail("duplicated_prefix");
        }
        if kind == TroubleKind::TrailingData && !rest_is_json(text) {
            return Verdict::fail("prose_around");
        }
        return Verdict::Fail(kind.code());
    }
    if has_json_inside(text) { Verdict::fail("prose_around") } else { Verdict::fail("not_json") }
}

/// The inside of a text that is one Markdown fence and nothing else.
fn whole_fence(text: &str) -> Option<&str> {
    let rest = text.trim().strip_prefix("```")?;
    let (language, inside) = rest.split_once('\n')?;
    let language = language.trim();
    if !(language.is_empty() || language.eq_ignore_ascii_case("json")) {
        return None;
    }
    let inside = inside.strip_suffix("```")?;
    (!inside.contains("```")).then_some(inside)
}

fn has_json_inside(text: &str) -> bool {
    text.match_indices('{').take(64).any(|(at, _)| {
        matches!(scan(&text[at..]), Ok(Scan { value: Value::Object(_), .. }))
            || matches!(scan(&text[at..]), Err(trouble) if trouble.kind == TroubleKind::TrailingData)
    })
}

/// Whether what follows the first value looks like more JSON, and not like talk.
fn rest_is_json(text: &str) -> bool {
    match scan(text) {
        Err(trouble) if trouble.kind == TroubleKind::TrailingData => {
            text[trouble.offset..].trim_start().starts_with(['{', '[', ',', '}', ']'])
        }
        _ => false,
    }
}

/// Whether the text breaks off and starts again, as after a fallback that took over in mid-stream.
fn repeats_its_beginning(text: &str) -> bool {
    const LEAST: usize = 8;
    let text = text.trim_start();
    let Some(head) = text.get(..LEAST) else { return false };
    text.match_indices(head).skip(1).any(|(at, _)| {
        let (first, second) = (&text[..at], &text[at..]);
        let shared = first.bytes().zip(second.bytes()).take_while(|(a, b)| a == b).count();
        // The first piece is a beginning of the second, but for a last character that was cut in mid-word.
        shared + 1 >= first.len()
    })
}

/// Whether reasoning holds the JSON that the content lacks.
pub(super) fn json_in(reasoning: Option<&str>) -> bool {
    reasoning.is_some_and(has_json_inside)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(text: &str) -> String {
        read_content(text, Extract::Raw).verdict.to_string()
    }

    #[test]
    fn what_surrounds_the_json_is_told_apart() {
        assert_eq!(verdict("The vendor is ACME."), "FAIL(not_json)");
        assert_eq!(verdict("Here you go: {\"a\":1} Enjoy!"), "FAIL(prose_around)");
        assert_eq!(verdict("{\"a\":1} Enjoy!"), "FAIL(prose_around)");
        assert_eq!(verdict("```json\n{\"a\":1}\n```"), "FAIL(fenced)");
        assert_eq!(verdict("Run:\n```bash\nls\n```\n```json\n{\"a\":1}\n```"), "FAIL(prose_around)");
        assert_eq!(verdict("{\"a\":1}{\"a\":2}"), "FAIL(trailing_data)");
        assert_eq!(verdict("  "), "FAIL(empty_content)");
    }

    #[test]
    fn a_fence_is_taken_only_when_it_is_everything() {
        let fenced = read_content("```json\n{\"a\":1}\n```", Extract::Fence);
        assert!(fenced.verdict.is_pass());
        let two = read_content("```bash\nls\n```\n```json\n{\"a\":1}\n```", Extract::Fence);
        assert!(!two.verdict.is_pass() && two.recovered.is_none());
    }

    #[test]
    fn raw_and_recovered_are_kept_apart() {
        let content = read_content("```\n{\"a\":1}\n```", Extract::Raw);
        assert_eq!(content.value, None);
        assert_eq!(content.recovered, Some(serde_json::json!({"a": 1})));
    }

    #[test]
    fn a_restarted_stream_is_told_from_two_objects() {
        assert_eq!(verdict(r#"{"vendor":"AC{"vendor":"ACME","n":1}"#), "FAIL(duplicated_prefix)");
        assert_eq!(verdict(r#"{"vendor":"ACME"}{"vendor":"ACME"}"#), "FAIL(trailing_data)");
    }

    #[test]
    fn big_integers_are_noted() {
        let content = read_content("{\"n\":9007199254740993}", Extract::Raw);
        assert!(content.verdict.is_pass());
        assert_eq!(content.notes[0].code.as_str(), "int_over_2^53");
    }
}
