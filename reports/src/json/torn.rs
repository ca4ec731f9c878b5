//! What can still be read of a document that breaks off: the disk was full, or the writer was killed.

use serde_json::{Map, Value};

use super::ReadError;
use crate::model::{RunReport, Sweeps};

/// What stands for a text of the report that was lost with the rest.
const LOST: &str = "unknown";

/// The report as far as it was written: fields that are whole, and cells that are. The rest is told to be missing.
///
/// None where too little was written to say that it is a report.
pub(super) fn report(text: &str) -> Result<Option<RunReport>, ReadError> {
    let Some(whole) = members(text) else { return Ok(None) };
    if !whole.contains_key("schema_version") {
        return Ok(None);
    }
    let cells = whole.get("cells").and_then(Value::as_array).map_or(0, Vec::len);
    let knows_plan = whole.contains_key("planned");
    let mut report = blank();
    report.extend(whole);
    let mut report: RunReport = serde_json::from_value(Value::Object(report))?;
    report.interrupted = true;
    if !knows_plan {
        report.planned = report.cells.len();
    }
    report.sweeps = Sweeps::of(&report.cells);
    let lost = if knows_plan { "" } else { "; how many cells were planned is not known" };
    report.incomplete = Some(match report.cells.last() {
        Some(cell) => format!(
            "The report breaks off in line {}, after cell {cells}, {}{lost}.",
            text.lines().count(),
            cell.name()
        ),
        None => {
            format!("The report breaks off in line {}, before its first cell{lost}.", text.lines().count())
        }
    });
    Ok(Some(report))
}

/// The same of a head line: its members are the report's, but for its kind and the names of the planned cells.
pub(super) fn head(line: &str) -> Result<Option<RunReport>, ReadError> {
    let Some(mut whole) = members(line) else { return Ok(None) };
    let of_run = whole.remove("kind").is_some_and(|kind| kind == "run");
    whole.remove("cells");
    if !of_run {
        return Ok(None);
    }
    // Closed, it is a document that breaks off before its first cell.
    let mut torn = serde_json::to_string(&whole)?;
    torn.truncate(torn.len() - 1);
    torn.push(',');
    report(&torn)
}

/// A report of which nothing is known.
fn blank() -> Map<String, Value> {
    let value = serde_json::json!({
        "tool_version": LOST, "run_id": LOST, "started_at": LOST, "duration_us": 0, "target": LOST,
        "profile": { "name": LOST, "widens": [] }, "defects": [], "database": null, "seed": 0, "interrupted": true,
        "shard": null, "planned": 0, "not_run": [], "cells": [],
    });
    match value {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

/// The members of an object that breaks off, as far as they are whole: of the last one, where it is a list, the elements.
pub(super) fn members(text: &str) -> Option<Map<String, Value>> {
    let cut = Cut::of(text)?;
    let mut whole = text[..cut.at].to_owned();
    whole.push_str(cut.closers);
    match serde_json::from_str(&whole).ok()? {
        Value::Object(members) => Some(members),
        _ => None,
    }
}

/// Where a document can be cut so that what stands before is whole, and what closes it then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Cut {
    at: usize,
    closers: &'static str,
}

impl Cut {
    /// The last such place: after a member of the object, or after an element of a list that is a member.
    fn of(text: &str) -> Option<Self> {
        let mut open: Vec<u8> = Vec::new();
        let (mut in_string, mut escaped) = (false, false);
        let mut cut = None;
        for (at, byte) in text.bytes().enumerate() {
            if in_string {
                match byte {
                    _ if escaped => escaped = false,
                    b'\\' => escaped = true,
                    b'"' => in_string = false,
                    _ => {}
                }
                continue;
            }
            match byte {
                b'"' => in_string = true,
                b'{' | b'[' => {
                    open.push(byte);
                    // An empty object, or the empty begin of a list, is whole as well.
                    cut = Self::within(&open, at + 1).or(cut);
                }
                b'}' | b']' => {
                    open.pop();
                    cut = Self::within(&open, at + 1).or(cut);
                }
                // A number or a word is whole only once something follows it.
                b',' => cut = Self::within(&open, at).or(cut),
                _ => {}
            }
        }
        cut
    }

    fn within(open: &[u8], at: usize) -> Option<Self> {
        match open {
            [b'{'] => Some(Self { at, closers: "}" }),
            [b'{', b'['] => Some(Self { at, closers: "]}" }),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::members;

    #[test]
    fn what_is_whole_is_read_and_what_is_cut_is_not() {
        let cases = [
            ("{", "{}"),
            ("{\"a\"", "{}"),
            ("{\"a\": 12", "{}"),
            ("{\"a\": 12,", "{\"a\":12}"),
            ("{\"a\": 12, \"b\": \"x", "{\"a\":12}"),
            ("{\"a\": \"x\\\"},\"", "{}"),
            ("{\"a\": \"[,{\", \"b\": [1, 2", "{\"a\":\"[,{\",\"b\":[1]}"),
            ("{\"a\": {\"b\": [1, 2], \"c\": 3", "{}"),
            ("{\"a\": [", "{\"a\":[]}"),
            ("{\"a\": [{\"b\": 1}, {\"b\"", "{\"a\":[{\"b\":1}]}"),
            ("{\"a\": [{\"b\": 1}], \"c\": {\"d\": [", "{\"a\":[{\"b\":1}]}"),
        ];
        for (torn, whole) in cases {
            let members = members(torn).unwrap_or_else(|| panic!("{torn}"));
            assert_eq!(serde_json::to_string(&members).unwrap(), whole, "{torn}");
        }
        for nothing in ["", "[", "12", "\"{"] {
            assert_eq!(members(nothing), None, "{nothing}");
        }
    }
}
