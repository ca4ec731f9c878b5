//! Bytes into events.

use serde_json::Value;

use crate::dialect::Framing;

/// One event.
#[derive(Clone, Debug, PartialEq)]
pub enum Frame {
    /// A JSON document.
    Json(Value),
    /// Data that is no JSON, such as `[DONE]`.
    Text(String),
    /// Damaged: why.
    Damaged(String),
}

/// Splits a stream's bytes into events. An event that the end of the bytes cut off is left out: that is how a broken
/// stream looks, and the missing end marker tells.
#[must_use]
pub fn frames(framing: Framing, bytes: &[u8]) -> Vec<Frame> {
    match framing {
        Framing::Sse => sse(bytes),
        Framing::Ndjson => ndjson(bytes),
        Framing::AwsEventStream => event_stream(bytes),
    }
}

fn document(text: &str) -> Frame {
    serde_json::from_str(text).map_or_else(|_| Frame::Text(text.to_owned()), Frame::Json)
}

/// Server-sent events: an empty line ends an event; comments and other fields than `data` say nothing here.
fn sse(bytes: &[u8]) -> Vec<Frame> {
    let text = String::from_utf8_lossy(bytes);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text).replace("\r\n", "\n").replace('\r', "\n");
    let mut events = Vec::new();
    let mut data: Vec<&str> = Vec::new();
    for line in text.split('\n') {
        if line.is_empty() {
            if !data.is_empty() {
                events.push(document(&data.join("\n")));
                data.clear();
            }
        } else if let Some(rest) = line.strip_prefix("data:") {
            data.push(rest.strip_prefix(' ').unwrap_or(rest));
        }
    }
    // Some servers close right after their last line; what they sent is whole if it is JSON or the known last word.
    if !data.is_empty() && text.ends_with('\n') {
        events.push(document(&data.join("\n")));
    } else if data == ["[DONE]"] {
        events.push(Frame::Text("[DONE]".to_owned()));
    }
    events
}

fn ndjson(bytes: &[u8]) -> Vec<Frame> {
    let text = String::from_utf8_lossy(bytes);
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines
        .map(|line| match serde_json::from_str(line) {
            Ok(value) => Frame::Json(value),
            Err(error) => Frame::Damaged(format!("a line is no JSON: {error}")),
        })
        .collect()
}

#[cfg(feature = "bedrock")]
fn event_stream(bytes: &[u8]) -> Vec<Frame> {
    super::aws::frames(bytes)
}

#[cfg(not(feature = "bedrock"))]
fn event_stream(_bytes: &[u8]) -> Vec<Frame> {
    vec![Frame::Damaged("AWS event streams need the feature `bedrock`".to_owned())]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn comments_and_named_events_and_line_ends_of_all_kinds_are_read() {
        let bytes =
            b": OPENROUTER PROCESSING\n\nevent: x\r\ndata: {\"a\":\r\ndata: 1}\r\n\r\ndata: [DONE]\n\n";
        assert_eq!(frames(Framing::Sse, bytes), [Frame::Json(json!({"a": 1})), Frame::Text("[DONE]".into())]);
    }

    #[test]
    fn an_event_without_its_empty_line_is_no_event() {
        assert_eq!(frames(Framing::Sse, b"data: {\"a\":1}\n\ndata: {\"b\":"), [Frame::Json(json!({"a": 1}))]);
    }

    #[test]
    fn a_cut_line_of_ndjson_is_damage() {
        let read = frames(Framing::Ndjson, b"{\"a\":1}\n{\"b\":");
        assert_eq!(read[0], Frame::Json(json!({"a": 1})));
        assert!(matches!(read[1], Frame::Damaged(_)));
    }
}
