use std::{collections::BTreeMap, fmt::Write as _};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::{
    headline::{broken, headline, sentence_of},
    model::{Cell, Moment, Promise, Verdict},
    text::{lane_word, mark_word},
    timeline::{evidence, in_order},
};

/// One result for each broken promise of the cell.
pub(super) fn results(cell: &Cell, rules: &BTreeMap<&str, usize>) -> Vec<Value> {
    if cell.verdict != Verdict::Fail {
        return Vec::new();
    }
    broken(cell).map(|promise| result(cell, promise, rules)).collect()
}

fn result(cell: &Cell, promise: &Promise, rules: &BTreeMap<&str, usize>) -> Value {
    let line = promise.line.unwrap_or(cell.source.line);
    let text = format!("{} ({}). Again: {}", sentence_of(promise), cell.name(), cell.replay);
    let mut result = json!({
        "ruleId": promise.name,
        "kind": "fail",
        "level": "error",
        "message": { "text": text },
        "locations": [location(&cell.source.file, line)],
        "partialFingerprints": { "cellAndPromise/v1": fingerprint(cell, promise) },
        "properties": {
            "cell": cell.name(),
            "gate": cell.gate,
            "rounds": cell.rounds,
            "brokenRounds": promise.broken_rounds,
            "replay": cell.replay,
            "flaky": cell.flaky,
        },
    });
    if let Some(index) = rules.get(promise.name.as_str()) {
        result["ruleIndex"] = (*index).into();
    }
    let moments = in_order(cell);
    if !moments.is_empty() {
        let shown = evidence(cell);
        let steps: Vec<Value> = moments
            .iter()
            .zip(1..)
            .map(|(moment, order)| step(cell, moment, order, shown.contains(&moment.id)))
            .collect();
        result["codeFlows"] = json!([{ "threadFlows": [{ "locations": steps }] }]);
    }
    result
}

/// What is not about the target: an error, or a situation that was not produced.
pub(super) fn notification(cell: &Cell) -> Option<Value> {
    let (level, id) = match cell.verdict {
        Verdict::Error => ("error", cell.error.as_ref().map_or("error", |error| error.code.as_str())),
        Verdict::Inconclusive => ("warning", "inconclusive"),
        Verdict::Skipped => ("note", "not-verified"),
        Verdict::Pass | Verdict::Fail => return None,
    };
    let text = format!("{}: {}. Again: {}", cell.name(), headline(cell), cell.replay);
    Some(json!({
        "level": level,
        "descriptor": { "id": id },
        "message": { "text": text },
        "locations": [location(&cell.source.file, cell.source.line)],
    }))
}

fn step(cell: &Cell, moment: &Moment, order: u64, evidence: bool) -> Value {
    let word = mark_word(moment.mark).map(|word| format!(" [{word}]")).unwrap_or_default();
    let text = format!("{} {}: {}{word}", lane_word(moment.lane), moment.who, moment.what);
    let mut place = location(&cell.source.file, cell.source.line);
    place["message"] = json!({ "text": text });
    json!({
        "executionOrder": order,
        "importance": if evidence { "essential" } else { "important" },
        "location": place,
        "properties": { "atMicroseconds": moment.at_us, "lane": moment.lane },
    })
}

fn location(file: &str, line: u32) -> Value {
    json!({
        "physicalLocation": {
            "artifactLocation": { "uri": uri(file) },
            "region": { "startLine": line.max(1) },
        },
    })
}

/// A path as a relative URI reference. `embedded:NAME` already is a URI.
fn uri(file: &str) -> String {
    let mut uri = String::with_capacity(file.len());
    for byte in file.replace('\\', "/").bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' | b':' => {
                uri.push(char::from(byte));
            }
            // A String takes whatever is written to it.
            _ => _ = write!(uri, "%{byte:02X}"),
        }
    }
    uri
}

/// The same for the same promise in the same cell of any run, so that an alert is one alert however often it is found.
fn fingerprint(cell: &Cell, promise: &Promise) -> String {
    let digest = Sha256::digest(format!("{}\n{}", cell.name(), promise.name));
    digest.iter().take(16).fold(String::new(), |mut hex, byte| {
        _ = write!(hex, "{byte:02x}");
        hex
    })
}
